// Sums of products of transforms that were kept, point by point: for each term one transform times a sum of
// transforms.
//
// A block has 64 points of four sums, so that a warp computes one sum and follows one list. Sums that stand
// together often share their transforms, whose points are then in the block's cache.
#pragma once

enum { SUM_POINTS = 64 };

// The argument of the kernel.
struct SumsCall {
    u64* results;              // `length` points for each sum
    const u32* ends;           // for each sum the number of terms up to its end, after the number before the first sum
    const u32* rights_ends;    // for each term the number of right factors up to its end, after a zero
    const u64* const* lefts;   // for each term the transform of its left factor
    const u64* const* rights;  // transforms
    u32 length;                // points of a transform, a multiple of 64
    u32 count;                 // sums
    u32* flags;                // words to clear, no more than there are threads
    u32 flag_count;
};
static_assert(sizeof(SumsCall) == 64 && AT(SumsCall, results, 0) && AT(SumsCall, ends, 8) &&
              AT(SumsCall, rights_ends, 16) && AT(SumsCall, lefts, 24) && AT(SumsCall, rights, 32) &&
              AT(SumsCall, length, 40) && AT(SumsCall, count, 44) && AT(SumsCall, flags, 48) &&
              AT(SumsCall, flag_count, 56), "SumsCall, as in Rust");

KERNEL(fft_sums, SumsCall) {
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < call.flag_count) call.flags[thread] = 0;
    u32 sums = blockDim.x / SUM_POINTS, groups = (call.count + sums - 1) / sums;
    u32 sum = blockIdx.x % groups * sums + threadIdx.x / SUM_POINTS;
    u32 point = blockIdx.x / groups * SUM_POINTS + threadIdx.x % SUM_POINTS;
    if (sum >= call.count) return;
    u32 term = call.ends[sum], last = call.ends[sum + 1];
    u32 right = call.rights_ends[term];
    Lazy total = lazy(0); // fewer than 2^31 words
    for (; term < last; term++) {
        u32 end = call.rights_ends[term + 1];
        Lazy added = lazy(0);
#pragma unroll 4
        for (; right < end; right++) added = added + lazy(call.rights[right][point]);
        total = total + lazy(product(folded(added), call.lefts[term][point]));
    }
    call.results[(u64)sum * call.length + point] = folded(total);
}
