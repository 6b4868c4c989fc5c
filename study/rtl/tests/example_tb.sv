// The smallest use of the multiplier: sends two numbers of 3072 bits, takes their product and compares it
// with the simulator's own.
//
//   cd study/rtl
//   iverilog -g2012 -s example_tb -o example -f modmill_multiplier.f tests/example_tb.sv && vvp example
`timescale 1ns / 1ps
module example_tb;
  localparam integer STAGES = 2;
  localparam integer BEATS = 16 ** (STAGES - 1) / 2;
  localparam integer BITS = 384 * BEATS;
  logic clk = 1'b0, aresetn = 1'b0;
  logic a_valid = 1'b0, a_ready, a_last, b_valid = 1'b0, b_ready, b_last, valid, last, framing_error;
  logic [383:0] a_data, b_data, data;
  always #5 clk = !clk;

  modmill_multiplier #(
      .STAGES(STAGES),
      .EMBEDDED(1),
      .TABLE("tables/twiddles.hex")
  ) multiplier (
      .clk(clk),
      .aresetn(aresetn),
      .s_axis_a_tvalid(a_valid),
      .s_axis_a_tready(a_ready),
      .s_axis_a_tdata(a_data),
      .s_axis_a_tlast(a_last),
      .s_axis_b_tvalid(b_valid),
      .s_axis_b_tready(b_ready),
      .s_axis_b_tdata(b_data),
      .s_axis_b_tlast(b_last),
      .m_axis_tvalid(valid),
      .m_axis_tready(1'b1),
      .m_axis_tdata(data),
      .m_axis_tlast(last),
      .framing_error(framing_error)
  );

  logic [BITS-1:0] a, b;
  logic [2*BITS-1:0] product;
  integer a_beat = 0, b_beat = 0, beat = 0;
  assign a_data = a[384*a_beat+:384];
  assign b_data = b[384*b_beat+:384];
  assign a_last = a_beat == BEATS - 1;
  assign b_last = b_beat == BEATS - 1;

  initial begin
    for (integer i = 0; i < BITS / 32; i = i + 1) begin
      a[32*i+:32] = $urandom;
      b[32*i+:32] = $urandom;
    end
    repeat (2) @(posedge clk);
    aresetn <= 1'b1;
    a_valid <= 1'b1;
    b_valid <= 1'b1;
  end
  always @(posedge clk) begin
    if (a_valid && a_ready) begin
      if (a_last) a_valid <= 1'b0;
      else a_beat <= a_beat + 1;
    end
    if (b_valid && b_ready) begin
      if (b_last) b_valid <= 1'b0;
      else b_beat <= b_beat + 1;
    end
    if (valid) begin
      product[384*beat+:384] = data;
      beat <= beat + 1;
      if (last) begin
        if (beat == 2 * BEATS - 1 && !framing_error && product === a * b) $display("right 1");
        else $display("right 0");
        $finish;
      end
    end
  end
endmodule
