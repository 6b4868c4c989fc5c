// Exponents of one unit's group, e_j = base + j slope for j = 0 .. 15; see modmill_exponents. Four registers
// deep.
//
// Register 1: n_(d+1), and n mod 16^d shifted up by 12 - 4 d bits. Register 2: their product, which is -base,
// the slope and 3 slope. Register 3: the exponents for j = 0 .. 3. Register 4: all 16, j = 4 high + low. So
// no register waits for more than one addition.
module modmill_exponent_lines #(
    parameter integer STAGES = 4
) (
    input  logic                         clk,
    input  logic                         enable,
    input  logic                         inverse,
    input  logic                         crossing,
    input  logic [$clog2(STAGES+1)-1:0]  digit,
    input  logic [        4*STAGES-1:0]  position,
    output logic [               255:0]  exponents
);
  // Digits 0 .. d - 1 of the position, digit d - 1 in the top place; and digit d + 1, which counts in inverse
  // stages below the crossing one.
  logic [11:0] below, below_1;
  logic [3:0] above, above_1;
  always_comb begin
    below = 12'd0;
    above = 4'd0;
    for (int d = 0; d < STAGES; d++) begin
      if (32'(digit) == d) begin
        for (int i = 0; i < STAGES; i++) if (i < d) below[(12-4*(d-i))%12+:4] = position[4*i+:4];
        if (d + 1 < STAGES && inverse) above = position[4*((d+1)%STAGES)+:4];
      end
    end
  end

  function automatic [15:0] times(input [1:0] count, input [15:0] once, input [15:0] thrice);
    case (count)
      2'd0: times = 16'd0;
      2'd1: times = once;
      2'd2: times = once << 1;
      default: times = thrice;
    endcase
  endfunction

  logic inverse_1, crossing_1;
  logic [11:0] product;
  logic [15:0] slope, slope_2, triple_2, slope_3, triple_3;
  logic [63:0] low;
  assign slope = crossing_1 ? 16'd0 : inverse_1 ? {8'd0 - 8'(above_1), 8'd0} : {4'd0, below_1};
  always_ff @(posedge clk) begin
    if (enable) begin
      inverse_1 <= inverse;
      crossing_1 <= crossing;
      below_1 <= below;
      above_1 <= above;

      // If `above` is not 0, d <= 2, so that the lowest four bits of `below` are 0.
      product <= 12'(above_1) * 12'(below_1[11:4]);
      slope_2 <= slope;
      triple_2 <= slope + (slope << 1);

      for (int l = 0; l < 4; l++) low[16*l+:16] <= times(2'(l), slope_2, triple_2) - 16'(product);
      slope_3 <= slope_2;
      triple_3 <= triple_2;

      for (int j = 0; j < 16; j++) exponents[16*j+:16] <= low[16*(j%4)+:16] + (times(2'(j / 4), slope_3, triple_3) << 2);
    end
  end
endmodule
