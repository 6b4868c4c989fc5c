// Packets of the exponentiator's streams: a command that wants its result is answered by exactly 16 beats,
// another one by none; no beat is taken until the machine has ended and the answer is out; rows of a number
// are counted 0 .. 15; a tlast in the wrong place is noticed. Proved for all sequences of 90 cycles after the
// reset, in which a number, a command and a whole answer have room.
module prove_stream_packets (
    input  logic clk,
    input  logic aresetn,
    input  logic in_valid,
    input  logic in_last,
    input  logic command,
    input  logic send,
    input  logic more,     // the machine goes on
    input  logic out_ready,
    output logic ok
);
  logic in_ready, number, host_read, out_valid, framing_error, busy;
  logic [3:0] row;
  modmill_stream_control unit (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_tvalid(in_valid),
      .s_axis_tready(in_ready),
      .s_axis_tlast(in_last),
      .command(command),
      .send(send),
      .number(number),
      .row(row),
      .busy(busy),
      .host_read(host_read),
      .m_axis_tvalid(out_valid),
      .m_axis_tready(out_ready),
      .framing_error(framing_error)
  );

  logic [4:0] rows_left, owed;  // of the number, of the answer
  logic bad;
  initial begin
    {rows_left, owed} = 10'd0;
    {bad, busy} = 2'b0;
  end
  always_ff @(posedge clk) begin
    if (!aresetn) begin
      {rows_left, owed} <= 10'd0;
      {bad, busy} <= 2'b0;
    end else begin
      busy <= busy && more;
      if (in_valid && in_ready) begin
        if (rows_left != 5'd0) begin
          rows_left <= rows_left - 5'd1;
        end else if (command) begin
          busy <= 1'b1;
          if (send) owed <= 5'd16;
        end else begin
          rows_left <= 5'd16;
        end
        if (in_last != (rows_left == 5'd1 || (rows_left == 5'd0 && command))) bad <= 1'b1;
      end
      if (out_valid && out_ready) owed <= owed - 5'd1;
    end
  end
  assign ok = number == (rows_left != 5'd0)
      && !(in_ready && (busy || owed != 5'd0))
      && !(out_valid && (busy || owed == 5'd0))
      && (rows_left == 5'd0 || {1'b0, row} == 5'd16 - rows_left)
      && (owed == 5'd0 || {1'b0, row} == 5'd16 - owed)
      && framing_error == bad;
endmodule
