// The 16-point transform in the thesis's way (figure 5.2): 16 independent sums of 16 shifted words. Same
// interface, depth and results as modmill_radix16; BOTH = 1 adds the choice of direction (equation 5.3).
module thesis_radix16 #(
    parameter integer BOTH = 0
) (
    input  logic          clk,
    input  logic          enable,
    input  logic          inverse,
    input  logic [1023:0] x,
    output logic [1023:0] y
);
  for (genvar k = 0; k < 16; k++) begin : lane
    thesis_sum16 #(
        .LANE(k),
        .BOTH(BOTH)
    ) sum (
        .clk,
        .enable,
        .inverse,
        .x,
        .y(y[64*k+:64])
    );
  end
endmodule
