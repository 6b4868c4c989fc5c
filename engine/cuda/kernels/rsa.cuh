// The private operation of RSA around its two powers: numbers modulo n to numbers that residues modulo the
// primes take, and back by Garner's step. Plain Montgomery products with one thread to a number; all of it is
// about a percent of a signature.
//
// WORDS are those of a prime, and R = 2^(32 WORDS). Rows of constants are those of constants.cuh, with R^2
// for the seed.
#pragma once

// Numbers in registers as long as they fit.
#if WORDS <= 64
#define EACH_WORD _Pragma("unroll")
#else
#define EACH_WORD _Pragma("unroll 1")
#endif

// t -= n where t, with `top` above it, is not below n; for t below 2n.
DEVICE void bring_below(u32* t, u32 top, const u32* n) {
    u32 borrow = 0;
EACH_WORD
    for (int i = 0; i < WORDS; i++) borrow = (u32)(((u64)t[i] - n[i] - borrow) >> 63);
    u32 mask = mask_of(top | (1 - borrow));
    borrow = 0;
EACH_WORD
    for (int i = 0; i < WORDS; i++) {
        u64 difference = (u64)t[i] - (n[i] & mask) - borrow;
        t[i] = (u32)difference;
        borrow = (u32)(difference >> 63);
    }
}

// t = a b / R modulo the row's modulus N, below it, for a below R and b below N: the sum is below 2N.
DEVICE void product(u32* t, const u32* a, const u32* b, const u32* row) {
    const u32* n = modulus_in(row);
    u32 top = 0, inverse = row[0];
EACH_WORD
    for (int i = 0; i < WORDS; i++) t[i] = 0;
#pragma unroll 1
    for (int i = 0; i < WORDS; i++) {
        u32 digit = a[i], quotient = 0, above = 0, beyond = 0; // carries of the product and of the quotient's
EACH_WORD
        for (int j = 0; j < WORDS; j++) {
            u64 sum = (u64)digit * b[j] + t[j] + above;
            if (j == 0) quotient = low_of(sum) * inverse;
            u64 reduced = (u64)quotient * n[j] + low_of(sum) + beyond;
            above = high_of(sum);
            beyond = high_of(reduced);
            if (j > 0) t[j > 0 ? j - 1 : 0] = low_of(reduced);
        }
        u64 sum = (u64)top + above + beyond;
        t[WORDS - 1] = low_of(sum);
        top = high_of(sum);
    }
    bring_below(t, top, n);
}

// The argument of `rsa_bases`.
struct BasesCall {
    const u32* numbers;     // rows of `words` words
    u32 words;
    u32 count;              // items, which is the number of rows of a half, too
    const u32* constants;   // rows for the first primes, then for the second
    u32 constants_stride;   // in words; 0 if all items have one key
    u32 second;             // where the rows for the second primes begin, in words
    u32* bases;             // rows of WORDS + 2 words: the first halves, then the second
};
static_assert(sizeof(BasesCall) == 40 && AT(BasesCall, numbers, 0) && AT(BasesCall, words, 8) &&
              AT(BasesCall, count, 12) && AT(BasesCall, constants, 16) &&
              AT(BasesCall, constants_stride, 24) && AT(BasesCall, second, 28) && AT(BasesCall, bases, 32),
              "BasesCall, as in Rust");

// Numbers below 2 R that are right modulo the primes, from numbers below R^2: h R + l is h R^2 / R + l.
KERNEL(rsa_bases, BasesCall) {
    u32 index = blockIdx.x * BLOCK + threadIdx.x;
    if (index >= 2 * call.count) return;
    u32 half = index / call.count, item = index % call.count;
    const u32* number = call.numbers + (u64)item * call.words;
    const u32* row = call.constants + half * call.second + (u64)item * call.constants_stride;
    u32 high[WORDS], t[WORDS];
    for (u32 i = 0; i < WORDS; i++) high[i] = WORDS + i < call.words ? number[WORDS + i] : 0;
    product(t, high, seed_in(row), row);
    u32* base = call.bases + (u64)index * (WORDS + 2);
    u64 sum = 0;
EACH_WORD
    for (int i = 0; i < WORDS; i++) {
        sum += (u64)t[i] + (i < (int)call.words ? number[i] : 0);
        base[i] = low_of(sum);
        sum >>= 32;
    }
    base[WORDS] = low_of(sum);
    base[WORDS + 1] = 0;
}

