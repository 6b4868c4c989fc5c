// Carry resolver (section 5.5 of the thesis): 16 digits of the convolution a cycle become 16 digits of the
// product.
//
// A value v < 2^63 has the blocks v = v[0] + 2^24 v[1] + 2^48 v[2]. Register 1: z_i = v_i[0] + v_(i-1)[1] +
// v_(i-2)[2]. Register 2: y_i = z_i mod 2^24 + z_(i-1) div 2^24, at most 2^24 + 1. Register 3: all 16 carries
// at once by equation 5.7,
//   carry = ((generate << 1) + carry_in + critical) xor critical,
// with generate_i = (y_i >= 2^24), critical_i = (y_i = 2^24 - 1), and the digits (y_i + carry_i) mod 2^24.
// What reaches over the end of a word is kept for the next one; `first` marks the word that has none before
// it.
module modmill_resolver #(
    parameter integer DIGIT = 24
) (
    input  logic                 clk,
    input  logic                 aresetn,
    input  logic                 enable,
    input  logic                 in_valid,
    input  logic                 in_first,
    input  logic                 in_last,
    input  logic [       1023:0] values,
    output logic                 out_valid,
    output logic                 out_last,
    output logic [16*DIGIT-1:0]  digits
);
  localparam integer SUM = DIGIT + 2;
  logic valid_z, first_z, last_z, valid_y, first_y, last_y;

  // Step 1. `middles` and `highs` begin with the blocks of the values before the word: v_(-1)[1]; v_(-2)[2]
  // and v_(-1)[2].
  logic [16*SUM-1:0] sums, z;
  logic [DIGIT-1:0] middle_before;
  logic [2*DIGIT-1:0] high_before;
  logic [17*DIGIT-1:0] middles;
  logic [18*DIGIT-1:0] highs;
  assign middles[DIGIT-1:0] = in_first ? '0 : middle_before;
  assign highs[2*DIGIT-1:0] = in_first ? '0 : high_before;
  for (genvar i = 0; i < 16; i++) begin : blocks
    assign middles[DIGIT*(i+1)+:DIGIT] = values[64*i+DIGIT+:DIGIT];
    assign highs[DIGIT*(i+2)+:DIGIT] = DIGIT'(values[64*i+2*DIGIT+:64-2*DIGIT]);
    // Three words to two, and one addition.
    logic [DIGIT-1:0] low, middle, high;
    assign low = values[64*i+:DIGIT];
    assign middle = middles[DIGIT*i+:DIGIT];
    assign high = highs[DIGIT*i+:DIGIT];
    assign sums[SUM*i+:SUM] = {2'b0, low ^ middle ^ high} + {1'b0, (low & middle) | (low & high) | (middle & high), 1'b0};
  end

  // Step 2. `overflows` begins with z_(-1) div 2^DIGIT.
  logic [1:0] overflow_before;
  logic [17*2-1:0] overflows;
  logic [16*(DIGIT+1)-1:0] added, y;
  logic [15:0] will_be_critical;
  assign overflows[1:0] = first_z ? '0 : overflow_before;
  for (genvar i = 0; i < 16; i++) begin : additions
    assign overflows[2*(i+1)+:2] = z[SUM*i+DIGIT+:2];
    assign added[(DIGIT+1)*i+:DIGIT+1] = (DIGIT + 1)'(z[SUM*i+:DIGIT]) + (DIGIT + 1)'(overflows[2*i+:2]);
    // The sum is 2^DIGIT - 1, without waiting for it: the upper bits are ones and the lowest two are the
    // complement of the overflow.
    assign will_be_critical[i] = &z[SUM*i+2+:DIGIT-2] && z[SUM*i+:2] == ~overflows[2*i+:2];
  end

  // Step 3.
  logic carry_before;
  logic [15:0] generates, critical;
  logic [16:0] carries;
  logic [16*DIGIT-1:0] resolved;
  for (genvar i = 0; i < 16; i++) begin : digit
    assign generates[i] = y[(DIGIT+1)*i+DIGIT];
    // The sum does not wait for the carry, which comes last.
    assign resolved[DIGIT*i+:DIGIT] = carries[i] ? y[(DIGIT+1)*i+:DIGIT] + 1'b1 : y[(DIGIT+1)*i+:DIGIT];
  end
  modmill_lookahead lookahead (
      .generates,
      .critical,
      .carry_in(carry_before && !first_y),
      .carries
  );

  always_ff @(posedge clk) begin
    if (!aresetn) begin
      valid_z   <= 1'b0;
      valid_y   <= 1'b0;
      out_valid <= 1'b0;
    end else if (enable) begin
      valid_z   <= in_valid;
      valid_y   <= valid_z;
      out_valid <= valid_y;
    end
    if (enable) begin
      first_z <= in_first;
      last_z <= in_last;
      first_y <= first_z;
      last_y <= last_z;
      out_last <= last_y;
      z <= sums;
      middle_before <= middles[DIGIT*16+:DIGIT];
      high_before <= highs[DIGIT*16+:2*DIGIT];
      y <= added;
      critical <= will_be_critical;
      overflow_before <= overflows[2*16+:2];
      digits <= resolved;
      carry_before <= carries[16];
    end
  end
endmodule
