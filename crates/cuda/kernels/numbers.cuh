// Numbers as the host hands them to kernels. The Rust side has the same structure, field by field.
#pragma once

// Numbers of a batch: item i starts at word i * stride, least significant word first. A stride of 0
// means one number for all items.
struct Operand {
    const u32* words;
    u32 stride;
    u32 length; // words of a number; beyond it there are zeros
};

DEVICE const u32* row_of(const Operand& operand, u32 item) {
    return operand.words + (u64)item * operand.stride;
}

// 32 bits of a number from bit `from` on.
DEVICE u32 word_at(const Operand& operand, u32 item, u32 from) {
    const u32* row = row_of(operand, item);
    u32 at = from / 32, shift = from % 32;
    u32 low = at < operand.length ? row[at] : 0;
    u32 high = at + 1 < operand.length ? row[at + 1] : 0;
    return (u32)(pair_of(low, high) >> shift);
}
// Bits [from, from + count) of an exponent; `count` is below 32.
DEVICE u32 exponent_digit(const Operand& b, u32 item, u32 from, u32 count) {
    return word_at(b, item, from) & ((1u << count) - 1);
}
