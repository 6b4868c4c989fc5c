// y = a b mod p by Booth's radix-4 digits of b; see modmill_mulmod.
//
//   b = sum over i = 0 .. 32 of d_i 4^i,   d_i = b_(2i-1) + b_(2i) - 2 b_(2i+1)  in -2 .. 2
//
// Row i is d_i a 4^i. With m = |d_i| a < 2^65 and the sign s of d_i,
//   d_i a = (m xor s) + s + ~s 2^65 - 2^65,
// so a row is a word of 66 bits; the bits s of all rows make one more word, in places that are 2 apart.
// d_32 is b_63 and has no sign.
//
// Register 1: rows and two levels of adders, 34 words to 16. Register 2: 16 to 6 (three levels).
// Register 3: 6 to 2 (three levels). Registers 4 to 6: the fold.
module modmill_mulmod_booth (
    input  logic        clk,
    input  logic        enable,
    input  logic [63:0] a,
    input  logic [63:0] b,
    output logic [63:0] y
);
  localparam integer ROWS = 34;
  localparam logic [95:0] MASK = {30'b0, {66{1'b1}}};
  localparam logic [95:0] LAST_MASK = {32'b0, {64{1'b1}}};

  localparam logic [63:0] TOTAL = modmill_ring::booth_constant(MASK, LAST_MASK);

  logic [65:0] extended;
  logic [96*ROWS-1:0] rows;
  logic [95:0] signs;
  assign extended = {1'b0, b, 1'b0};
  for (genvar i = 0; i < 32; i++) begin : row
    logic once, twice, negative;
    logic [64:0] multiple;
    assign once = extended[2*i] ^ extended[2*i+1];
    assign twice = (extended[2*i+2] ^ extended[2*i+1]) & ~once;
    assign negative = extended[2*i+2];
    assign multiple = (({65{once}} & {1'b0, a}) | ({65{twice}} & {a, 1'b0})) ^ {65{negative}};
    assign rows[96*i+:96] = modmill_ring::rotated({30'b0, ~negative, multiple}, MASK, 2 * i);
    assign signs[2*i+:2] = {1'b0, negative};
  end
  assign signs[95:64] = 32'b0;
  assign rows[96*32+:96] = modmill_ring::rotated({32'b0, a & {64{b[63]}}}, LAST_MASK, 64);
  assign rows[96*33+:96] = signs;

  logic [16*96-1:0] words_1, saved_1;
  logic [6*96-1:0] words_2, saved_2;
  logic [2*96-1:0] words_3, saved_3;
  modmill_ring_compress #(.ROWS(34), .LEVELS(2), .OUT(16)) compress_1 (.rows, .out(words_1));
  modmill_ring_compress #(.ROWS(16), .LEVELS(3), .OUT(6)) compress_2 (.rows(saved_1), .out(words_2));
  modmill_ring_compress #(.ROWS(6), .LEVELS(3), .OUT(2)) compress_3 (.rows(saved_2), .out(words_3));

  always_ff @(posedge clk) begin
    if (enable) begin
      saved_1 <= words_1;
      saved_2 <= words_2;
      saved_3 <= words_3;
    end
  end

  modmill_fold #(
      .CONSTANT(TOTAL)
  ) fold (
      .clk,
      .enable,
      .w0(saved_3[63:0]),
      .w1({saved_3[95:64], ~saved_3[95:64]}),
      .w2(saved_3[96+:64]),
      .w3({saved_3[191:160], ~saved_3[191:160]}),
      .carry_in(1'b0),
      .y
  );
endmodule
