// Turning 32 words back undoes turning them, and word 0 of the turned ones is the word that `amount` names.
module prove_modular_rotate (
    input  logic [  4:0] amount,
    input  logic [127:0] x,
    output logic         ok
);
  logic [127:0] there, back;
  modmill_modular_rotate #(.WIDTH(4)) turn (.amount(amount), .x(x), .y(there));
  modmill_modular_rotate #(.WIDTH(4)) turn_back (.amount(5'd0 - amount), .x(there), .y(back));
  assign ok = back == x && there[3:0] == x[4*amount+:4];
endmodule
