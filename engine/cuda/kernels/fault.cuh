// Faults for tests: flips a bit in each of some equal parts of memory.
#pragma once

struct FlipCall {
    u32* words;
    u32 length;
    u32 parts;
    u32 seed;
};
static_assert(sizeof(FlipCall) == 24 && AT(FlipCall, words, 0) && AT(FlipCall, length, 8) &&
              AT(FlipCall, parts, 12) && AT(FlipCall, seed, 16), "FlipCall, as in Rust");

KERNEL(flip, FlipCall) {
    u32 part = blockIdx.x * BLOCK + threadIdx.x;
    if (part >= call.parts) return;
    // Murmur's last steps mix seed and part.
    u32 mixed = (call.seed ^ part * 0x9e3779b9u) * 0x85ebca6bu;
    mixed = (mixed ^ mixed >> 13) * 0xc2b2ae35u;
    mixed ^= mixed >> 16;
    u32 size = call.length / call.parts, bit = mixed % (32 * size);
    call.words[part * size + bit / 32] ^= 1u << bit % 32;
}
