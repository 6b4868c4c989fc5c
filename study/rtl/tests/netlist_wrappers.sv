// Mapped units with the ports that unit_tb expects. Synthesis takes `enable` as a clock gate, and so it is
// one here; it changes while the clock is 0.
module radix16_netlist (
    input  logic          clk,
    input  logic          enable,
    input  logic [1023:0] x,
    output logic [1023:0] y
);
  radix16_top unit (.clk(clk && enable), .x(x), .y(y));
endmodule

module booth_netlist (
    input  logic         clk,
    input  logic         enable,
    input  logic [127:0] x,
    output logic [ 63:0] y
);
  mulmod_top unit (.clk(clk && enable), .a(x[127:64]), .b(x[63:0]), .y(y));
endmodule
