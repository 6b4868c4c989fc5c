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
#pragma once
#include "tensor.cuh"

enum { GROUP_BYTES = 512, MATRIX_BYTES = STEPS * GROUPS * GROUP_BYTES };

// The groups of chunk `index` of `chunks`: [first_group(index), first_group(index + 1)).
DEVICE constexpr int first_group(int index, int chunks) { return index * GROUPS / chunks; }

#if defined(MODMILL_EMULATOR)

// The same sums, the words of the quad exchanged one by one.
typedef const unsigned char* MatrixPlace;

template <int COUNT> DEVICE void start_product(u32* sums, const u32* words, MatrixPlace chunk) {
    u32 lane = threadIdx.x % 32, t = lane % 4;
    for (int i = 0; i < 8 * COUNT; i++) sums[i] = 0;
    for (int step = 0; step < STEPS; step++) {
        for (u32 r = 0; r < 16; r++) {
            u32 word = from_thread(words[4 * step + r % 4], r / 4, 4); // register r % 4 of lane r / 4
            u32 k = 16 * (r % 4 / 2) + 4 * (r / 4);
            for (int block = 0; block < 2 * COUNT; block++) {
                for (u32 side = 0; side < 2; side++) {
                    const unsigned char* column =
                        chunk + (step * COUNT * 2 + block) * 256 + k / 16 * 128 + (2 * t + side) * 16 + k % 16;
                    for (u32 byte = 0; byte < 4; byte++)
                        sums[4 * block + 2 * (r % 2) + side] += (word >> 8 * byte & 255) * column[byte];
                }
            }
        }
    }
}
DEVICE void finish_product() {}

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
#define WARPGROUP(COUNT, columns, a, b, c, d, m, p)                                               \
    template <> struct Warpgroup<COUNT> {                                                         \
        static DEVICE void multiply(u32* sums, const u32* words, u64 matrix, u32 add) {           \
            asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #p ", 0;\n\t"                  \
                         "wgmma.mma_async.sync.aligned.m64n" #columns "k32.s32.u8.u8 {"           \
                         REGISTERS_##COUNT "}, {%" #a ", %" #b ", %" #c ", %" #d "}, %" #m ", p;\n\t}" \
                         : SUMS_##COUNT                                                           \
                         : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "l"(matrix), "r"(add)); \
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

// Cores next to each other along the rows are 128 bytes apart, along the columns 256.
template <int COUNT> DEVICE void start_product(u32* sums, const u32* words, MatrixPlace chunk) {
    u64 matrix = (u64)((chunk & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        Warpgroup<COUNT>::multiply(sums, words + 4 * step, matrix + (u64)(step * COUNT * GROUP_BYTES >> 4), step > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
DEVICE void finish_product() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

#else

// Without warpgroups every warp multiplies for itself: the fragments have the same layout.
typedef const unsigned char* MatrixPlace;
DEVICE MatrixPlace matrix_place(const void* matrix) { return (MatrixPlace)matrix; }

template <int COUNT> DEVICE void start_product(u32* sums, const u32* words, MatrixPlace chunk) {
    u32 lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8 * COUNT; i++) sums[i] = 0;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int block = 0; block < 2 * COUNT; block++) {
            const u32* at = (const u32*)(chunk + (step * COUNT * 2 + block) * 256) + lane;
            add_product(sums + 4 * block, words + 4 * step, at[0], at[32]);
        }
    }
}
DEVICE void finish_product() {}

#endif
