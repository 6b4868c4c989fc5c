// Words and constants of the ring Z/(2^96 + 1), which all units share.
//
// p = 2^64 - 2^32 + 1 divides 2^96 + 1, so arithmetic modulo p may be done modulo 2^96 + 1. There
// a multiplication by 2^s is a rotation of 96 wires, and a bit that leaves at the top comes back at
// the bottom with the opposite sign. A negative bit -b is written as ~b - 1: the word holds ~b, and
// the constant -1 is known when the design is elaborated. The constants of a whole sum are added up
// here and enter its fold as one word, so no negative number is ever formed.
//
// The thesis rotates 192 wires (section 5.2, 2^192 = 1). The ring above halves that width, and the
// words that are registered, added and folded with it.
package modmill_ring;
  localparam logic [63:0] P = 64'hFFFF_FFFF_0000_0001;

  // x 2^shift mod p for 0 <= shift < 192. Only for constants.
  function automatic [63:0] shifted(input [63:0] x, input integer shift);
    logic [255:0] wide;
    wide = {192'b0, x} << shift;
    wide = wide % {192'b0, P};
    shifted = wide[63:0];
  endfunction

  // x + y mod p for x, y < p. Only for constants.
  function automatic [63:0] plus(input [63:0] x, input [63:0] y);
    logic [64:0] sum;
    sum = {1'b0, x} + {1'b0, y};
    plus = (sum >= {1'b0, P}) ? sum[63:0] - P : sum[63:0];
  endfunction

  // -x mod p for x < p. Only for constants.
  function automatic [63:0] minus(input [63:0] x);
    minus = (x == 0) ? 64'd0 : P - x;
  endfunction

  // Bits of a number 2^shift times as large as x, 0 <= shift < 192: bit i of the result is bit
  // i - shift of x, inverted once for every 96 places that it passed below bit 0.
  function automatic [95:0] turned(input [95:0] x, input integer shift);
    logic [287:0] unrolled;
    unrolled = {x, ~x, x} >> (192 - shift);
    turned = unrolled[95:0];
  endfunction

  // The places of `turned` that hold a 1 for every x whose bits outside `mask` are 0: inverted
  // zeros. A word is cleaned of them, because a full adder with a constant 0 is half the size.
  function automatic [95:0] padding(input [95:0] mask, input integer shift);
    padding = turned(96'b0, shift) & turned(mask, shift);
  endfunction

  // The ring word of x 2^shift, where x has its bits within `mask`.
  function automatic [95:0] rotated(input [95:0] x, input [95:0] mask, input integer shift);
    rotated = turned(x, shift) ^ padding(mask, shift);
  endfunction

  // x 2^shift = rotated(x, mask, shift) + rotated_constant(mask, shift) mod p.
  // For shift < 96, inverting the `shift` wrapped bits adds 2^shift - 1. For shift >= 96 all bits
  // are inverted, and -w = ~w + 2 mod 2^96 + 1.
  function automatic [63:0] rotated_constant(input [95:0] mask, input integer shift);
    logic [95:0] removed;
    logic [127:0] low;
    removed = padding(mask, shift);
    low = {32'b0, removed} % {64'b0, P};
    if (shift < 96) rotated_constant = plus(64'd1, minus(shifted(64'd1, shift)));
    else rotated_constant = plus(64'd1, shifted(64'd1, shift - 96));
    rotated_constant = plus(rotated_constant, low[63:0]);
  endfunction

  // A row of full adders: x + y + z = save_sum + save_carry - 1 in the ring. The carry out of bit
  // 95 has weight 2^96 = -1 and so comes back inverted.
  function automatic [95:0] save_sum(input [95:0] x, input [95:0] y, input [95:0] z);
    save_sum = x ^ y ^ z;
  endfunction

  function automatic [95:0] save_carry(input [95:0] x, input [95:0] y, input [95:0] z);
    logic [95:0] carry;
    carry = (x & y) | (x & z) | (y & z);
    save_carry = {carry[94:0], ~carry[95]};
  endfunction

  // The sum that the parts Y(n0, k0) of the 16-point transform lack of their true values: see modmill_radix16
  // for the differences, which are 2^64 too large, and modmill_radix4_parts for the rest.
  function automatic [63:0] part_constant(input integer k0);
    part_constant = 64'd0;
    if (k0 == 1) begin
      part_constant = plus(64'h1 + 64'hFFFF_FFFF + 64'hFFFF + 64'h1_0000, shifted(64'd1, 64));
      part_constant = minus(plus(part_constant, shifted(64'd1, 112)));
    end else if (k0 == 2) begin
      part_constant = minus(shifted(64'd1, 65));
    end else if (k0 == 3) begin
      part_constant = plus(plus(64'd1, shifted(64'hFFFF, 48)), shifted(64'hFFFF_FFFF, 32));
      part_constant = minus(plus(part_constant, shifted(64'd1, 64)));
      part_constant = plus(part_constant, shifted(64'd1, 112));
    end
  endfunction

  // The sum that the four parts of output k of the 16-point transform lack of their true values.
  function automatic [63:0] radix16_constant(input integer k);
    integer n0;
    radix16_constant = part_constant(k % 4);
    for (n0 = 1; n0 < 4; n0 = n0 + 1)
      radix16_constant = plus(radix16_constant, shifted(part_constant(k % 4), (12 * n0 * k) % 192));
  endfunction

  // The sum that the 34 words of modmill_mulmod_booth lack, with its 32 rows of adders and the two words { h,
  // ~h } of the fold.
  function automatic [63:0] booth_constant(input [95:0] mask, input [95:0] last_mask);
    integer i;
    booth_constant = minus(64'd32 + 64'h1_FFFF_FFFE);
    for (i = 0; i < 32; i = i + 1) begin
      booth_constant = plus(booth_constant, rotated_constant(mask, 2 * i));
      booth_constant = plus(booth_constant, minus(shifted(64'd1, 65 + 2 * i)));
    end
    booth_constant = plus(booth_constant, rotated_constant(last_mask, 64));
  endfunction
endpackage
