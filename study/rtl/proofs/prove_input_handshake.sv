// An input port takes no beat while its buffer is full, is full exactly after its last beat, and notices a
// tlast in the wrong place. Small: 8 beats. Proved for all sequences of 20 cycles after the reset, in which a
// buffer can be filled, released and filled again.
module prove_input_handshake (
    input  logic        clk,
    input  logic        aresetn,
    input  logic        valid,
    input  logic        last,
    input  logic        release_buffer,
    input  logic [63:0] data,
    output logic        ok
);
  logic ready, full, framing_error;
  logic [3:0] taken;  // beats since the buffer was empty
  logic bad;
  modmill_input #(
      .STAGES(2),
      .DIGIT (4)
  ) unit (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_tvalid(valid),
      .s_axis_tready(ready),
      .s_axis_tdata(data),
      .s_axis_tlast(last),
      .full(full),
      .framing_error(framing_error),
      .release_buffer(release_buffer && full),
      .read_enable(1'b0),
      .base(8'd0),
      .lanes()
  );
  initial begin
    taken = 4'd0;
    bad = 1'b0;
  end
  always_ff @(posedge clk) begin
    if (!aresetn) begin
      taken <= 4'd0;
      bad <= 1'b0;
    end else begin
      if (release_buffer && full) taken <= 4'd0;
      else if (valid && ready) taken <= taken + 4'd1;
      if (valid && ready && last != (taken == 4'd7)) bad <= 1'b1;
    end
  end
  assign ok = ready == (taken != 4'd8) && full == (taken == 4'd8) && framing_error == bad;
endmodule
