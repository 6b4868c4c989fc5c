// A memory bank with one read port and one write port. Data follow the read address by one cycle. A row must
// not be read in the cycle in which it is written.
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
  logic [WIDTH-1:0] words[0:WORDS-1];
  always_ff @(posedge clk) begin
    if (read_enable) read_data <= words[read_row];
    if (write_enable) words[write_row] <= write_data;
  end
endmodule
