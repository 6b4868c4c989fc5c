// Interchange unit: turns 16 words by `amount` places, y_i = x_((i + amount) mod 16). Purely combinational;
// four rows of two-way choices.
module modmill_rotate #(
    parameter integer WIDTH = 64
) (
    input  logic [         3:0] amount,
    input  logic [16*WIDTH-1:0] x,
    output logic [16*WIDTH-1:0] y
);
  logic [16*WIDTH-1:0] by1, by2, by4;
  assign by1 = amount[0] ? {x[WIDTH-1:0], x[16*WIDTH-1:WIDTH]} : x;
  assign by2 = amount[1] ? {by1[2*WIDTH-1:0], by1[16*WIDTH-1:2*WIDTH]} : by1;
  assign by4 = amount[2] ? {by2[4*WIDTH-1:0], by2[16*WIDTH-1:4*WIDTH]} : by2;
  assign y   = amount[3] ? {by4[8*WIDTH-1:0], by4[16*WIDTH-1:8*WIDTH]} : by4;
endmodule
