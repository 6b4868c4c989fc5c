// Runs modmill_exponentiator by a script and writes rows of results to a file, and the cycles of each operation.
//
// +script=FILE, +out=FILE. Lines of the script: `w MEMORY ROW HEX` writes a row of digits, `o OPERATION TARGET` runs an operation, `x HEX` shifts 64 bits
// of the exponent in, `p BITS` runs a power, `r ROW` reads a row of the result. Lines of the output: `cycles N` and `row HEX`.
//
// Macros: DIGIT, EMBEDDED, TABLE.
`timescale 1ns / 1ps
module modular_tb;
  logic clk = 1'b0, aresetn = 1'b0, start = 1'b0, power = 1'b0, exponent_write = 1'b0;
  logic host_write = 1'b0, host_read = 1'b0, busy;
  logic [1:0] operation = 2'd0, target = 2'd0;
  logic [13:0] power_bits = 14'd0;
  logic [63:0] exponent_word = 64'd0;
  logic [2:0] host_memory = 3'd0;
  logic [3:0] host_row = 4'd0;
  logic [32*`DIGIT-1:0] host_digits = '0, host_result;
  modmill_exponentiator #(
      .DIGIT(`DIGIT),
      .EMBEDDED(`EMBEDDED),
      .TABLE(`TABLE)
  ) dut (
      .*
  );

  integer script, out, got, number, other, cycles, total;
  string script_name, out_name;
  logic [7:0] letter;

  // One period. Inputs change after the falling edge.
  task automatic tick;
    #5 clk = 1'b1;
    #5 clk = 1'b0;
  endtask

  // Counts the cycles in which the machine is busy.
  task automatic wait_for_end;
    cycles = 0;
    while (busy) begin
      cycles = cycles + 1;
      tick;
    end
    total = total + cycles;
    $fwrite(out, "cycles %0d\n", cycles);
  endtask

  initial begin
    total = 0;
    if (!$value$plusargs("script=%s", script_name) || !$value$plusargs("out=%s", out_name)) $fatal(1, "an argument is missing");
    script = $fopen(script_name, "r");
    out = $fopen(out_name, "w");
    if (script == 0 || out == 0) $fatal(1, "cannot open a file");
    repeat (3) tick;
    aresetn = 1'b1;
    tick;
    got = $fscanf(script, " %c", letter);
    while (got == 1) begin
      case (letter)
        "w": begin
          got = $fscanf(script, "%d %d %h", number, other, host_digits);
          host_memory = 3'(number);
          host_row = 4'(other);
          host_write = 1'b1;
          tick;
          host_write = 1'b0;
        end
        "o": begin
          got = $fscanf(script, "%d %d", number, other);
          operation = 2'(number);
          target = 2'(other);
          start = 1'b1;
          tick;
          start = 1'b0;
          wait_for_end;
        end
        "x": begin
          got = $fscanf(script, "%h", exponent_word);
          exponent_write = 1'b1;
          tick;
          exponent_write = 1'b0;
        end
        "p": begin
          got = $fscanf(script, "%d", number);
          power_bits = 14'(number);
          power = 1'b1;
          tick;
          power = 1'b0;
          wait_for_end;
        end
        "r": begin
          got = $fscanf(script, "%d", number);
          host_row = 4'(number);
          host_read = 1'b1;
          tick;
          host_read = 1'b0;
          tick;
          $fwrite(out, "row %h\n", host_result);
        end
        default: $fatal(1, "no such line");
      endcase
      got = $fscanf(script, " %c", letter);
    end
    $fclose(out);
    $display("total %0d", total);
    $finish;
  end
endmodule
