// The base extension's product on the tensor cores: residue words by a constant matrix of bytes.
//
// A register of the first factor holds four bytes in a row, that is one residue word. The matrix's
// columns stand in the order (group, digit pair, lane of the quad, digit), so that lane t receives all
// four digit sums of exactly the channels whose words it feeds to the next product: numbers never
// change their layout.
//
// A matrix is multiplied by in chunks, as equal as can be, because their sums have to fit the registers:
// CHUNKS_B of them to base B, CHUNKS_A to base A. They lie one after the other; a chunk has for every step
// of 32 rows and every block of 8 columns two cores of 8 columns x 16 bytes.
//
// If SHARED_WORDS, there are too many groups for the registers, and base B's words lie in shared memory. All
// chunks of a matrix have the same number of groups then, LENGTH_B or LENGTH_A, so that one piece of code
// serves them. The last chunk to base B begins early enough, and computes some words again. The last chunk to
// base A has columns of zeros behind the last group. A chunk is too long for shared memory, and is multiplied
// by in PIECES pieces of steps, as equal as can be.
//
// If MERGED, every column to base A has one more word, that of its own channel. In a matrix that is one more
// step for every two groups of channels, which all columns but those of the two groups have zeros in. Only
// these columns are kept and multiplied by: a last step of the chunk, in which every two groups of columns
// have rows of their own.
#pragma once
#include "tensor.cuh"

enum { GROUP_BYTES = 512, MATRIX_BYTES = STEPS * GROUPS * GROUP_BYTES };

enum { LENGTH_B = (GROUPS + CHUNKS_B - 1) / CHUNKS_B, LENGTH_A = (GROUPS + CHUNKS_A - 1) / CHUNKS_A };

// The first step of a piece of a chunk.
DEVICE constexpr int first_step(int piece) { return piece * STEPS / PIECES; }

// The first group of chunk `index` to base B.
DEVICE constexpr int first_to_b(int index) {
    return !SHARED_WORDS ? index * GROUPS / CHUNKS_B
                         : index * LENGTH_B < GROUPS - LENGTH_B ? index * LENGTH_B : GROUPS - LENGTH_B;
}

// The number of groups of chunk `index` to base B.
DEVICE constexpr int count_to_b(int index) {
    return SHARED_WORDS ? (int)LENGTH_B : first_to_b(index + 1) - first_to_b(index);
}

// The groups of chunk `index` to base A: [first_to_a(index), first_to_a(index + 1)), some of which may be
// behind the last. If MERGED, chunks begin at even groups, because the words of two groups are multiplied at
// a time.
DEVICE constexpr int first_to_a(int index) {
    return SHARED_WORDS        ? index * LENGTH_A
           : !MERGED           ? index * GROUPS / CHUNKS_A
           : index == CHUNKS_A ? GROUPS
                               : 2 * (index * STEPS / CHUNKS_A);
}

// Steps of a chunk to base A in memory.
enum { STEPS_A = STEPS + MERGED };

// The words of a product's step.
DEVICE const u32* words_of(const u32* words, int step) { return words + 4 * step; }

#if defined(MODMILL_EMULATOR)

// The sums of `wgmma` on the emulator.
typedef const unsigned char* MatrixPlace;

// 16 bytes of two rows of the first factor. A word has one byte of each: one multiplication serves both rows.
struct RowPair {
    u64 bytes[16];

    // Every lane of the quad brings four bytes of each row.
    DEVICE RowPair(u32 first, u32 second) {
        const auto* words = emulator::arrive(pair_of(first, second)) + threadIdx.x % 32 / 4 * 4;
        for (u32 i = 0; i < 16; i++) bytes[i] = words[i / 4] >> i % 4 * 8 & 0x000000ff000000ffull;
    }

    // Adds the products with 16 rows of the matrix to four sums: those of a block's two columns of this lane.
    DEVICE void add_products(u32* sums, MatrixPlace core) const {
        for (u32 side = 0; side < 2; side++) {
            MatrixPlace column = core + (2 * (threadIdx.x % 4) + side) * 16;
            u64 sum = 0;
            for (u32 i = 0; i < 16; i++) sum += bytes[i] * column[i];
            sums[side] += low_of(sum);
            sums[2 + side] += high_of(sum);
        }
    }
};

