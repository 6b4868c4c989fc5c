// The table that a thread keeps in the scratch memory of the grid: entries of QUADS quads, a family's own
// encoding of a number or of the thread's part of it.
#pragma once

// Quads of a warp lie side by side, so that a warp reads whole lines; those of a thread are STEP apart, a
// constant, so that no address but the entry's has to be found or kept.
struct Table {
    enum { STEP = 32 };
    Quad* first;
    u32 size; // quads of an entry over all threads

    DEVICE void open(Quad* scratch) {
        u32 thread = blockIdx.x * BLOCK + threadIdx.x;
        first = scratch + (u64)(thread / STEP) * (STEP * QUADS) + thread % STEP;
        size = gridDim.x * BLOCK * QUADS;
    }

    // Quad i of an entry is at i * STEP.
    DEVICE Quad* entry(u32 index) const { return first + (u64)index * size; }

    // Copies the entries that `digits` name to those from `entries` on, by reading all `entries`, so that no
    // address depends on a digit. It is the memory that limits this: one reading serves AT_ONCE digits,
    // and READ_AHEAD candidates are on their way at a time, fewer where registers have to last for many
    // threads. A word is one SEL in machine code, and a candidate as many instructions for every digit.
    enum { AT_ONCE = QUADS <= 2 ? 4 : 8, READ_AHEAD = AT_ONCE / 2 };
    DEVICE void choose(const u32* digits, u32 entries) const {
        assume_global(first);
#pragma unroll 1
        for (int i = 0; i < QUADS; i++) {
            Quad chosen[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) chosen[k] = Quad{{0, 0, 0, 0}};
#pragma unroll READ_AHEAD
            for (u32 candidate = 0; candidate < entries; candidate++) {
                Quad quad = entry(candidate)[i * STEP];
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++) {
                    bool is_it = candidate == digits[k];
#pragma unroll
                    for (int j = 0; j < 4; j++) chosen[k].word[j] = is_it ? quad.word[j] : chosen[k].word[j];
                }
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) entry(entries + k)[i * STEP] = chosen[k];
        }
    }
};
