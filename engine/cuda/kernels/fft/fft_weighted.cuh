// Sums of numbers with small weights, word by word: coefficients of 2^(32 k) that `fft_carry.cuh` makes
// numbers of.
//
// Weights may be secret: every number is read, whatever its weight. A thread has one word of sixteen sums,
// and four numbers at a time: an instruction adds the products of four bytes of a column with four weights.
#pragma once

enum { WEIGHTED_SUMS = 16, WEIGHTED_NUMBERS = 4 };

// The argument of the kernel.
struct WeightedCall {
    Numbers numbers;
    const u32* weights; // for each sixteen sums, for each four numbers, for each sum four bytes
    u64* results;       // `length` coefficients of each sum
    u32 count;          // numbers, at most 2^16: sums of products of two bytes are below 2^32
    u32 sums;
    u32 length;         // a multiple of 32
    u32* flags;         // words to clear, no more than there are threads
    u32 flag_count;
};
static_assert(sizeof(WeightedCall) == 64 && AT(WeightedCall, numbers, 0) && AT(WeightedCall, weights, 16) &&
              AT(WeightedCall, results, 24) && AT(WeightedCall, count, 32) && AT(WeightedCall, sums, 36) &&
              AT(WeightedCall, length, 40) && AT(WeightedCall, flags, 48) && AT(WeightedCall, flag_count, 56),
              "WeightedCall, as in Rust");

struct alignas(16) WeightsOfFour {
    u32 sums[WEIGHTED_SUMS];
};

// Byte j of each of four words in word j.
DEVICE void turn(u32 (&words)[4]) {
    u32 even[2], odd[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        u32 a = words[2 * i], b = words[2 * i + 1];
        even[i] = a & 0x00ff00ff | (b & 0x00ff00ff) << 8;
        odd[i] = a >> 8 & 0x00ff00ff | b & 0xff00ff00;
    }
    words[0] = even[0] & 0xffff | even[1] << 16;
    words[1] = odd[0] & 0xffff | odd[1] << 16;
    words[2] = even[0] >> 16 | even[1] & 0xffff0000;
    words[3] = odd[0] >> 16 | odd[1] & 0xffff0000;
}

KERNEL(fft_weighted, WeightedCall) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < call.flag_count) call.flags[thread] = 0;
    u32 groups = (call.sums + WEIGHTED_SUMS - 1) / WEIGHTED_SUMS, group = blockIdx.x % groups;
    u32 at = blockIdx.x / groups * blockDim.x + threadIdx.x;
    if (at >= call.length) return;
    u32 fours = (call.count + WEIGHTED_NUMBERS - 1) / WEIGHTED_NUMBERS;
    const WeightsOfFour* weights = (const WeightsOfFour*)call.weights + (u64)group * fours;
    const u32* column = call.numbers.address + at;
    bool exists = at < call.numbers.length;
    u32 sums[WEIGHTED_SUMS][4];
#pragma unroll
    for (int i = 0; i < WEIGHTED_SUMS; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] = 0;
    }
#pragma unroll 2
    for (u32 four = 0; four < fours; four++) {
        u32 words[4];
#pragma unroll
        for (u32 i = 0; i < WEIGHTED_NUMBERS; i++) {
            // Numbers beyond the last are the last, without weight.
            u64 number = smaller(WEIGHTED_NUMBERS * four + i, call.count - 1);
            words[i] = exists ? column[number * call.numbers.stride] : 0;
        }
        turn(words);
        WeightsOfFour of_four = weights[four];
#pragma unroll
        for (int i = 0; i < WEIGHTED_SUMS; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) sums[i][j] = add_byte_products(sums[i][j], words[j], of_four.sums[i]);
        }
    }
#pragma unroll
    for (u32 i = 0; i < WEIGHTED_SUMS; i++) {
        u32 sum = group * WEIGHTED_SUMS + i;
        u64 total = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) total += (u64)sums[i][j] << (8 * j);
        if (sum < call.sums) call.results[(u64)sum * call.length + at] = total;
    }
}
