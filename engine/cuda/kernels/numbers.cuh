// Numbers as the host hands them to kernels. A structure that the host hands over has the same name, fields
// and offsets in Rust, and both sides assert the offsets.
#pragma once

// Numbers of a batch: item i starts at word i * stride, least significant word first. A stride of 0
// means one number for all items.
struct Numbers {
    const u32* address;
    u32 stride;
    u32 length; // words of a number; beyond it there are zeros
};
static_assert(sizeof(Numbers) == 16 && AT(Numbers, address, 0) && AT(Numbers, stride, 8) &&
              AT(Numbers, length, 12), "Numbers, as in Rust");

DEVICE const u32* row_of(const Numbers& operand, u32 item) {
    return operand.address + (u64)item * operand.stride;
}

// 32 bits of a number from bit `from` on.
DEVICE u32 word_at(const Numbers& operand, u32 item, u32 from) {
    const u32* row = row_of(operand, item);
    u32 at = from / 32, shift = from % 32;
    u32 low = at < operand.length ? row[at] : 0;
    u32 high = at + 1 < operand.length ? row[at + 1] : 0;
    return (u32)(pair_of(low, high) >> shift);
}
// Bits [from, from + count) of an exponent; `count` is below 32.
DEVICE u32 exponent_digit(const Numbers& b, u32 item, u32 from, u32 count) {
    return word_at(b, item, from) & ((1u << count) - 1);
}
