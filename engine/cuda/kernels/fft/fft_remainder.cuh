// The last step of Barrett's reduction: r = x - q d - k d, for the largest k that leaves r not negative.
//
// The quotient q is too small by less than 2^20: 3 or 4 for a product of two numbers below d, more for a sum
// of products. The kernel gets y instead of q d: y is congruent to q d modulo 2^s - 1, where s is at least
// the bits of d's words. Words above s bits are added to the s bits below: the difference of x and y is then
// x - q d - c (2^s - 1), with a small c. Its lowest word tells c, because the lowest word of q d is the
// product of the lowest words of q and d.
//
// A block computes one item, and a thread a chunk of eight words at a time. The leading words of x - q d and
// of d tell k or k - 1: the sign of the difference for the larger one decides.
#pragma once

enum { CHUNK = 8 };

// The argument of the kernel.
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
};
static_assert(sizeof(RemainderCall) == 104 && AT(RemainderCall, x, 0) && AT(RemainderCall, y, 16) &&
              AT(RemainderCall, divisor, 32) && AT(RemainderCall, halves, 48) &&
              AT(RemainderCall, estimates, 64) && AT(RemainderCall, results, 80) &&
              AT(RemainderCall, result_stride, 88) && AT(RemainderCall, length, 92) &&
              AT(RemainderCall, wrap, 96) && AT(RemainderCall, offset, 100),
              "RemainderCall, as in Rust");

// Leading words of a difference: two above the divisor's words, and the six highest words of the divisor. At
// most 127 leading bits of these six are zero, so that they hold at least 65 bits of the divisor.
enum { LEADING = 8 };

// -c: the lowest word of x - q d less that of x - y. It is a small number.
DEVICE int missing(const RemainderCall& call, u32 item) {
    u32 q = word_at(call.halves, item, call.offset) + word_at(call.estimates, item, call.offset);
    u32 upper = call.wrap < call.x.length ? row_of(call.x, item)[call.wrap] : 0;
    const u32* y = row_of(call.y, item);
    return (int)(y[0] + y[call.wrap] - upper - q * row_of(call.divisor, item)[0]);
}

// x - y - k d of a chunk. Returns the borrow out of the chunk plus 2: the borrow is at least -2 and at most
// k + 2. Every chunk but the first adds that 2 again. `adjustment` is added to the lowest word and subtracted
// from the word s bits up.
DEVICE u32 subtract(const RemainderCall& call, u32 item, u32 k, u32 chunk, int adjustment, u32 (&words)[CHUNK]) {
    const u32 *x = row_of(call.x, item), *y = row_of(call.y, item), *d = row_of(call.divisor, item);
    long long rest = chunk == 0 ? adjustment : 2; // above -2^53, below 2^34
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

// Subtracts a number from words. Returns the borrow.
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

// Computes x - y - k d, tile by tile from the lowest, in two words more than d has; writes it if STORE.
// Returns its leading words, of which the highest is all ones if the difference is negative.
template <bool STORE> DEVICE const u32* difference(const RemainderCall& call, u32 k, int adjustment, u32* shared) {
    u32 item = blockIdx.x, thread = threadIdx.x;
    u32 *borrows = shared, *chain_place = shared + blockDim.x + 1, *leading = chain_place + blockDim.x / 32;
    u32* results = call.results + (u64)item * call.result_stride;
    u32 last = call.length + 1, into_tile = 0;
    block_barrier();
    if (thread == 0) borrows[0] = 0;
    if (thread < LEADING) leading[thread] = 0;
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
            if (at + LEADING > last && at <= last) leading[at + LEADING - 1 - last] = words[i];
            if (STORE && at < call.result_stride) results[at] = words[i];
        }
        block_barrier();
        if (thread == blockDim.x - 1) borrows[0] = beyond;
    }
    return leading;
}

// The words of the divisor at the places of a difference's leading words.
DEVICE double leading_of_divisor(const RemainderCall& call) {
    const u32* d = row_of(call.divisor, blockIdx.x);
    double value = 0;
    for (u32 i = 1; i <= LEADING - 2; i++) {
        bool exists = i <= call.length && call.length - i < call.divisor.length;
        value = value * 4294967296.0 + (exists ? d[call.length - i] : 0);
    }
    return value;
}

// The largest k, or one less. The quotient of the leading words is within 2^-30 of that of the whole numbers:
// they have 65 bits of the divisor, doubles have 53 bits, and k is below 2^20.
DEVICE u32 estimate(const RemainderCall& call, const u32* leading) {
    double value = 0;
    for (int i = LEADING - 1; i >= 0; i--) value = value * 4294967296.0 + leading[i];
    double quotient = value * (1.0 / leading_of_divisor(call)) - 1.0 / (1 << 30);
    return (u32)(quotient > 0 ? quotient : 0);
}

KERNEL(fft_remainder, RemainderCall) {
    SHARED_POOL(u32, shared);
    int adjustment = missing(call, blockIdx.x);
    u32 k = 0;
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        const u32* leading = difference<false>(call, k, adjustment, shared);
        k = round == 0 ? estimate(call, leading) + 1 : k - (leading[LEADING - 1] == 0xffffffff);
    }
    difference<true>(call, k, adjustment, shared);
}
