// Carry resolver of 32 columns (section 7.3.2 of the thesis), three registers deep, for digits of 16 or 24
// bits.
//
// A value v has the blocks v = v[0] + 2^DIGIT v[1] + 2^(2 DIGIT) v[2] + ... Register 1: z_i = sum over k of
// v_(i-k)[k], below 2^(DIGIT+2). Register 2: y_i = z_i mod 2^DIGIT + z_(i-1) div 2^DIGIT, at most
// 2^DIGIT + 2. Register 3: all carries by equation 5.7, and the digits. `first_z`, `first_y` and `first_c`
// mark the first word of a number in the three steps.
module modmill_modular_resolver #(
    parameter integer DIGIT = 16
) (
    input  logic                clk,
    input  logic                first_z,
    input  logic                first_y,
    input  logic                first_c,
    input  logic [     2047:0]  values,
    output logic [32*DIGIT-1:0] digits
);
  localparam integer BLOCKS = (64 + DIGIT - 1) / DIGIT;
  localparam integer SUM = DIGIT + 2;

  // The last BLOCKS - 1 values of the word before stand below the word.
  logic [64*(BLOCKS-1)-1:0] kept;
  logic [64*(32+BLOCKS-1)-1:0] row;
  assign row = {values, first_z ? {64 * (BLOCKS - 1) {1'b0}} : kept};

  logic [32*SUM-1:0] sums, z;
  for (genvar i = 0; i < 32; i++) begin : columns
    // Carry-save adders bring the blocks to two words, one block at a time.
    logic [SUM*BLOCKS-1:0] saved, carried;
    for (genvar k = 0; k < BLOCKS; k++) begin : block
      logic [63:0] value;
      logic [SUM-1:0] part, s, c;
      assign value = row[64*(i+BLOCKS-1-k)+:64] >> (DIGIT * k);
      assign part = SUM'(value[DIGIT-1:0]);
      if (k == 0) begin : first
        assign s = part;
        assign c = '0;
      end else begin : next
        logic [SUM-1:0] s_before, c_before, majority;
        assign s_before = saved[SUM*(k-1)+:SUM];
        assign c_before = carried[SUM*(k-1)+:SUM];
        assign majority = (s_before & c_before) | (s_before & part) | (c_before & part);
        assign s = s_before ^ c_before ^ part;
        assign c = {majority[SUM-2:0], 1'b0};
      end
      assign saved[SUM*k+:SUM] = s;
      assign carried[SUM*k+:SUM] = c;
    end
    assign sums[SUM*i+:SUM] = saved[SUM*(BLOCKS-1)+:SUM] + carried[SUM*(BLOCKS-1)+:SUM];
  end

  logic [1:0] overflow_before;
  logic [32*(DIGIT+1)-1:0] added, y;
  logic [31:0] will_be_critical;
  for (genvar i = 0; i < 32; i++) begin : additions
    logic [1:0] overflow;
    if (i == 0) begin : head
      assign overflow = first_y ? 2'b0 : overflow_before;
    end else begin : tail
      assign overflow = z[SUM*(i-1)+DIGIT+:2];
    end
    assign added[(DIGIT+1)*i+:DIGIT+1] = (DIGIT + 1)'(z[SUM*i+:DIGIT]) + (DIGIT + 1)'(overflow);
    // The sum is 2^DIGIT - 1, without waiting for it: the upper bits are ones and the lowest two are the
    // complement of the overflow.
    assign will_be_critical[i] = &z[SUM*i+2+:DIGIT-2] && z[SUM*i+:2] == ~overflow;
  end

  logic carry_before;
  logic [31:0] generates, critical;
  logic [32:0] carries;
  logic [32*DIGIT-1:0] resolved;
  for (genvar i = 0; i < 32; i++) begin : digit
    assign generates[i] = y[(DIGIT+1)*i+DIGIT];
    // The sum does not wait for the carry, which comes last.
    assign resolved[DIGIT*i+:DIGIT] = carries[i] ? y[(DIGIT+1)*i+:DIGIT] + 1'b1 : y[(DIGIT+1)*i+:DIGIT];
  end
  modmill_lookahead #(
      .COUNT(32)
  ) lookahead (
      .generates,
      .critical,
      .carry_in(carry_before && !first_c),
      .carries
  );

  always_ff @(posedge clk) begin
    kept <= values[2047-:64*(BLOCKS-1)];
    z <= sums;
    overflow_before <= z[SUM*31+DIGIT+:2];
    y <= added;
    critical <= will_be_critical;
    carry_before <= carries[32];
    digits <= resolved;
  end
endmodule
