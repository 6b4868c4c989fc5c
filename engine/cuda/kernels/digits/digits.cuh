// Numbers of a batch in digits of 30 bits, in registers. The instructions are the same for all values.
//
// Each of the THREADS threads of a number has DIGITS digits, the first thread the lowest ones. The digits are
// below 2^30, but for the last one of the number, which is signed, and for a lowest or second digit of a
// thread, which may have a carry of at most 3 in magnitude that has not been passed on.
#pragma once
#include "items.cuh"
#include "numbers.cuh"

typedef int s32;
typedef long long s64;

enum { DIGIT_BITS = 30, DIGIT_MASK = (1 << DIGIT_BITS) - 1 };

struct DivisionCall {
    Numbers a;         // numbers to be inverted, or to be divided
    Numbers b;         // moduli, divisors, or the other numbers
    u32* results;
    u32* flags;        // for each item 1 if it has no answer, else 0
    u32 result_stride;
    u32 result_length;
    u32 rounds;        // batches of division steps, or digits of a quotient
    u32 count;         // items
    Numbers factor;    // a bit that a remainder is multiplied by
    u64 remainder_length; // words of the remainder behind a quotient; 0 if it is not wanted
};
static_assert(sizeof(DivisionCall) == 88 && AT(DivisionCall, a, 0) && AT(DivisionCall, b, 16) &&
              AT(DivisionCall, results, 32) && AT(DivisionCall, flags, 40) &&
              AT(DivisionCall, result_stride, 48) && AT(DivisionCall, result_length, 52) &&
              AT(DivisionCall, rounds, 56) && AT(DivisionCall, count, 60) && AT(DivisionCall, factor, 64) &&
              AT(DivisionCall, remainder_length, 80),
              "DivisionCall, as in Rust");

// The digits of a number that a thread has.
struct Digits {
    s32 digit[DIGITS];
};

DEVICE u32 rank() { return threadIdx.x % THREADS; }
DEVICE bool is_last() { return rank() == THREADS - 1; }

// The word of the number's first or last thread, and of the next or the previous one, which is 0 beyond the
// ends.
DEVICE s32 of_first(s32 word) { return THREADS == 1 ? word : (s32)from_thread((u32)word, 0, THREADS); }
DEVICE s32 of_last(s32 word) { return THREADS == 1 ? word : (s32)from_thread((u32)word, THREADS - 1, THREADS); }
DEVICE s32 of_next(s32 word) {
    if (THREADS == 1) return 0;
    s32 other = (s32)from_thread((u32)word, rank() + 1, THREADS);
    return is_last() ? 0 : other;
}
DEVICE s32 of_previous(s32 word) {
    if (THREADS == 1) return 0;
    s32 other = (s32)from_thread((u32)word, rank() + THREADS - 1, THREADS);
    return rank() == 0 ? 0 : other;
}

// Whether a condition holds for any thread of the number.
DEVICE bool any_of_number(bool condition) {
    if (THREADS == 1) return condition;
    u32 bits = warp_bits(condition) >> (threadIdx.x % 32 - rank());
    return (bits & (u32)((1ull << THREADS) - 1)) != 0;
}

// The lowest digit of a sum, whose other part is the carry.
DEVICE s32 take_digit(s64& sum) {
    s32 digit = (s32)sum & DIGIT_MASK;
    sum >>= DIGIT_BITS;
    return digit;
}

// Passes on all carries of a number whose digits are below 2^31 - 8 in magnitude.
DEVICE void normalize(Digits& x) {
    s32 carry = 0;
    for (u32 round = 0; round < THREADS; round++) {
#pragma unroll
        for (u32 i = 0; i < DIGITS; i++) {
            s32 sum = x.digit[i] + carry;
            carry = sum >> DIGIT_BITS;
            x.digit[i] = i == DIGITS - 1 && is_last() ? sum : sum & DIGIT_MASK;
        }
        carry = of_previous(carry);
    }
}

// All ones if a normalized number is negative, else zero.
DEVICE s32 sign_of(const Digits& x) { return of_last(x.digit[DIGITS - 1]) >> 31; }

// The operations on the digits of one number and masked digits of another, with the carries passed on.
DEVICE void negate_where(Digits& x, s32 mask) {
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) x.digit[i] = (x.digit[i] ^ mask) - mask;
    normalize(x);
}
DEVICE void add_where(Digits& x, const Digits& n, s32 mask) {
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) x.digit[i] += n.digit[i] & mask;
    normalize(x);
}
DEVICE void subtract(Digits& x, const Digits& n) {
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) x.digit[i] -= n.digit[i];
    normalize(x);
}

// Whether a normalized number is 1.
DEVICE bool is_one(const Digits& x) {
    s32 rest = x.digit[0] ^ (rank() == 0 ? 1 : 0);
#pragma unroll
    for (u32 i = 1; i < DIGITS; i++) rest |= x.digit[i];
    return !any_of_number(rest != 0);
}

// This thread's digits of a number, from bit `shift` on.
DEVICE Digits read_digits(const Numbers& numbers, u32 item, u32 shift) {
    Digits x;
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++)
        x.digit[i] = (s32)(word_at(numbers, item, DIGIT_BITS * (rank() * DIGITS + i) + shift) & DIGIT_MASK);
    return x;
}

// The words of an item's answer.
struct Row {
    u32* words;
    u32 length;
};
DEVICE Row result_row(const DivisionCall& call, u32 item) {
    return {call.results + (u64)item * call.result_stride, call.result_length};
}

// Words of floor(2^shift x) for a number x whose digits are in shared memory, written by the threads of the
// number. `digit(i)` is its digit i as an unsigned word, and zero beyond the last one.
template <class DigitAt>
DEVICE void write_words(DigitAt digit, s32 shift, Row row, bool stores) {
    for (u32 at = rank(); at < row.length; at += THREADS) {
        // Below the shift there are zeros.
        s32 first = (s32)(32 * at) - shift;
        u32 low = first < 0 ? (u32)-first : 0, from = first < 0 ? 0 : (u32)first;
        u32 index = from / DIGIT_BITS;
        u64 bits = digit(index) | digit(index + 1) << DIGIT_BITS | digit(index + 2) << 2 * DIGIT_BITS;
        u32 word = low < 32 ? (u32)(bits >> from % DIGIT_BITS) << low : 0;
        if (stores) row.words[at] = word;
    }
}

// Writes floor(2^shift x) for a normalized number as words.
DEVICE void write_number(const Digits& x, s32 shift, u32* pool, Row row, bool stores) {
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) pool[i * BLOCK + threadIdx.x] = (u32)x.digit[i];
    warp_barrier();
    const u32* first = pool + (threadIdx.x - rank());
    auto digit = [=](u32 index) -> u64 {
        return index < THREADS * DIGITS ? first[index % DIGITS * BLOCK + index / DIGITS] : 0;
    };
    write_words(digit, shift, row, stores);
    warp_barrier();
}
