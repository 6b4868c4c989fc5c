// One output of the 16-point transform in the thesis's way (section 5.3.1, figure 5.1), for comparison:
//
//   y = sum over n = 0 .. 15 of x_n 2^(12 n LANE) mod p              (equation 5.2)
//
// Every input is extended to 192 bits and rotated; 4-input carry-save adders, each of two 3-input ones, add
// the 16 words; a carry-propagate adder of 192 bits with end-around carry forms z; the normalisation takes
//   z = (2^32 e + f) + (2^32 d + a) - (2^32 b + c) - (2^32 a + d)      (equation 5.1)
// to 0 .. p - 1. With BOTH = 1 the shifters choose between equations 5.2 and 5.3 (without its 1/16).
//
// Register 1: the tree. Register 2: z, and its carry out, which the normalisation adds as a bit, so that no
// second 192-bit addition is needed. Registers 3 to 5: the normalisation, which is the fold of our own unit.
module thesis_sum16 #(
    parameter integer LANE = 0,
    parameter integer BOTH = 0
) (
    input  logic          clk,
    input  logic          enable,
    input  logic          inverse,
    input  logic [1023:0] x,
    output logic [  63:0] y
);
  // -w = ~w - (2^64 - 1) for the two negative words.
  localparam logic [63:0] TOTAL = modmill_ring::minus(modmill_ring::plus(64'hFFFF_FFFE, 64'hFFFF_FFFE));

  function automatic [191:0] rotated_192(input [63:0] word, input integer shift);
    logic [383:0] unrolled;
    unrolled = {320'b0, word} << shift;
    rotated_192 = unrolled[191:0] | unrolled[383:192];
  endfunction

  function automatic [191:0] sum_of(input [191:0] p, input [191:0] q, input [191:0] r);
    sum_of = p ^ q ^ r;
  endfunction

  function automatic [191:0] carry_of(input [191:0] p, input [191:0] q, input [191:0] r);
    logic [191:0] carry;
    carry = (p & q) | (p & r) | (q & r);
    carry_of = {carry[190:0], carry[191]};
  endfunction

  // Level l has 16 / 2^l words: four words become two in each 4-input adder.
  for (genvar l = 0; l <= 3; l++) begin : level
    logic [192*(16>>l)-1:0] words;
    if (l == 0) begin : shifters
      for (genvar n = 0; n < 16; n++) begin : shifter
        localparam integer FORWARD = (12 * n * LANE) % 192;
        localparam integer INVERSE = (192 - FORWARD) % 192;
        if (BOTH != 0) begin : two
          assign words[192*n+:192] = inverse ? rotated_192(x[64*n+:64], INVERSE)
                                             : rotated_192(x[64*n+:64], FORWARD);
        end else begin : one
          assign words[192*n+:192] = rotated_192(x[64*n+:64], FORWARD);
        end
      end
    end else begin : adders
      for (genvar i = 0; i < (16 >> l) / 2; i++) begin : adder
        logic [191:0] p, q, r, s, sum, carry;
        assign {s, r, q, p} = level[l-1].words[768*i+:768];
        assign sum = sum_of(p, q, r);
        assign carry = carry_of(p, q, r);
        assign words[384*i+:192] = sum_of(sum, carry, s);
        assign words[384*i+192+:192] = carry_of(sum, carry, s);
      end
    end
  end

  logic [191:0] saved_sum, saved_carry;
  logic [192:0] z;
  always_ff @(posedge clk) begin
    if (enable) begin
      {saved_carry, saved_sum} <= level[3].words;
      z <= {1'b0, saved_sum} + {1'b0, saved_carry};
    end
  end

  logic [31:0] a, b, c, d, e, f;
  assign {a, b, c, d, e, f} = z[191:0];
  modmill_fold #(
      .CONSTANT(TOTAL)
  ) normalisation (
      .clk,
      .enable,
      .w0({e, f}),
      .w1({d, a}),
      .w2(~{b, c}),
      .w3(~{a, d}),
      .carry_in(z[192]),
      .y
  );
endmodule
