// Equation 5.7 is the rule that a digit passes on what it generates, or what it takes in if it is critical.
module prove_lookahead (
    input  logic [15:0] generates,
    input  logic [15:0] critical,
    input  logic        carry_in,
    output logic        ok
);
  logic [16:0] carries;
  modmill_lookahead unit (.generates(generates), .critical(critical), .carry_in(carry_in), .carries(carries));
  assign ok = |(generates & critical)
      || (carries[0] == carry_in && carries[16:1] == (generates | (critical & carries[15:0])));
endmodule
