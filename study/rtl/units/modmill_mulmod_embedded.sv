// y = a b mod p by four products of 32 x 32 bits; see modmill_mulmod.
//
//   a b = a0 b0 + 2^32 (a0 b1 + a1 b0) + 2^64 a1 b1
//
// Registers 1 and 2: the products. Register 3: three rows of adders. Registers 4 to 6: the fold.
module modmill_mulmod_embedded (
    input  logic        clk,
    input  logic        enable,
    input  logic [63:0] a,
    input  logic [63:0] b,
    output logic [63:0] y
);
  localparam logic [95:0] MASK = {32'b0, {64{1'b1}}};
  // The shift by 32 wraps nothing. Two rows of adders, two words { h, ~h }.
  localparam logic [63:0] TOTAL = modmill_ring::plus(
      modmill_ring::rotated_constant(MASK, 64), modmill_ring::minus(64'd2 + 64'h1_FFFF_FFFE)
  );

  logic [63:0] low, middle0, middle1, high, low_2, middle0_2, middle1_2, high_2;
  logic [95:0] word0, word1;
  logic [4*96-1:0] rows;
  logic [2*96-1:0] words;
  assign rows = {
    modmill_ring::rotated({32'b0, high_2}, MASK, 64), middle1_2, 32'b0, middle0_2, 32'b0, 32'b0, low_2
  };
  modmill_ring_compress #(
      .ROWS  (4),
      .LEVELS(2),
      .OUT   (2)
  ) compress (
      .rows,
      .out(words)
  );

  always_ff @(posedge clk) begin
    if (enable) begin
      low            <= {32'b0, a[31:0]} * {32'b0, b[31:0]};
      middle0        <= {32'b0, a[31:0]} * {32'b0, b[63:32]};
      middle1        <= {32'b0, a[63:32]} * {32'b0, b[31:0]};
      high           <= {32'b0, a[63:32]} * {32'b0, b[63:32]};
      low_2          <= low;
      middle0_2      <= middle0;
      middle1_2      <= middle1;
      high_2         <= high;
      {word1, word0} <= words;
    end
  end

  modmill_fold #(
      .CONSTANT(TOTAL)
  ) fold (
      .clk,
      .enable,
      .w0(word0[63:0]),
      .w1({word0[95:64], ~word0[95:64]}),
      .w2(word1[63:0]),
      .w3({word1[95:64], ~word1[95:64]}),
      .carry_in(1'b0),
      .y
  );
endmodule
