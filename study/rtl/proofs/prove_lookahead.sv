// Equation 5.7 is the rule that a digit passes on what it generates, or what it takes in if it is critical.
// For the 16 digits of the multiplier and the 32 of the modular multiplier.
module prove_lookahead (
    input  logic [31:0] generates,
    input  logic [31:0] critical,
    input  logic        carry_in,
    output logic        ok
);
  logic [16:0] carries;
  logic [32:0] carries_modular;
  modmill_lookahead unit (.generates(generates[15:0]), .critical(critical[15:0]), .carry_in(carry_in), .carries(carries));
  modmill_lookahead #(
      .COUNT(32)
  ) unit_modular (
      .generates(generates),
      .critical(critical),
      .carry_in(carry_in),
      .carries(carries_modular)
  );
  assign ok = |(generates & critical)
      || (carries[0] == carry_in && carries[16:1] == (generates[15:0] | (critical[15:0] & carries[15:0]))
          && carries_modular[0] == carry_in && carries_modular[32:1] == (generates | (critical & carries_modular[31:0])));
endmodule