template <int COUNT, int LENGTH = STEPS>
DEVICE void start_product(u32* sums, const u32* words, MatrixPlace chunk, bool adds = false) {
    for (int i = 0; i < 8 * COUNT && !adds; i++) sums[i] = 0;
    for (int half = 0; half < 2 * LENGTH; half++) { // of a step
        RowPair rows(words[2 * half], words[2 * half + 1]);
        MatrixPlace core = chunk + half / 2 * COUNT * 512 + half % 2 * 128;
        for (int block = 0; block < 2 * COUNT; block++) rows.add_products(sums + 4 * block, core + 256 * block);
    }
}
template <int COUNT> DEVICE void start_product_in_pairs(u32* sums, const u32* words, MatrixPlace chunk) {
    start_product<COUNT>(sums, words, chunk);
}
template <int COUNT> DEVICE void add_own_words(u32* sums, const u32* words, MatrixPlace chunk) {
    for (int group = 0; group < COUNT; group++) {
        RowPair rows(words[2 * group], words[2 * group + 1]);
        MatrixPlace core = chunk + STEPS * COUNT * 512 + group % 2 * 128;
        int pair = group / 2 * 4, end = 2 * COUNT < pair + 4 ? 2 * COUNT : pair + 4;
        for (int block = pair; block < end; block++) rows.add_products(sums + 4 * block, core + 256 * block);
    }
}
template <int UNDER_WAY = 0> DEVICE void finish_product() {}

#elif __CUDA_ARCH_FEAT_SM90_ALL

// One asynchronous product of a warpgroup: 64 numbers, 32 bytes of each, 16 COUNT columns.
template <int COUNT> struct Warpgroup;
#define REGISTERS_1 "%0, %1, %2, %3, %4, %5, %6, %7"
#define REGISTERS_2 REGISTERS_1 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define REGISTERS_3 REGISTERS_2 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define REGISTERS_4 REGISTERS_3 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_5 REGISTERS_4 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define REGISTERS_6 REGISTERS_5 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define REGISTERS_7 REGISTERS_6 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define REGISTERS_8 REGISTERS_7 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_9 REGISTERS_8 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define EIGHT(i)                                                                                  \
    "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3]), "+r"(sums[i + 4]),    \
        "+r"(sums[i + 5]), "+r"(sums[i + 6]), "+r"(sums[i + 7])
#define SUMS_1 EIGHT(0)
#define SUMS_2 SUMS_1, EIGHT(8)
#define SUMS_3 SUMS_2, EIGHT(16)
#define SUMS_4 SUMS_3, EIGHT(24)
#define SUMS_5 SUMS_4, EIGHT(32)
#define SUMS_6 SUMS_5, EIGHT(40)
#define SUMS_7 SUMS_6, EIGHT(48)
#define SUMS_8 SUMS_7, EIGHT(56)
#define SUMS_9 SUMS_8, EIGHT(64)
// `words` are registers, or the descriptor of words in shared memory.
#define WARPGROUP(COUNT, columns, a, b, c, d, m, p)                                               \
    template <> struct Warpgroup<COUNT> {                                                         \
        static DEVICE void multiply(u32* sums, const u32* words, u64 matrix, u32 add) {           \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #p ", 0;\n\t"                  \
                         "wgmma.mma_async.sync.aligned.m64n" #columns "k32.s32.u8.u8 {"           \
                         REGISTERS_##COUNT "}, {%" #a ", %" #b ", %" #c ", %" #d "}, %" #m ", p;\n\t}" \
                         : SUMS_##COUNT                                                           \
                         : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "l"(matrix), "r"(add)); \
        }                                                                                         \
        static DEVICE void multiply(u32* sums, u64 words, u64 matrix, u32 add) {                  \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #c ", 0;\n\t"                  \
                         "wgmma.mma_async.sync.aligned.m64n" #columns "k32.s32.u8.u8 {"           \
                         REGISTERS_##COUNT "}, %" #a ", %" #b ", p;\n\t}"                         \
                         : SUMS_##COUNT : "l"(words), "l"(matrix), "r"(add));                     \
        }                                                                                         \
    };
WARPGROUP(1, 16, 8, 9, 10, 11, 12, 13)
WARPGROUP(2, 32, 16, 17, 18, 19, 20, 21)
WARPGROUP(3, 48, 24, 25, 26, 27, 28, 29)
WARPGROUP(4, 64, 32, 33, 34, 35, 36, 37)
WARPGROUP(5, 80, 40, 41, 42, 43, 44, 45)
WARPGROUP(6, 96, 48, 49, 50, 51, 52, 53)
WARPGROUP(7, 112, 56, 57, 58, 59, 60, 61)
WARPGROUP(8, 128, 64, 65, 66, 67, 68, 69)
WARPGROUP(9, 144, 72, 73, 74, 75, 76, 77)

