// One FFT processor without its memory: radix-16 unit, exchange of outputs for the inverse, 16 multipliers.
// Twelve registers deep, 16 words each cycle.
//
// Cycle 0: `lanes` in. 5: the transform. 6: operands of the multipliers. 12: `results` out. `exponents` come
// in cycle 0 as well; their factors are ready in cycle 5. The flags are those of the group whose transform is
// ready: they come in cycle 5.
module modmill_processor #(
    parameter integer EMBEDDED = 0,
    parameter TABLE = "twiddles.hex",
    parameter logic [7:0] SCALE = 8'd176
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [1023:0] lanes,
    input  logic [ 255:0] exponents,
    input  logic          scale,      // cycle 0: the factors are 2^SCALE
    input  logic          inverse,    // cycle 5: outputs k and 16 - k change places
    input  logic          product,    // cycle 5: multiply by `other` instead of the factors
    input  logic [1023:0] other,      // cycle 5: the other processor's transform
    output logic [1023:0] transform,  // cycle 5
    output logic [1023:0] results
);
  modmill_radix16 radix (
      .clk,
      .enable,
      .x(lanes),
      .y(transform)
  );
  for (genvar k = 0; k < 16; k++) begin : lane
    logic [63:0] factor, a, b;
    modmill_twiddle #(
        .TABLE(TABLE)
    ) twiddle (
        .clk,
        .enable,
        .exponent(exponents[16*k+:16]),
        .scale,
        .extra(SCALE),
        .y(factor)
    );
    always_ff @(posedge clk) begin
      if (enable) begin
        a <= inverse ? transform[64*((16-k)%16)+:64] : transform[64*k+:64];
        b <= product ? other[64*k+:64] : factor;
      end
    end
    modmill_mulmod #(
        .EMBEDDED(EMBEDDED)
    ) multiplier (
        .clk,
        .enable,
        .a,
        .b,
        .y(results[64*k+:64])
    );
  end
endmodule
