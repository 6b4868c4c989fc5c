// 16-point transform over p = 2^64 - 2^32 + 1, one each cycle, five registers deep:
//
//   y_k = sum over n = 0 .. 15 of x_n 2^(12 n k) mod p,   x_n < 2^64,   y_k < p
//
// (equation 5.2 of the thesis). The thesis adds 16 rotated words of 192 bits for each of the 16
// outputs. Here four 4-point transforms come first, with n = 4 n1 + n0 and k = 4 k1 + k0:
//
//   Y(n0, k0) = sum over n1 of x_(4 n1 + n0) 2^(48 n1 k0),   y_k = sum over n0 of Y(n0, k0) 2^(12 n0 k)
//
// and their results, of 66 bits, are shared by four outputs each.
//
// Register 1: x_n + x_(n+8) and x_n - x_(n+8). Register 2: Y. Registers 3 to 5: modmill_radix16_lane.
module modmill_radix16 (
    input  logic            clk,
    input  logic            enable,
    input  logic [1023:0] x,
    output logic [1023:0] y
);
  // Register 1: sums, and differences with 2^64 added.
  logic [8*65-1:0] sums, differences;
  always_ff @(posedge clk) begin
    if (enable) begin
      for (int n = 0; n < 8; n++) begin
        sums[65*n+:65] <= {1'b0, x[64*n+:64]} + {1'b0, x[64*(n+8)+:64]};
        differences[65*n+:65] <= {1'b0, x[64*n+:64]} + {1'b0, ~x[64*(n+8)+:64]} + 65'd1;
      end
    end
  end

  // Register 2: part n0 + 4 k0 is Y(n0, k0) less `part_constant(k0)`.
  logic [16*66-1:0] parts;
  for (genvar n0 = 0; n0 < 4; n0++) begin : quarter
    modmill_radix4_parts parts_of (
        .clk,
        .enable,
        .sum0(sums[65*n0+:65]),
        .sum1(sums[65*(n0+4)+:65]),
        .difference0(differences[65*n0+:65]),
        .difference1(differences[65*(n0+4)+:65]),
        .part0(parts[66*n0+:66]),
        .part1(parts[66*(n0+4)+:66]),
        .part2(parts[66*(n0+8)+:66]),
        .part3(parts[66*(n0+12)+:66])
    );
  end

  for (genvar k = 0; k < 16; k++) begin : lane
    modmill_radix16_lane #(
        .LANE(k),
        .CONSTANT(modmill_ring::radix16_constant(k))
    ) sum_of_parts (
        .clk,
        .enable,
        .part0(parts[66*(4*(k%4))+:66]),
        .part1(parts[66*(4*(k%4)+1)+:66]),
        .part2(parts[66*(4*(k%4)+2)+:66]),
        .part3(parts[66*(4*(k%4)+3)+:66]),
        .y(y[64*k+:64])
    );
  end
endmodule
