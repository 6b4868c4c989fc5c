// Butterflies of 32 points on one radix-16 unit, and eight multipliers: a group each four cycles, 22 cycles
// after its last one.
//
// Let a group's words be in `words` from cycle 4 g + 2 of a stage on (`cycle` counts the stage). The even
// ones enter the unit in cycle 4 g + 2, the odd ones in 4 g + 3. Their transforms E and O are held from 4 g +
// 9 on. In cycles 4 g + 9 + i, i = 0 .. 3, outputs k = 8 i .. 8 i + 7 are combined; in 4 g + 12 + i they and
// their factors are there; in 4 g + 19 + i the products. `results` has all 32 in cycle 4 g + 24.
module modmill_modular_transform #(
    parameter integer EMBEDDED = 0,
    parameter TABLE = "twiddles.hex"
) (
    input  logic          clk,
    input  logic [   7:0] cycle,
    input  logic          down,
    input  logic          inverse,
    input  logic          operand,   // multiply by `other`, or by the transform itself if `square`
    input  logic          square,
    input  logic [2047:0] words,
    input  logic [2047:0] other,     // cycles 4 g + 12 to 4 g + 15: of lane 0 to lane 31
    output logic [2047:0] results    // of lane 0 to lane 31
);
  localparam logic [63:0] P = 64'hFFFF_FFFF_0000_0001;

  logic [1023:0] inputs, transform, even_held, even, odd, negated;
  for (genvar j = 0; j < 16; j++) begin : choice
    assign inputs[64*j+:64] = (cycle[1:0] == 2'd2) ? words[128*j+:64] : words[128*j+64+:64];
  end
  modmill_radix16 radix (
      .clk,
      .enable(1'b1),
      .x(inputs),
      .y(transform)
  );
  always_ff @(posedge clk) begin
    if (cycle[1:0] == 2'd3) even_held <= transform;
    if (cycle[1:0] == 2'd0) begin
      even <= even_held;
      odd  <= transform;
      for (int k = 0; k < 16; k++) negated[64*k+:64] <= P - transform[64*k+:64];
    end
  end

  // The turn i and the group of the outputs whose exponents are needed (4 g + 7 + i), that are combined (4
  // g + 9 + i), that are multiplied (4 g + 12 + i) and that leave (4 g + 19 + i).
  logic [7:0] at_exponent;
  logic [1:0] at_combine, at_multiply, at_leave;
  assign at_exponent = cycle - 8'd7;
  assign at_combine  = 2'(cycle - 8'd9);
  assign at_multiply = 2'(cycle - 8'd12);
  assign at_leave    = 2'(cycle - 8'd19);

  logic [2047:0] ordered;
  for (genvar j = 0; j < 8; j++) begin : lane
    localparam logic [2:0] LOW = j;  // of the output's number
    logic [63:0] sum, factor, a, b, y;
    modmill_modular_combine #(
        .LANE(j)
    ) combine (
        .clk,
        .upper(at_combine[0]),
        .e(at_combine[0] ? even[64*(j+8)+:64] : even[64*j+:64]),
        .o(at_combine[1] ? (at_combine[0] ? negated[64*(j+8)+:64] : negated[64*j+:64])
                         : (at_combine[0] ? odd[64*(j+8)+:64] : odd[64*j+:64])),
        .y(sum)
    );

    // The lane of output k is k, or -k in the inverse. Between the stages position 32 n1 + n0 has the factor
    // w^(64 n1 n0).
    logic [4:0] k, position;
    logic [9:0] product;
    logic [15:0] power;
    assign k = {at_exponent[1:0], LOW};
    assign position = inverse ? 5'd0 - k : k;
    assign product = 10'(position) * 10'(at_exponent[6:2]);
    assign power = {product, 6'b0};
    logic twiddled;
    assign twiddled = down != inverse;
    modmill_twiddle #(
        .TABLE(TABLE)
    ) twiddle (
        .clk,
        .enable(1'b1),
        .exponent(!twiddled ? 16'd0 : inverse ? 16'd0 - power : power),
        .scale(!twiddled && inverse),
        .extra(8'd182),  // 2^182 = 1/1024
        .y(factor)
    );

    // Output 8 i + j is multiplied by the other factor's word of the same number.
    logic [63:0] chosen;
    modmill_modular_choice #(
        .WIDTH(64)
    ) choose_word (
        .number(at_multiply),
        .x({other[64*(24+j)+:64], other[64*(16+j)+:64], other[64*(8+j)+:64], other[64*j+:64]}),
        .y(chosen)
    );
    always_ff @(posedge clk) begin
      a <= sum;
      b <= !operand ? factor : square ? sum : chosen;
    end
    modmill_mulmod #(
        .EMBEDDED(EMBEDDED)
    ) multiplier (
        .clk,
        .enable(1'b1),
        .a,
        .b,
        .y
    );
    for (genvar i = 0; i < 4; i++) begin : turn
      localparam logic [1:0] TURN = i;
      always_ff @(posedge clk) if (at_leave == TURN) ordered[64*(8*i+j)+:64] <= y;
    end
  end

  // Cycle 4 g + 23: all 32 are there.
  always_ff @(posedge clk) begin
    if (cycle[1:0] == 2'd3) begin
      for (int l = 0; l < 32; l++) results[64*l+:64] <= inverse ? ordered[64*((32-l)%32)+:64] : ordered[64*l+:64];
    end
  end
endmodule
