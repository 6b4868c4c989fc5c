// Factor of one lane: y = w^exponent 2^extra mod p, w a 65536-th root of unity, five registers deep.
//
// The table holds w^i for i = 0 .. 1023. w^1024 = 8, so
//   w^e = table[e mod 1024] 2^(3 (e div 1024)),
// and a word times 2^s, s = 96 negative + shift, is cut where its bits pass 2^64 and 2^96:
//   x 2^shift = low + 2^64 h + 2^96 g = low + { h, ~h } + ~g - (2^32 - 1) - (2^64 - 1) mod p,
// and its negative is ~low + { ~h, h } + g - (2^64 - 1) - (2^32 - 1) 2^32.
//
// Register 1: the table's word and the shift. Register 2: the shifted word. Registers 3 to 5: the fold.
module modmill_twiddle #(
    // The file that `$readmemh` fills the table from.
    parameter TABLE = "twiddles.hex"
) (
    input  logic        clk,
    input  logic        enable,
    input  logic [15:0] exponent,
    input  logic        scale,     // take 2^EXTRA instead of 2^(3 (e div 1024))
    input  logic [ 7:0] extra,     // 0 .. 191
    output logic [63:0] y
);
  localparam logic [63:0] POSITIVE = modmill_ring::minus(modmill_ring::plus(64'hFFFF_FFFF, 64'hFFFF_FFFE));
  localparam logic [63:0] NEGATIVE = modmill_ring::minus(modmill_ring::plus(64'hFFFF_FFFE, modmill_ring::shifted(64'hFFFF_FFFF, 32)));

  logic [7:0] power;
  assign power = scale ? extra : {2'b0, exponent[15:10]} + {1'b0, exponent[15:10], 1'b0};

  logic [63:0] word;
  modmill_table #(
      .TABLE(TABLE)
  ) table_of_powers (
      .clk,
      .enable,
      .row(exponent[9:0]),
      .word
  );
  logic [6:0] shift;
  logic negative, negative_2;
  logic [159:0] moved, moved_2;
  assign moved = {96'b0, word} << shift;
  always_ff @(posedge clk) begin
    if (enable) begin
      negative <= power >= 8'd96;
      shift <= (power >= 8'd96) ? 7'(power - 8'd96) : power[6:0];
      negative_2 <= negative;
      moved_2 <= moved;
    end
  end

  logic [63:0] low, high;
  logic [31:0] middle;
  assign {high, middle, low} = moved_2;
  modmill_fold fold (
      .clk,
      .enable,
      .w0(negative_2 ? ~low : low),
      .w1(negative_2 ? {~middle, middle} : {middle, ~middle}),
      .w2(negative_2 ? high : ~high),
      .w3(negative_2 ? NEGATIVE : POSITIVE),
      .carry_in(1'b0),
      .y
  );
endmodule
