// Interchange unit of 32 words: y_i = x_((i + amount) mod 32). Purely combinational; five rows of two-way
// choices.
module modmill_modular_rotate #(
    parameter integer WIDTH = 64
) (
    input  logic [         4:0] amount,
    input  logic [32*WIDTH-1:0] x,
    output logic [32*WIDTH-1:0] y
);
  logic [32*WIDTH-1:0] by1, by2, by4, by8;
  assign by1 = amount[0] ? {x[WIDTH-1:0], x[32*WIDTH-1:WIDTH]} : x;
  assign by2 = amount[1] ? {by1[2*WIDTH-1:0], by1[32*WIDTH-1:2*WIDTH]} : by1;
  assign by4 = amount[2] ? {by2[4*WIDTH-1:0], by2[32*WIDTH-1:4*WIDTH]} : by2;
  assign by8 = amount[3] ? {by4[8*WIDTH-1:0], by4[32*WIDTH-1:8*WIDTH]} : by4;
  assign y   = amount[4] ? {by8[16*WIDTH-1:0], by8[32*WIDTH-1:16*WIDTH]} : by8;
endmodule
