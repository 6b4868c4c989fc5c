// y = v mod p for p = 2^64 - 2^32 + 1 and v <= 5 (2^64 - 1) + 1. Purely combinational.
//
// With v = 2^64 t + low and 2^64 = e mod p, e = 2^32 - 1, the result is
//   low + (t + 1) e - 2^64   if low + (t + 1) e >= 2^64,   otherwise   low + t e.
// The first is low + t e - p. It is taken exactly when low + t e >= p, and it is below p because
// low + t e < 2^64 + 5 2^32 < 2 p. So one choice serves both the overflow and the reduction.
module modmill_fold_last (
    input  logic [66:0] v,
    output logic [63:0] y
);
  logic [34:0] times_t, times_next;
  logic [2:0] next;
  logic [64:0] plain, reduced;
  assign next       = v[66:64] + 3'd1;
  assign times_t    = {v[66:64], 32'b0} - {32'b0, v[66:64]};
  assign times_next = {next, 32'b0} - {32'b0, next};
  assign plain      = {1'b0, v[63:0]} + {30'b0, times_t};
  assign reduced    = {1'b0, v[63:0]} + {30'b0, times_next};
  assign y          = reduced[64] ? reduced[63:0] : plain[63:0];
endmodule
