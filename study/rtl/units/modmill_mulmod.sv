// y = a b mod p for p = 2^64 - 2^32 + 1, one product each cycle, six registers deep; a, b < 2^64, y < p.
//
// The partial products are words of the ring of 2^96 + 1, in which the bits above 2^96 come back at
// the bottom: the product is never formed in 128 bits, and it is reduced by the fold of the radix-16 unit.
//
// EMBEDDED = 0 is for standard cells: Booth's radix-4 digits of b give 33 words and a word of signs.
// EMBEDDED = 1 is for FPGAs: four products of 32 x 32 bits, for the multipliers that the chip has.
module modmill_mulmod #(
    parameter integer EMBEDDED = 0
) (
    input  logic        clk,
    input  logic        enable,
    input  logic [63:0] a,
    input  logic [63:0] b,
    output logic [63:0] y
);
  if (EMBEDDED != 0) begin : embedded
    modmill_mulmod_embedded multiplier (.*);
  end else begin : booth
    modmill_mulmod_booth multiplier (.*);
  end
endmodule
