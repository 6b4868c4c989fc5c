// One output of the second half of the 16-point transform:
//
//   y = sum over n = 0 .. 3 of part_n 2^(12 n LANE) + CONSTANT mod p
//
// The four products are rotations of wires in the ring of 2^96 + 1 (see modmill_ring). Two rows of
// carry-save adders bring them to two words, and each word
//   { h, e, f } = 2^64 h + 2^32 e + f = { e, f } + { h, ~h } - (2^32 - 1) mod p
// enters the fold as two words of 64 bits. This is the thesis's equation 5.1 for 96 bits.
module modmill_radix16_lane #(
    parameter integer LANE = 0,
    // The sum that the four parts together lack of their true values, modulo p.
    parameter logic [63:0] CONSTANT = 64'd0
) (
    input  logic        clk,
    input  logic        enable,
    input  logic [65:0] part0,
    input  logic [65:0] part1,
    input  logic [65:0] part2,
    input  logic [65:0] part3,
    output logic [63:0] y
);
  localparam logic [95:0] MASK = {30'b0, {66{1'b1}}};
  localparam integer SHIFT1 = (12 * LANE) % 192;
  localparam integer SHIFT2 = (24 * LANE) % 192;
  localparam integer SHIFT3 = (36 * LANE) % 192;
  // Two rows of adders lack 1 each, two words { h, ~h } have 2^32 - 1 too much each.
  localparam logic [63:0] TOTAL = modmill_ring::plus(
      modmill_ring::plus(
          modmill_ring::plus(CONSTANT, modmill_ring::rotated_constant(MASK, SHIFT1)),
          modmill_ring::plus(modmill_ring::rotated_constant(MASK, SHIFT2), modmill_ring::rotated_constant(MASK, SHIFT3))
      ),
      modmill_ring::minus(64'd2 + 64'h1_FFFF_FFFE)
  );

  logic [95:0] row0, row1, row2, row3, sum, carry, word0, word1;
  assign row0  = {30'b0, part0};
  assign row1  = modmill_ring::rotated({30'b0, part1}, MASK, SHIFT1);
  assign row2  = modmill_ring::rotated({30'b0, part2}, MASK, SHIFT2);
  assign row3  = modmill_ring::rotated({30'b0, part3}, MASK, SHIFT3);
  assign sum   = modmill_ring::save_sum(row0, row1, row2);
  assign carry = modmill_ring::save_carry(row0, row1, row2);
  assign word0 = modmill_ring::save_sum(sum, carry, row3);
  assign word1 = modmill_ring::save_carry(sum, carry, row3);

  modmill_fold #(
      .CONSTANT(TOTAL)
  ) fold (
      .clk,
      .enable,
      .w0(word0[63:0]),
      .w1({word0[95:64], ~word0[95:64]}),
      .w2(word1[63:0]),
      .w3({word1[95:64], ~word1[95:64]}),
      .carry_in(1'b0),
      .y
  );
endmodule
