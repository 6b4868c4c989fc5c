// Exponents of the 16 twiddle factors of both units' groups, two registers deep:
//
//   forward over digit d >= 1:  e_j =  j (n mod 16^d) 16^(3-d)
//   inverse over d <= S-2:      e_j = -n_(d+1) (16^d j + (n mod 16^d)) 16^(2-d)
//   crossing stage:             e_j = 0
//
// modulo 65536. All have the form e_j = base + j slope. In the product stage the factors are not used.
module modmill_exponents #(
    parameter integer STAGES = 4
) (
    input  logic                        clk,
    input  logic                        enable,
    input  logic [$clog2(2*STAGES)-1:0] stage,
    input  logic [    4*(STAGES-1)-1:0] step,
    output logic [                255:0] exponents0,
    output logic [                255:0] exponents1
);
  logic inverse, crossing;
  logic [$clog2(STAGES+1)-1:0] digit;
  logic [4*STAGES-1:0] base0, base1;
  modmill_group #(
      .STAGES(STAGES)
  ) group (
      .bank0(),
      .bank1(),
      .*
  );

  // { base, slope } for the group at `position`.
  function automatic [31:0] line(input [4*STAGES-1:0] position);
    logic [15:0] below;  // n mod 16^d
    logic [3:0] above;  // n_(d+1)
    logic [4:0] shift;  // 4 d
    below = 16'd0;
    above = 4'd0;
    for (integer i = 0; i < STAGES; i = i + 1) begin
      if (i < 32'(digit)) below[4*i+:4] = position[4*i+:4];
      if (i == 32'(digit) + 1) above = position[4*i+:4];
    end
    shift = 5'(32'(digit) << 2);
    if (crossing) line = 32'd0;
    else if (inverse) line = {16'd0 - ((16'(above) * below) << (5'd8 - shift)), 16'd0 - {4'd0, above, 8'd0}};
    else line = {16'd0, below << (5'd12 - shift)};
  endfunction

  logic [31:0] line0, line1;
  always_ff @(posedge clk) begin
    if (enable) begin
      line0 <= line(base0);
      line1 <= line(base1);
      for (int j = 0; j < 16; j++) begin
        exponents0[16*j+:16] <= line0[31:16] + 16'(j) * line0[15:0];
        exponents1[16*j+:16] <= line1[31:16] + 16'(j) * line1[15:0];
      end
    end
  end
endmodule
