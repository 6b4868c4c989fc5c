// Turning back undoes turning.
module prove_rotate (
    input  logic [ 3:0] amount,
    input  logic [63:0] x,
    output logic        ok
);
  logic [63:0] there, back;
  modmill_rotate #(.WIDTH(4)) turn (.amount(amount), .x(x), .y(there));
  modmill_rotate #(.WIDTH(4)) turn_back (.amount(4'd0 - amount), .x(there), .y(back));
  assign ok = back == x;
endmodule
