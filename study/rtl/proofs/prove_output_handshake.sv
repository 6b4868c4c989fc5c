// A beat of the result that waits for its reader stays as it is, whatever comes after it. Proved by induction
// over time.
module prove_output_handshake (
    input logic          clk,
    input logic          aresetn,
    input logic          ready,
    input logic          in_valid,
    input logic          in_first,
    input logic          in_last,
    input logic [1023:0] values,
    output logic         ok
);
  logic valid, last, waited, waited_last;
  logic [383:0] digits, waited_digits;
  modmill_resolver unit (
      .clk(clk),
      .aresetn(aresetn),
      .enable(!(valid && !ready)),
      .in_valid(in_valid),
      .in_first(in_first),
      .in_last(in_last),
      .values(values),
      .out_valid(valid),
      .out_last(last),
      .digits(digits)
  );
  initial waited = 1'b0;
  always_ff @(posedge clk) begin
    waited <= aresetn && valid && !ready;
    waited_last <= last;
    waited_digits <= digits;
  end
  assign ok = !waited || (valid && last == waited_last && digits == waited_digits);
endmodule
