// Sums of numbers with small weights, word by word: coefficients of 2^(32 k) that `fft_carry.cuh` makes numbers of.
//
// Weights may be secret: every number is read, whatever its weight. A thread has one word of sixteen sums.
#pragma once

enum { WEIGHTED_SUMS = 16 };

// The argument of the kernel.
struct WeightedCall {
    Numbers numbers;
    const u32* weights; // for each sixteen sums, for each number, sixteen octets
    u64* results;       // `length` coefficients of each sum, each below 255 2^32 times the count of numbers
    u32 count;          // numbers, at most 2^22
    u32 sums;
    u32 length;         // a multiple of 32
    u32* flags;         // words to clear, no more than there are threads
    u32 flag_count;
};
static_assert(sizeof(WeightedCall) == 64 && AT(WeightedCall, numbers, 0) && AT(WeightedCall, weights, 16) &&
              AT(WeightedCall, results, 24) && AT(WeightedCall, count, 32) && AT(WeightedCall, sums, 36) &&
              AT(WeightedCall, length, 40) && AT(WeightedCall, flags, 48) && AT(WeightedCall, flag_count, 56),
              "WeightedCall, as in Rust");

struct alignas(16) SixteenWeights {
    u32 words[4];
};

KERNEL(fft_weighted, WeightedCall) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < call.flag_count) call.flags[thread] = 0;
    u32 groups = (call.sums + WEIGHTED_SUMS - 1) / WEIGHTED_SUMS, group = blockIdx.x % groups;
    u32 at = blockIdx.x / groups * blockDim.x + threadIdx.x;
    if (at >= call.length) return;
    const SixteenWeights* weights = (const SixteenWeights*)call.weights + (u64)group * call.count;
    const u32* words = call.numbers.address + at;
    bool exists = at < call.numbers.length;
    u64 sums[WEIGHTED_SUMS];
#pragma unroll
    for (int i = 0; i < WEIGHTED_SUMS; i++) sums[i] = 0;
#pragma unroll 4
    for (u32 number = 0; number < call.count; number++) {
        u32 word = exists ? words[(u64)number * call.numbers.stride] : 0;
        SixteenWeights sixteen = weights[number];
#pragma unroll
        for (int i = 0; i < WEIGHTED_SUMS; i++)
            sums[i] += (u64)(sixteen.words[i / 4] >> (i % 4 * 8) & 0xff) * word;
    }
#pragma unroll
    for (u32 i = 0; i < WEIGHTED_SUMS; i++) {
        u32 sum = group * WEIGHTED_SUMS + i;
        if (sum < call.sums) call.results[(u64)sum * call.length + at] = sums[i];
    }
}