// The argument of `rsa_join`.
struct JoinCall {
    const u32* halves;      // powers, below the primes: rows of `half_words`, the first halves, then the second
    u32 half_words;
    u32 count;
    const u32* constants;   // rows for the first primes, then for the second
    u32 constants_stride;
    u32 second;
    Numbers coefficients;   // 1 / q modulo p
    u32* results;           // rows of `words` words
    u32 words;
};
static_assert(sizeof(JoinCall) == 64 && AT(JoinCall, halves, 0) && AT(JoinCall, half_words, 8) &&
              AT(JoinCall, count, 12) && AT(JoinCall, constants, 16) && AT(JoinCall, constants_stride, 24) &&
              AT(JoinCall, second, 28) && AT(JoinCall, coefficients, 32) && AT(JoinCall, results, 48) &&
              AT(JoinCall, words, 56), "JoinCall, as in Rust");

// Garner's step, m2 + q h with h = (m1 - m2) / q modulo p.
KERNEL(rsa_join, JoinCall) {
    u32 item = blockIdx.x * BLOCK + threadIdx.x;
    if (item >= call.count) return;
    const u32* p_row = call.constants + (u64)item * call.constants_stride;
    const u32 *p = modulus_in(p_row), *q = modulus_in(p_row + call.second);
    u32 half[WORDS], first[WORDS], t[WORDS], borrow = 0;
    for (u32 i = 0; i < WORDS; i++) half[i] = i < call.half_words ? call.halves[(u64)item * call.half_words + i] : 0;
    product(first, half, seed_in(p_row), p_row);
    const u32* second = call.halves + (u64)(call.count + item) * call.half_words;
    for (u32 i = 0; i < WORDS; i++) half[i] = i < call.half_words ? second[i] : 0;
    product(t, half, seed_in(p_row), p_row);
    // Both halves are multiplied by R, and below p; the product with the coefficient divides by R.
EACH_WORD
    for (int i = 0; i < WORDS; i++) {
        u64 difference = (u64)first[i] - t[i] - borrow;
        first[i] = (u32)difference;
        borrow = (u32)(difference >> 63);
    }
    u64 sum = 0;
    u32 mask = mask_of(borrow), difference[WORDS], coefficient[WORDS];
    const u32* given = row_of(call.coefficients, item);
EACH_WORD
    for (int i = 0; i < WORDS; i++) {
        sum += (u64)first[i] + (p[i] & mask);
        difference[i] = low_of(sum);
        sum >>= 32;
        coefficient[i] = i < (int)call.coefficients.length ? given[i] : 0;
    }
    product(first, difference, coefficient, p_row);
    u32* result = call.results + (u64)item * call.words;
    u32 quotient[WORDS];
EACH_WORD
    for (int i = 0; i < WORDS; i++) {
        quotient[i] = first[i];
        t[i] = half[i];
    }
#pragma unroll 1
    for (u32 i = 0; i < WORDS; i++) {
        u32 digit = quotient[i], above = 0;
EACH_WORD
        for (int j = 0; j < WORDS; j++) {
            u64 sum = (u64)digit * q[j] + t[j] + above;
            above = high_of(sum);
            if (j > 0) t[j > 0 ? j - 1 : 0] = low_of(sum);
            else if (i < call.words) result[i] = low_of(sum);
        }
        t[WORDS - 1] = above;
    }
EACH_WORD
    for (int i = 0; i < WORDS; i++) {
        if (WORDS + i < (int)call.words) result[WORDS + i] = t[i];
    }
}
