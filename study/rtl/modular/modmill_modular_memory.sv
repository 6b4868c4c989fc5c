// 32 banks of 32 rows. Position n = 32 n1 + n0 is in bank (n0 + n1) mod 32, row n1.
//
// A group is named by a number g and a direction. Along a row (`down` = 0) it has the positions 32 g + l, l =
// 0 .. 31; down a column (`down` = 1) the positions 32 l + g. In both cases lane l is in bank (l + g) mod 32,
// in row g or l.
module modmill_modular_memory #(
    parameter integer WIDTH = 64
) (
    input  logic                clk,
    input  logic                read_enable,
    input  logic                read_down,
    input  logic [         4:0] read_group,
    output logic [32*WIDTH-1:0] read_data,   // of bank 0 to bank 31
    input  logic                write_enable,
    input  logic                write_down,
    input  logic [         4:0] write_group,
    input  logic [32*WIDTH-1:0] write_data   // for bank 0 to bank 31
);
  for (genvar i = 0; i < 32; i++) begin : banks
    localparam logic [4:0] BANK = i;
    modmill_bank #(
        .WIDTH  (WIDTH),
        .ADDRESS(5)
    ) bank (
        .clk,
        .read_enable,
        .read_row(read_down ? BANK - read_group : read_group),
        .read_data(read_data[WIDTH*i+:WIDTH]),
        .write_enable,
        .write_row(write_down ? BANK - write_group : write_group),
        .write_data(write_data[WIDTH*i+:WIDTH])
    );
  end
endmodule