// An address in shared memory. After this the tensor cores may read what threads have written there.
typedef u32 MatrixPlace;
DEVICE MatrixPlace matrix_place(const void* matrix) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    return (u32)__cvta_generic_to_shared(matrix);
}

// The descriptor of a matrix: cores next to each other along the rows are 128 bytes apart, along the columns
// 256, or along the numbers of a first factor `distance`.
DEVICE u64 descriptor(MatrixPlace place, u32 distance = 256) {
    return (u64)((place & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(distance >> 4) << 32;
}

// The words of a product's step that are in shared memory.
DEVICE u64 words_of(u64 words, int step) { return words + (u64)(step * 256 >> 4); }

// LENGTH steps of a product with COUNT of the ALL groups of a chunk.
template <int COUNT, int ALL, int LENGTH, typename Words>
DEVICE void multiply_steps(u32* sums, Words words, u64 matrix, bool adds = false) {
#pragma unroll
    for (int step = 0; step < LENGTH; step++)
        Warpgroup<COUNT>::multiply(sums, words_of(words, step), matrix + (u64)(step * ALL * GROUP_BYTES >> 4),
                                   step > 0 || adds);
}

template <int COUNT, int LENGTH = STEPS, typename Words>
DEVICE void start_product(u32* sums, Words words, MatrixPlace chunk, bool adds = false) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply_steps<COUNT, COUNT, LENGTH>(sums, words, descriptor(chunk), adds);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// A product by two groups of columns at a time, which takes no longer: the compiler puts products one after
// the other if `add_own_words` adds to a part of the sums of one product (its warning C7511).
template <int COUNT> DEVICE void start_product_in_pairs(u32* sums, const u32* words, MatrixPlace chunk) {
    u64 matrix = descriptor(chunk);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int group = 0; group + 1 < COUNT; group += 2)
        multiply_steps<2, COUNT, STEPS>(sums + 8 * group, words, matrix + (u64)(group * GROUP_BYTES >> 4));
    if constexpr (COUNT % 2 != 0)
        multiply_steps<1, COUNT, STEPS>(sums + 8 * (COUNT - 1), words, matrix + (u64)((COUNT - 1) * GROUP_BYTES >> 4));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Adds the products of the words of the chunk's own channels.
template <int COUNT> DEVICE void add_own_words(u32* sums, const u32* words, MatrixPlace chunk) {
    u64 matrix = descriptor(chunk) + (u64)(STEPS * COUNT * GROUP_BYTES >> 4);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int group = 0; group + 1 < COUNT; group += 2)
        Warpgroup<2>::multiply(sums + 8 * group, words + 2 * group, matrix + (u64)(group * GROUP_BYTES >> 4), 1);
    if constexpr (COUNT % 2 != 0)
        Warpgroup<1>::multiply(sums + 8 * (COUNT - 1), words + 2 * (COUNT - 1),
                               matrix + (u64)((COUNT - 1) * GROUP_BYTES >> 4), 1);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until only the last UNDER_WAY products that were started are under way.
template <int UNDER_WAY = 0> DEVICE void finish_product() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(UNDER_WAY) : "memory");
}

#else

// Without warpgroups every warp multiplies for itself: the fragments have the same layout.
typedef const unsigned char* MatrixPlace;
DEVICE MatrixPlace matrix_place(const void* matrix) { return (MatrixPlace)matrix; }

template <int COUNT, int LENGTH = STEPS>
DEVICE void start_product(u32* sums, const u32* words, MatrixPlace chunk, bool adds = false) {
    u32 lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8 * COUNT && !adds; i++) sums[i] = 0;
#pragma unroll
    for (int step = 0; step < LENGTH; step++) {
#pragma unroll
        for (int block = 0; block < 2 * COUNT; block++) {
            const u32* at = (const u32*)(chunk + (step * COUNT * 2 + block) * 256) + lane;
            add_product(sums + 4 * block, words + 4 * step, at[0], at[32]);
        }
    }
}
template <int COUNT> DEVICE void start_product_in_pairs(u32* sums, const u32* words, MatrixPlace chunk) {
    start_product<COUNT>(sums, words, chunk);
}
template <int COUNT> DEVICE void add_own_words(u32* sums, const u32* words, MatrixPlace chunk) {
    u32 lane = threadIdx.x % 32;
#pragma unroll
    for (int block = 0; block < 2 * COUNT; block++) {
        const u32* at = (const u32*)(chunk + (STEPS * COUNT * 2 + block) * 256) + lane;
        add_product(sums + 4 * block, words + block / 4 * 4, at[0], at[32]);
    }
}
template <int UNDER_WAY = 0> DEVICE void finish_product() {}

#endif
