// The last step of Barrett's reduction: r = x - q d - k d, for the largest k that leaves it positive.
//
// The quotient q is at most 3 or 4 too small, so that x - q d is below 5 d. Of q d only y is there, congruent to it
// modulo 2^s - 1, where s is at least the bits of d's words. Upper words are added to those s bits below: the difference
// of x and y is then c (2^s - 1) less than x - q d, with a small c. Its lowest word tells c, because that of q d is the
// product of the lowest words of q and d.
//
// A block has an item: it finds the sign for every k, and then writes the one that is wanted. A thread has a chunk
// of eight words at a time.
#pragma once

enum { CHUNK = 8 };

// What the host hands to the kernel.
struct RemainderCall {
    Numbers x;         // numbers to be reduced
    Numbers y;         // quotients times the divisor, modulo 2^s - 1, with words beyond s bits
    Numbers divisor;
    Numbers halves;    // the two parts of the quotient, from bit `offset` on
    Numbers estimates;
    u32* results;
    u32 result_stride; // at most two words more than the divisor has; those are zero
    u32 length;        // words of the divisor
    u32 wrap;          // s, in words
    u32 offset;        // below 32
    u32 most;          // by which a quotient is too small at most
};
static_assert(sizeof(RemainderCall) == 112 && AT(RemainderCall, x, 0) && AT(RemainderCall, y, 16) &&
              AT(RemainderCall, divisor, 32) && AT(RemainderCall, halves, 48) &&
              AT(RemainderCall, estimates, 64) && AT(RemainderCall, results, 80) &&
              AT(RemainderCall, result_stride, 88) && AT(RemainderCall, length, 92) &&
              AT(RemainderCall, wrap, 96) && AT(RemainderCall, offset, 100) && AT(RemainderCall, most, 104),
              "RemainderCall, as in Rust");

// What is missing from the lowest word, -c: single-digit.
DEVICE int missing(const RemainderCall& call, u32 item) {
    u32 q = word_at(call.halves, item, call.offset) + word_at(call.estimates, item, call.offset);
    u32 upper = call.wrap < call.x.length ? row_of(call.x, item)[call.wrap] : 0;
    const u32* y = row_of(call.y, item);
    return (int)(y[0] + y[call.wrap] - upper - q * row_of(call.divisor, item)[0]);
}

// x - y - k d of a chunk, and two more than the borrow out of it, which may be -2 and is at most k + 2: every chunk
// but the first has two added. `adjustment` is what the lowest word has added, and the word s bits up taken.
DEVICE u32 subtract(const RemainderCall& call, u32 item, u32 k, u32 chunk, int adjustment, u32 (&words)[CHUNK]) {
    const u32 *x = row_of(call.x, item), *y = row_of(call.y, item), *d = row_of(call.divisor, item);
    long long rest = chunk == 0 ? adjustment : 2; // above -2^36, below 2^34
#pragma unroll
    for (u32 i = 0; i < CHUNK; i++) {
        u32 at = chunk * CHUNK + i, above = at + call.wrap;
        if (at < smaller(call.x.length, call.wrap)) rest += x[at];
        if (above < call.x.length) rest += x[above];
        if (at < call.wrap) rest -= y[at];
        if (above < call.y.length) rest -= y[above];
        if (at == call.wrap) rest -= adjustment;
        if (at < call.divisor.length) rest -= (long long)k * d[at];
        words[i] = (u32)rest;
        rest >>= 32;
    }
    return (u32)(2 - rest);
}

// words - number, and the borrow out of it.
DEVICE u32 take_from(u32 (&words)[CHUNK], u32 number) {
    words[0] = sub_cc(words[0], number);
#pragma unroll
    for (int i = 1; i < CHUNK; i++) words[i] = subc_cc(words[i], 0);
    return subc(0, 0) & 1;
}

DEVICE bool is_zero(const u32 (&words)[CHUNK]) {
    u32 any = words[0];
#pragma unroll
    for (int i = 1; i < CHUNK; i++) any |= words[i];
    return any == 0;
}

// x - y - k d, tile by tile from the lowest, two words more than d has; written if STORE. Returns whether it is
// negative: its highest word is all ones then.
template <bool STORE> DEVICE bool difference(const RemainderCall& call, u32 k, int adjustment, u32* shared) {
    u32 item = blockIdx.x, thread = threadIdx.x;
    u32 *borrows = shared, *chain_place = shared + blockDim.x + 1, *top = chain_place + blockDim.x / 32;
    u32* results = call.results + (u64)item * call.result_stride;
    u32 last = call.length + 1, into_tile = 0;
    block_barrier();
    if (thread == 0) borrows[0] = 0;
    for (u32 first = 0; first * CHUNK <= last; first += blockDim.x) {
        u32 chunk = first + thread;
        u32 words[CHUNK];
        u32 beyond = subtract(call, item, k, chunk, adjustment, words);
        borrows[thread + 1] = beyond;
        block_barrier();
        u32 borrow = take_from(words, borrows[thread]);
        Chain chain;
        chain.open(chain_place, borrow, is_zero(words));
        take_from(words, chain.into_chunk(into_tile));
        into_tile = chain.out_of_block(into_tile);
#pragma unroll
        for (u32 i = 0; i < CHUNK; i++) {
            u32 at = chunk * CHUNK + i;
            if (at == last) *top = words[i];
            if (STORE && at < call.result_stride) results[at] = words[i];
        }
        block_barrier();
        if (thread == blockDim.x - 1) borrows[0] = beyond;
    }
    return *top == 0xffffffff;
}

KERNEL(fft_remainder, RemainderCall) {
    SHARED_POOL(u32, shared);
    int adjustment = missing(call, blockIdx.x);
    u32 k = 0;
    for (u32 trial = 1; trial <= call.most; trial++) k += !difference<false>(call, trial, adjustment, shared);
    difference<true>(call, k, adjustment, shared);
}
