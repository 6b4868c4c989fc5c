// One of four words of WIDTH bits: y is word `number` of x. Purely combinational. Written out, because a part
// of a vector at an address that is not constant becomes a shifter of the whole vector in some tools.
module modmill_modular_choice #(
    parameter integer WIDTH = 2048
) (
    input  logic [        1:0] number,
    input  logic [4*WIDTH-1:0] x,
    output logic [  WIDTH-1:0] y
);
  assign y = number[1] ? (number[0] ? x[3*WIDTH+:WIDTH] : x[2*WIDTH+:WIDTH])
                       : (number[0] ? x[WIDTH+:WIDTH] : x[0+:WIDTH]);
endmodule
