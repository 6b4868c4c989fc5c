// Sum of four 64-bit words and a constant, reduced modulo p = 2^64 - 2^32 + 1 to 0 .. p - 1.
//
//   y = w0 + w1 + w2 + w3 + carry_in + CONSTANT mod p,   CONSTANT < p
//
// Register 1: carry-save adders bring the five words to two. Register 2: their sum v <= 5 (2^64 - 1) + 1.
// Register 3: v mod p.
module modmill_fold #(
    parameter logic [63:0] CONSTANT = 64'd0
) (
    input  logic        clk,
    input  logic        enable,
    input  logic [63:0] w0,
    input  logic [63:0] w1,
    input  logic [63:0] w2,
    input  logic [63:0] w3,
    input  logic        carry_in,
    output logic [63:0] y
);
  logic [63:0] sum_a, sum_b, sum_c;
  logic [64:0] carry_a, carry_b;
  logic [65:0] carry_c, rest;
  logic [66:0] saved_sum, saved_carry, v;

  // 3 : 2 rows. Each carry word has twice the weight of its sum word.
  assign sum_a   = w0 ^ w1 ^ w2;
  assign carry_a = {(w0 & w1) | (w0 & w2) | (w1 & w2), carry_in};
  assign sum_b   = sum_a ^ w3 ^ CONSTANT;
  assign carry_b = {(sum_a & w3) | (sum_a & CONSTANT) | (w3 & CONSTANT), 1'b0};
  // sum_b + carry_a + carry_b, where the carries have a 65th bit.
  assign sum_c   = sum_b ^ carry_a[63:0] ^ carry_b[63:0];
  assign carry_c = {
    carry_a[64] & carry_b[64],
    (sum_b & carry_a[63:0]) | (sum_b & carry_b[63:0]) | (carry_a[63:0] & carry_b[63:0]),
    1'b0
  };
  assign rest = {1'b0, carry_a[64] ^ carry_b[64], sum_c};

  logic [63:0] reduced;
  modmill_fold_last last (
      .v(v),
      .y(reduced)
  );

  always_ff @(posedge clk) begin
    if (enable) begin
      saved_sum   <= {1'b0, rest};
      saved_carry <= {1'b0, carry_c};
      v           <= saved_sum + saved_carry;
      y           <= reduced;
    end
  end
endmodule
