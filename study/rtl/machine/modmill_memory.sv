// Sixteen banks that are read and written side by side, each in a row of its own.
module modmill_memory #(
    parameter integer WIDTH = 64,
    parameter integer ADDRESS = 12
) (
    input  logic                  clk,
    input  logic                  read_enable,
    input  logic [16*ADDRESS-1:0] read_rows,
    output logic [  16*WIDTH-1:0] read_data,
    input  logic                  write_enable,
    input  logic [16*ADDRESS-1:0] write_rows,
    input  logic [  16*WIDTH-1:0] write_data
);
  for (genvar i = 0; i < 16; i++) begin : banks
    modmill_bank #(
        .WIDTH  (WIDTH),
        .ADDRESS(ADDRESS)
    ) bank (
        .clk,
        .read_enable,
        .read_row(read_rows[ADDRESS*i+:ADDRESS]),
        .read_data(read_data[WIDTH*i+:WIDTH]),
        .write_enable,
        .write_row(write_rows[ADDRESS*i+:ADDRESS]),
        .write_data(write_data[WIDTH*i+:WIDTH])
    );
  end
endmodule
