// One lane of the second half of a 32-point transform: y = e + 2^(6 LANE + 48 upper) o mod p, three registers
// deep.
//
// With the transforms E and O of the even and the odd inputs, X_k = E_k + 64^k O_k and X_(k+16) = E_k - 64^k
// O_k, for 64 = 2^6. `o` is O_k or p - O_k, for k = LANE + 8 upper. A word times 2^s, s < 96, is cut where
// its bits pass 2^64 and 2^96:
//   x 2^s = low + 2^64 m + 2^96 h = low + { m, ~m } + ~h - (2^32 - 1) - (2^64 - 1) mod p.
module modmill_modular_combine #(
    parameter integer LANE = 0
) (
    input  logic        clk,
    input  logic        upper,
    input  logic [63:0] e,
    input  logic [63:0] o,
    output logic [63:0] y
);
  localparam logic [63:0] EXCESS = modmill_ring::minus(modmill_ring::plus(64'hFFFF_FFFF, 64'hFFFF_FFFE));
  logic [159:0] moved;
  assign moved = upper ? {96'b0, o} << (6 * LANE + 48) : {96'b0, o} << (6 * LANE);
  modmill_fold #(
      .CONSTANT(EXCESS)
  ) fold (
      .clk,
      .enable(1'b1),
      .w0(moved[63:0]),
      .w1({moved[95:64], ~moved[95:64]}),
      .w2(~moved[159:96]),
      .w3(e),
      .carry_in(1'b0),
      .y
  );
endmodule
