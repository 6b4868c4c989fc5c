// Division of the numbers of a batch (docs/algorithms/division.md). A divisor is shifted so that its last
// digit has 29 bits; the number to be divided is shifted as far. Each round takes off a signed digit of the
// quotient, from the highest one on, and leaves a remainder of hardly more than half of the divisor.
#pragma once
#include "digits.cuh"

// Bits of a shifted divisor.
enum { DIVISOR_BITS = DIGIT_BITS * (THREADS * DIGITS - 1) + 29 };

// Bits of a number, which are public. A divisor of zero counts as one bit.
DEVICE u32 bit_length(const Numbers& numbers, u32 item) {
    const u32* row = row_of(numbers, item);
    u32 at = numbers.length;
    while (at > 0 && row[at - 1] == 0) at--;
    u32 count = at == 0 ? 1 : 32 * at - 32;
    for (u32 word = at == 0 ? 0 : row[at - 1]; word != 0; word >>= 1) count++;
    return count;
}

// Digit `index` of 2^shift times a number; for index -1 any digit.
DEVICE s32 shifted_digit(const Numbers& numbers, u32 item, u32 index, u32 shift) {
    u32 from = DIGIT_BITS * index;
    u32 low = from < shift ? shift - from : 0;
    u32 word = word_at(numbers, item, from < shift ? 0 : from - shift);
    return low < 32 ? (s32)(word << low & DIGIT_MASK) : 0;
}

// The sum of a double below 2^51 in magnitude and this one ends with the bits of the nearest integer.
DEVICE s32 nearest(double x) { return (s32)low_of(bits_of(x + 6755399441055744.0)); }

// r <- 2^30 r + next - q n. |r| is at most 0.51 n, so that |q| is below 2^29 + 2^24 and a carry of a thread
// at most 2^29 + 2^25 in magnitude.
DEVICE void subtract_multiple(Digits& r, s32 next, s32 q, const Digits& n) {
    s32 last = r.digit[DIGITS - 1];
    s32 before = THREADS == 1 ? next : (s32)from_thread((u32)last, rank() + THREADS - 1, THREADS);
    if (rank() == 0) before = next;
    s64 sum = 0;
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) {
        sum += signed_product(-q, n.digit[i]) + before;
        before = r.digit[i];
        r.digit[i] = take_digit(sum);
    }
    if (is_last()) r.digit[DIGITS - 1] += ((s32)sum + last) << DIGIT_BITS;
    s32 lowest = r.digit[0] + of_previous((s32)sum);
    r.digit[0] = lowest & DIGIT_MASK;
    r.digit[1] += lowest >> DIGIT_BITS;
}

// A division under way: the shifted divisor, and the remainder.
struct Division {
    Digits n, r;
    u32 shift;
    s32 exists; // all ones unless the divisor is zero
    s32 next;   // the digit of the next round, which is read during the one before
    double inverse;

    // Begins with all digits of the shifted number but `rounds`, of which the last one is zero.
    DEVICE Division(const DivisionCall& call, u32 item) : shift(DIVISOR_BITS - bit_length(call.b, item)) {
        s32 any = 0;
#pragma unroll
        for (u32 i = 0; i < DIGITS; i++) {
            u32 index = rank() * DIGITS + i;
            n.digit[i] = shifted_digit(call.b, item, index, shift);
            any |= n.digit[i];
            r.digit[i] = shifted_digit(call.a, item, index + call.rounds, shift);
        }
        exists = any_of_number(any != 0) ? -1 : 0;
        inverse = 1073741824.0 / leading(n);
        next = shifted_digit(call.a, item, call.rounds - 1, shift);
    }
    static DEVICE double leading(const Digits& x) {
        return (double)(((s64)x.digit[DIGITS - 1] << DIGIT_BITS) + x.digit[DIGITS - 2]);
    }
    // Takes off the digit `index` of the quotient.
    DEVICE s32 round(const DivisionCall& call, u32 item, u32 index) {
        s32 digit = next, q = of_last(nearest(leading(r) * inverse));
        next = shifted_digit(call.a, item, index - 1, shift);
        subtract_multiple(r, digit, q, n);
        return q;
    }
};
