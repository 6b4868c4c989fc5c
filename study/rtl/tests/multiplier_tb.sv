// Runs modmill_multiplier on operands from files and writes its output beats to a file, each with its cycle.
//
// +a=FILE, +b=FILE: beats in hexadecimal, all products one after the other. +ports=FILE: one hexadecimal
// digit for each cycle, repeated for ever: bit 0 offers a beat of a, bit 1 one of b, bit 2 takes a beat of
// the product. +out=FILE. +products=K. +cycles=MOST. Also checks the rules of the output's handshake: a beat
// that waits stays, unchanged.
//
// Macros: STAGES, EMBEDDED, TABLE.
`timescale 1ns / 1ps
module multiplier_tb;
  localparam integer BEATS = 16 ** (`STAGES - 1) / 2;
  logic clk = 1'b0, aresetn = 1'b0;
  logic a_valid = 1'b0, b_valid = 1'b0, ready = 1'b0;
  logic a_ready, b_ready, valid, last, framing_error;
  logic [383:0] a, b, product;
  modmill_multiplier #(
      .STAGES(`STAGES),
      .EMBEDDED(`EMBEDDED),
      .TABLE(`TABLE)
  ) dut (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_a_tvalid(a_valid),
      .s_axis_a_tready(a_ready),
      .s_axis_a_tdata(a),
      .s_axis_a_tlast(a_beat % BEATS == BEATS - 1),
      .s_axis_b_tvalid(b_valid),
      .s_axis_b_tready(b_ready),
      .s_axis_b_tdata(b),
      .s_axis_b_tlast(b_beat % BEATS == BEATS - 1),
      .m_axis_tvalid(valid),
      .m_axis_tready(ready),
      .m_axis_tdata(product),
      .m_axis_tlast(last),
      .framing_error(framing_error)
  );

  integer products, most, a_file, b_file, ports_file, out_file, got;
  integer a_beat = 0, b_beat = 0, out_beat = 0, cycle = 0, broken = 0;
  logic [2:0] ports;
  logic a_held = 1'b0, b_held = 1'b0, waited = 1'b0;
  logic [384:0] waiting;
  string a_name, b_name, ports_name, out_name;

  initial begin
    if (!$value$plusargs("a=%s", a_name) || !$value$plusargs("b=%s", b_name)
        || !$value$plusargs("ports=%s", ports_name) || !$value$plusargs("out=%s", out_name)
        || !$value$plusargs("products=%d", products) || !$value$plusargs("cycles=%d", most))
      $fatal(1, "an argument is missing");
    a_file = $fopen(a_name, "r");
    b_file = $fopen(b_name, "r");
    ports_file = $fopen(ports_name, "r");
    out_file = $fopen(out_name, "w");
    if (a_file == 0 || b_file == 0 || ports_file == 0 || out_file == 0) $fatal(1, "cannot open a file");
    repeat (3) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    aresetn = 1'b1;
    while (out_beat < products * 2 * BEATS && cycle < most) begin
      got = $fscanf(ports_file, "%h\n", ports);
      if (got != 1) begin
        got = $rewind(ports_file);
        got = $fscanf(ports_file, "%h\n", ports);
      end
      if (!a_held && a_beat < products * BEATS) begin
        got = $fscanf(a_file, "%h\n", a);
        a_held = 1'b1;
      end
      if (!b_held && b_beat < products * BEATS) begin
        got = $fscanf(b_file, "%h\n", b);
        b_held = 1'b1;
      end
      a_valid = ports[0] && a_held;
      b_valid = ports[1] && b_held;
      ready = ports[2];
      #4;
      // The signals are now those that the coming edge sees.
      if (waited && (valid !== 1'b1 || {last, product} !== waiting)) broken = broken + 1;
      waited = valid === 1'b1 && !ready;
      waiting = {last, product};
      if (valid !== 1'b0 && valid !== 1'b1) broken = broken + 1;
      if (valid === 1'b1 && ready) begin
        $fwrite(out_file, "%0d %h\n", cycle, product);
        if (last !== (out_beat % (2 * BEATS) == 2 * BEATS - 1)) broken = broken + 1;
        out_beat = out_beat + 1;
      end
      if (a_valid && a_ready === 1'b1) begin
        a_held = 1'b0;
      end
      if (b_valid && b_ready === 1'b1) begin
        b_held = 1'b0;
      end
      #1 clk = 1'b1;
      #1;
      if (a_valid && !a_held) a_beat = a_beat + 1;
      if (b_valid && !b_held) b_beat = b_beat + 1;
      #4 clk = 1'b0;
      cycle = cycle + 1;
    end
    $fclose(out_file);
    if (framing_error !== 1'b0) broken = broken + 1;
    $display("beats %0d cycles %0d broken %0d", out_beat, cycle, broken);
    $finish;
  end
endmodule
