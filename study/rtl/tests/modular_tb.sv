// Runs modmill_exponentiator_stream on packets from a file and writes the beats of the results to a file, and
// the cycles of each operation.
//
// +packets=FILE: beats, each the `tlast` and the data in hexadecimal. +ports=FILE: one hexadecimal digit for
// each cycle, repeated for ever: bit 0 offers a beat, bit 1 takes one. +out=FILE: lines `cycles N`, one for
// each time that the machine was busy, and `beat HEX`. +cycles=MOST. Also checks the rules of the output's
// handshake: a beat that waits stays, unchanged, and every 16th is the last.
//
// Macros: DIGIT, EMBEDDED, TABLE.
`timescale 1ns / 1ps
module modular_tb;
  logic clk = 1'b0, aresetn = 1'b0, in_valid = 1'b0, in_last = 1'b0, out_ready = 1'b0;
  logic in_ready, out_valid, out_last, busy, framing_error;
  logic [32*`DIGIT-1:0] in_data = '0, out_data;
  modmill_exponentiator_stream #(
      .DIGIT(`DIGIT),
      .EMBEDDED(`EMBEDDED),
      .TABLE(`TABLE)
  ) dut (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_tvalid(in_valid),
      .s_axis_tready(in_ready),
      .s_axis_tdata(in_data),
      .s_axis_tlast(in_last),
      .m_axis_tvalid(out_valid),
      .m_axis_tready(out_ready),
      .m_axis_tdata(out_data),
      .m_axis_tlast(out_last),
      .busy(busy),
      .framing_error(framing_error)
  );

  integer packets, ports_file, out, got, most, cycle = 0, busy_cycles = 0, beats = 0, idle = 0, broken = 0;
  logic [1:0] ports;
  logic held = 1'b0, ended = 1'b0, waited = 1'b0;
  logic [32*`DIGIT:0] waiting;
  string packets_name, ports_name, out_name;

  initial begin
    if (!$value$plusargs("packets=%s", packets_name) || !$value$plusargs("ports=%s", ports_name)
        || !$value$plusargs("out=%s", out_name) || !$value$plusargs("cycles=%d", most))
      $fatal(1, "an argument is missing");
    packets = $fopen(packets_name, "r");
    ports_file = $fopen(ports_name, "r");
    out = $fopen(out_name, "w");
    if (packets == 0 || ports_file == 0 || out == 0) $fatal(1, "cannot open a file");
    repeat (3) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    aresetn = 1'b1;
    // The end: all packets are in, and nothing has happened for a while.
    while (idle < 50 && cycle < most) begin
      got = $fscanf(ports_file, "%h\n", ports);
      if (got != 1) begin
        got = $rewind(ports_file);
        got = $fscanf(ports_file, "%h\n", ports);
      end
      if (!held && !ended) begin
        got = $fscanf(packets, "%h %h\n", in_last, in_data);
        held = got == 2;
        ended = got != 2;
      end
      in_valid = ports[0] && held;
      out_ready = ports[1];
      #4;
      // The signals are now those that the coming edge sees.
      if (waited && (out_valid !== 1'b1 || {out_last, out_data} !== waiting)) broken = broken + 1;
      waited = out_valid === 1'b1 && !out_ready;
      waiting = {out_last, out_data};
      if (out_valid === 1'b1 && out_ready) begin
        $fwrite(out, "beat %h\n", out_data);
        if (out_last !== (beats % 16 == 15)) broken = broken + 1;
        beats = beats + 1;
      end
      if (busy) busy_cycles = busy_cycles + 1;
      else if (busy_cycles > 0) begin
        $fwrite(out, "cycles %0d\n", busy_cycles);
        busy_cycles = 0;
      end
      idle = (ended && !busy && out_valid === 1'b0) ? idle + 1 : 0;
      if (in_valid && in_ready === 1'b1) held = 1'b0;
      #1 clk = 1'b1;
      #5 clk = 1'b0;
      cycle = cycle + 1;
    end
    $fclose(out);
    if (framing_error !== 1'b0) broken = broken + 1;
    $display("beats %0d cycles %0d broken %0d", beats, cycle, broken);
    $finish;
  end
endmodule
