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
