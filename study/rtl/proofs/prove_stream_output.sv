// A beat of a modular result that waits for its reader stays as it is, whatever the machine and the input do.
// Proved by induction over time.
module prove_stream_output (
    input  logic        clk,
    input  logic        aresetn,
    input  logic        in_valid,
    input  logic        in_last,
    input  logic [31:0] in_data,
    input  logic        ready,
    output logic        ok
);
  logic valid, last, waited, waited_last;
  logic [31:0] data, waited_data;
  modmill_exponentiator_stream #(
      .DIGIT(1)
  ) unit (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_tvalid(in_valid),
      .s_axis_tready(),
      .s_axis_tdata(in_data),
      .s_axis_tlast(in_last),
      .m_axis_tvalid(valid),
      .m_axis_tready(ready),
      .m_axis_tdata(data),
      .m_axis_tlast(last),
      .busy(),
      .framing_error()
  );
  initial waited = 1'b0;
  always_ff @(posedge clk) begin
    waited <= aresetn && valid && !ready;
    waited_last <= last;
    waited_data <= data;
  end
  assign ok = !waited || (valid && last == waited_last && data == waited_data);
endmodule
