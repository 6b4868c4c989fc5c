// Stand for the memories when logic is mapped to standard cells: flip-flops at the ports, so that paths that
// begin or end in a memory are timed as if it were as fast as a flip-flop. Their area is not counted.
(* keep_hierarchy, memory_ports *)
module modmill_bank #(
    parameter integer WIDTH = 64,
    parameter integer ADDRESS = 12,
    parameter integer WORDS = 1 << ADDRESS
) (
    input  logic               clk,
    input  logic               read_enable,
    input  logic [ADDRESS-1:0] read_row,
    output logic [  WIDTH-1:0] read_data,
    input  logic               write_enable,
    input  logic [ADDRESS-1:0] write_row,
    input  logic [  WIDTH-1:0] write_data
);
  (* keep *) logic [2*ADDRESS+1:0] controls;
  (* keep *) logic [WIDTH-1:0] taken;
  always_ff @(posedge clk) begin
    controls <= {read_enable, read_row, write_enable, write_row};
    taken <= write_data;
    read_data <= taken;
  end
endmodule

(* keep_hierarchy, memory_ports *)
module modmill_table #(
    parameter TABLE = "twiddles.hex"
) (
    input  logic        clk,
    input  logic        enable,
    input  logic [ 9:0] row,
    output logic [63:0] word
);
  (* keep *) logic [9:0] taken;
  always_ff @(posedge clk) begin
    taken <= row;
    word  <= {54'b0, taken} ^ word;
  end
endmodule
