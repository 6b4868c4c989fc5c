// Second level of a 4-point transform whose root is 2^48, one register deep. With
// u = difference0, v = difference1 (each 2^64 more than the true difference):
//
//   part0 = sum0 + sum1
//   part1 = u + 2^48 v   plus 1 + (2^32 - 1) + (2^16 - 1) + 2^16
//   part2 = sum0 - sum1  plus 2^65
//   part3 = u - 2^48 v   plus 1 + (2^16 - 1) 2^48 + (2^32 - 1) 2^32
//
// modulo p, all below 2^66. For part1, 2^48 v is cut where its bits pass 2^64 and 2^96:
//   v[15:0]  2^48  stays;
//   v[47:16] 2^64 = h 2^64 = { h, ~h } - (2^32 - 1);
//   v[63:48] 2^96 = -v[63:48] = ~v[63:48] - (2^16 - 1);
//   v[64]   2^112 = -v[64] 2^16 = ~v[64] 2^16 - 2^16;
// and u[64] 2^64 = u[64] 2^32 + ~u[64] - 1. part3 has the opposite sign of all that is v's.
module modmill_radix4_parts (
    input  logic        clk,
    input  logic        enable,
    input  logic [64:0] sum0,
    input  logic [64:0] sum1,
    input  logic [64:0] difference0,
    input  logic [64:0] difference1,
    output logic [65:0] part0,
    output logic [65:0] part1,
    output logic [65:0] part2,
    output logic [65:0] part3
);
  // The upper end of v, with u[64] in a free place, and the middle of v.
  logic [63:0] ends, middle, ends_negative, middle_negative;
  assign ends = {
    difference1[15:0], 15'b0, difference0[64], 15'b0, ~difference1[64], ~difference1[63:48]
  };
  assign middle = {difference1[47:16], ~difference1[47:16]};
  assign ends_negative = {
    ~difference1[15:0], 15'b0, difference0[64], 15'b0, difference1[64], difference1[63:48]
  };
  assign middle_negative = ~middle;

  // Three words to two; the free lowest bit of the carry word takes ~u[64].
  logic [63:0] sum, sum_negative;
  logic [64:0] carry, carry_negative;
  assign sum = difference0[63:0] ^ ends ^ middle;
  assign carry = {
    (difference0[63:0] & ends) | (difference0[63:0] & middle) | (ends & middle), ~difference0[64]
  };
  assign sum_negative = difference0[63:0] ^ ends_negative ^ middle_negative;
  assign carry_negative = {
    (difference0[63:0] & ends_negative) | (difference0[63:0] & middle_negative)
        | (ends_negative & middle_negative),
    ~difference0[64]
  };

  always_ff @(posedge clk) begin
    if (enable) begin
      part0 <= {1'b0, sum0} + {1'b0, sum1};
      part1 <= {2'b0, sum} + {1'b0, carry};
      part2 <= {1'b0, sum0} + {1'b0, ~sum1} + 66'd1;
      part3 <= {2'b0, sum_negative} + {1'b0, carry_negative};
    end
  end
endmodule
