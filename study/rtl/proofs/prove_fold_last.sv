// The last step of the fold: a v of 67 bits, no more than five words of 64 bits and a carry, becomes v mod p.
module prove_fold_last (
    input  logic [66:0] v,
    output logic        ok
);
  localparam logic [66:0] P = 67'h0_FFFF_FFFF_0000_0001;
  logic [63:0] y;
  logic [66:0] quotient;
  modmill_fold_last unit (.v(v), .y(y));
  // v mod p by its definition: y < p, and v - y is one of 0, p, .., 5 p.
  assign quotient = v - {3'b0, y};
  assign ok = v > {3'd5, 64'd0} - 67'd4
      || ({3'b0, y} < P && (quotient == 67'd0 || quotient == P || quotient == 67'd2 * P || quotient == 67'd3 * P
                            || quotient == 67'd4 * P || quotient == 67'd5 * P));
endmodule
