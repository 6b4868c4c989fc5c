// Base B's words within a product, which are the first factor of the product to base A.
//
//   set(group, row, word)   the word of a group of one of the two numbers that a lane has a part of
//   get(group, row)         the same word
//   reuse()                 before the first `set` of a product: the product before has read all words
//   publish()               after the last `set`: the tensor cores may read all words
//   first_factor()          what products take
#pragma once

#if SHARED_WORDS && !defined(MODMILL_EMULATOR)

// Base B's words in shared memory: for every warpgroup a matrix of 64 numbers and 8 STEPS words. It consists
// of cores of 8 numbers x 16 bytes, those of all groups one after the other, so that a group's words of a
// warp are in different banks.
struct WordsB {
    enum { CORE_WORDS = 32, ROW_CORES = 2 * STEPS, WARPGROUP_QUADS = 8 * ROW_CORES * CORE_WORDS / 4 };
    u32* own;  // this lane's word of the first group and number
    u64 first; // descriptor

    static DEVICE u32 quads() { return blockDim.x / 128 * WARPGROUP_QUADS; }

    DEVICE void open(Quad* pool) {
        u32 warp = threadIdx.x / 32;
        own = (u32*)(pool + warp / 4 * WARPGROUP_QUADS) + warp % 4 * (2 * ROW_CORES * CORE_WORDS) + threadIdx.x % 32;
        // All lanes have the same place. A compiler that knows it computes descriptors once for a warp.
        u32 place = __shfl_sync(0xffffffffu, (u32)__cvta_generic_to_shared(pool + warp / 4 * WARPGROUP_QUADS), 0);
        first = descriptor(place, ROW_CORES * CORE_WORDS * sizeof(u32));
        for (int i = 0; i < 2 * ROW_CORES; i++) own[i * CORE_WORDS] = 0;
    }

    DEVICE void set(int group, int row, u32 word) { own[(row * ROW_CORES + group) * CORE_WORDS] = word; }
    DEVICE u32 get(int group, int row) const { return own[(row * ROW_CORES + group) * CORE_WORDS]; }
    DEVICE u64 first_factor() const {
        u32 low = (u32)first;
        asm volatile("mov.u32 %0, %1;" : "=r"(low) : "r"(low));
        return (first >> 32) << 32 | __shfl_sync(0xffffffffu, low, 0);
    }

    // Waits for the other warps of the warpgroup.
    DEVICE void reuse() const { asm volatile("bar.sync %0, 128;" ::"r"(1 + threadIdx.x / 128) : "memory"); }
    DEVICE void publish() const {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        reuse();
    }
};

#else

// Base B's words in registers.
struct WordsB {
    u32 word[4 * STEPS];

    static DEVICE u32 quads() { return 0; }
    DEVICE void open(Quad*) {
#pragma unroll
        for (int i = 0; i < 4 * STEPS; i++) word[i] = 0;
    }
    DEVICE void set(int group, int row, u32 value) { word[2 * group + row] = value; }
    DEVICE u32 get(int group, int row) const { return word[2 * group + row]; }
    DEVICE const u32* first_factor() const { return word; }
    DEVICE void reuse() const {}
    DEVICE void publish() const {}
};

#endif
