// Table of 1024 words of 64 bits, w^i for i = 0 .. 1023, with one read port. The word follows its row by one
// cycle. The RTL's only constant memory.
module modmill_table #(
    // The file that `$readmemh` fills the table from.
    parameter TABLE = "twiddles.hex"
) (
    input  logic        clk,
    input  logic        enable,
    input  logic [ 9:0] row,
    output logic [63:0] word
);
  logic [63:0] words[0:1023];
  initial $readmemh(TABLE, words);
  always_ff @(posedge clk) if (enable) word <= words[row];
endmodule
