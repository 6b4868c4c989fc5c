// Runs one pipelined unit over a file of vectors, each line `input output` in hexadecimal, and counts the
// outputs that differ. Before the first vector the input is unknown, and so are the unit's registers: in a
// four-state simulator an unknown bit that reaches an output is a difference. `enable` is taken away at
// random.
//
// Macros: DUT (module with ports clk, enable, x, y), IN and OUT (bits), DEPTH (registers).
`timescale 1ns / 1ps
module unit_tb;
  logic clk = 1'b0;
  logic enable = 1'b1;
  logic [`IN-1:0] x;
  logic [`OUT-1:0] y;
  `DUT dut (
      .clk(clk),
      .enable(enable),
      .x(x),
      .y(y)
  );

  // Outputs that are due, in the order of the vectors; place DEPTH - 1 is due now.
  logic [`OUT-1:0] due[`DEPTH];
  logic [`DEPTH-1:0] known = '0;
  logic [`IN-1:0] next_x;
  logic [`OUT-1:0] next_y;
  integer file, got, vectors, differences, seed, idle;
  string name;

  initial begin
    if (!$value$plusargs("vectors=%s", name)) $fatal(1, "no +vectors=FILE");
    file = $fopen(name, "r");
    if (file == 0) $fatal(1, "cannot read the vectors");
    vectors = 0;
    differences = 0;
    idle = 0;
    seed = 1;
    got = 2;
    while (idle <= `DEPTH) begin
      #5 clk = 1'b0;
      enable = ($random(seed) & 7) != 0;
      if (enable) begin
        if (got == 2) got = $fscanf(file, "%h %h\n", next_x, next_y);
        if (got == 2) x = next_x;
        else idle = idle + 1;
      end
      #5 clk = 1'b1;
      if (enable) begin
        for (int i = `DEPTH - 1; i > 0; i--) due[i] = due[i-1];
        due[0] = next_y;
        known = (known << 1);
        known[0] = (got == 2);
        if (got == 2) vectors = vectors + 1;
      end
      #1;
      if (known[`DEPTH-1] && y !== due[`DEPTH-1]) begin
        if (differences < 3) $display("differs: %h, not %h", y, due[`DEPTH-1]);
        differences = differences + 1;
      end
    end
    $display("vectors %0d differences %0d", vectors, differences);
    $finish;
  end
endmodule
