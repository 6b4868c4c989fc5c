// The units with the ports that unit_tb expects.
module radix16_unit (
    input  logic          clk,
    input  logic          enable,
    input  logic [1023:0] x,
    output logic [1023:0] y
);
  modmill_radix16 unit (.clk(clk), .enable(enable), .x(x), .y(y));
endmodule

module thesis_radix16_unit (
    input  logic          clk,
    input  logic          enable,
    input  logic [1024:0] x,
    output logic [1023:0] y
);
  // The direction goes with the data.
  thesis_radix16 #(
      .BOTH(1)
  ) unit (
      .clk(clk),
      .enable(enable),
      .inverse(x[1024]),
      .x(x[1023:0]),
      .y(y)
  );
endmodule

module booth_unit (
    input  logic         clk,
    input  logic         enable,
    input  logic [127:0] x,
    output logic [ 63:0] y
);
  modmill_mulmod #(.EMBEDDED(0)) unit (.clk(clk), .enable(enable), .a(x[127:64]), .b(x[63:0]), .y(y));
endmodule

module embedded_unit (
    input  logic         clk,
    input  logic         enable,
    input  logic [127:0] x,
    output logic [ 63:0] y
);
  modmill_mulmod #(.EMBEDDED(1)) unit (.clk(clk), .enable(enable), .a(x[127:64]), .b(x[63:0]), .y(y));
endmodule

module fold_unit (
    input  logic         clk,
    input  logic         enable,
    input  logic [256:0] x,
    output logic [ 63:0] y
);
  modmill_fold #(
      .CONSTANT(64'hFFFF_FFFF_0000_0000)  // p - 1, the largest
  ) unit (
      .clk(clk),
      .enable(enable),
      .w0(x[63:0]),
      .w1(x[127:64]),
      .w2(x[191:128]),
      .w3(x[255:192]),
      .carry_in(x[256]),
      .y(y)
  );
endmodule

module twiddle_unit (
    input  logic        clk,
    input  logic        enable,
    input  logic [24:0] x,
    output logic [63:0] y
);
  modmill_twiddle #(
      .TABLE(`TABLE)
  ) unit (
      .clk(clk),
      .enable(enable),
      .exponent(x[15:0]),
      .extra(x[23:16]),
      .scale(x[24]),
      .y(y)
  );
endmodule
