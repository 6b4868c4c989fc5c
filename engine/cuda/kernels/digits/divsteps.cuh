// Division steps on the numbers of a batch (docs/algorithms/inverse.md).
#pragma once
#include "digits.cuh"

// A matrix of s steps: 2^s (f', g') = (u f + v g, q f + r g), with |u| + |v| <= 2^s and |q| + |r| <= 2^s.
struct Matrix {
    s32 u, v, q, r;
};

DEVICE Matrix after(const Matrix& next, const Matrix& first) {
    return {next.u * first.u + next.v * first.q, next.u * first.v + next.v * first.r,
            next.q * first.u + next.r * first.q, next.q * first.v + next.r * first.r};
}

// A third of a batch runs on one word a number: u + 2^11 v + 2^22 l, where l = u f + v g modulo 2^10, and f
// is doubled instead of halving g. Entries are above -2^10 and at most 2^10, so that with a bias of
// 2^10 - 1 each field is at least 0 and below 2^11. The word of g always has the bias, so that no borrow
// reaches l.
enum { THIRD = DIGIT_BITS / 3, FIELD = THIRD + 1, FIELD_MASK = (1 << FIELD) - 1, LOW_PLACE = 2 * FIELD };
enum { ENTRY_BIAS = (1 << THIRD) - 1, BIAS = ENTRY_BIAS + (ENTRY_BIAS << FIELD) };

DEVICE s32 entry_of(u32 biased) { return (s32)(biased & FIELD_MASK) - ENTRY_BIAS; }

// `delta` is delta + 1/2. Within the loop it is less by the number of steps.
DEVICE Matrix third_of_steps(u32 f, u32 g, s32& delta) {
    u32 x = (f << LOW_PLACE) + 1, y = (g << LOW_PLACE) + (1 << FIELD) + BIAS;
#pragma unroll
    for (s32 i = 0; i < THIRD; i++) division_step(x, y, delta, 1u << (LOW_PLACE + i), -i, 2 * BIAS, 1 - 2 * i);
    delta += THIRD;
    x += BIAS;
    return {entry_of(x), entry_of(x >> FIELD), entry_of(y), entry_of(y >> FIELD)};
}

// 30 steps from the low 30 bits of f and g.
DEVICE Matrix batch_of_steps(u32 f, u32 g, s32& delta) {
    Matrix last = third_of_steps(f, g, delta), all = last;
#pragma unroll
    for (u32 third = 1; third < 3; third++) {
        u32 next = (u32)last.u * f + (u32)last.v * g;
        g = ((u32)last.q * f + (u32)last.r * g) >> THIRD;
        f = next >> THIRD;
        last = third_of_steps(f, g, delta);
        all = after(last, all);
    }
    return all;
}

// Sets the last digit of a thread after a division by 2^30: the carry and the lowest digit of the next
// thread, which is `lowest` there. What does not fit goes on to the next thread: |carry| <= 2^31 + 8, so that
// it is at most 3 in magnitude.
DEVICE void end_division(Digits& x, s32 lowest, s64 carry) {
    if (THREADS == 1) {
        x.digit[DIGITS - 1] = (s32)carry;
        return;
    }
    carry += of_next(lowest);
    s32 all = (s32)carry, digit = take_digit(carry);
    x.digit[DIGITS - 1] = is_last() ? all : digit;
    x.digit[0] += of_previous((s32)carry);
}

// (f, g) <- (u f + v g, q f + r g) / 2^30, exactly. A sum of two products is at most 2^60 + 2^32 in
// magnitude, and the carry at most 2^30 + 8.
DEVICE void update(Digits& f, Digits& g, const Matrix& m) {
    s64 in_f = signed_product(m.u, f.digit[0]) + signed_product(m.v, g.digit[0]);
    s64 in_g = signed_product(m.q, f.digit[0]) + signed_product(m.r, g.digit[0]);
    s32 lowest_f = take_digit(in_f), lowest_g = take_digit(in_g);
#pragma unroll
    for (u32 i = 1; i < DIGITS; i++) {
        s32 x = f.digit[i], y = g.digit[i];
        in_f += signed_product(m.u, x);
        in_g += signed_product(m.q, x);
        in_f += signed_product(m.v, y);
        in_g += signed_product(m.r, y);
        f.digit[i - 1] = take_digit(in_f);
        g.digit[i - 1] = take_digit(in_g);
    }
    end_division(f, lowest_f, in_f);
    end_division(g, lowest_g, in_g);
}

// The t below 2^30 for which a sum with this lowest digit, plus t n, is divisible by 2^30.
DEVICE s32 quotient(u32 lowest, u32 negated_inverse) { return (s32)(lowest * negated_inverse & DIGIT_MASK); }

// (d, e) <- (u d + v e, q d + r e) / 2^30 modulo n: the magnitude of d and e grows by less than n. A sum of
// three products is at most 2^61 + 2^33 in magnitude, and the carry at most 2^31 + 8.
DEVICE void update_modulo(Digits& d, Digits& e, const Matrix& m, const Digits& n, u32 negated_inverse) {
    u32 low_d = (u32)of_first(d.digit[0]), low_e = (u32)of_first(e.digit[0]);
    s32 t_d = quotient((u32)m.u * low_d + (u32)m.v * low_e, negated_inverse);
    s32 t_e = quotient((u32)m.q * low_d + (u32)m.r * low_e, negated_inverse);
    s64 in_d = signed_product(m.u, d.digit[0]) + signed_product(m.v, e.digit[0]) + signed_product(t_d, n.digit[0]);
    s64 in_e = signed_product(m.q, d.digit[0]) + signed_product(m.r, e.digit[0]) + signed_product(t_e, n.digit[0]);
    s32 lowest_d = take_digit(in_d), lowest_e = take_digit(in_e);
#pragma unroll
    for (u32 i = 1; i < DIGITS; i++) {
        s32 x = d.digit[i], y = e.digit[i], z = n.digit[i];
        in_d += signed_product(m.u, x);
        in_e += signed_product(m.q, x);
        in_d += signed_product(m.v, y);
        in_e += signed_product(m.r, y);
        in_d += signed_product(t_d, z);
        in_e += signed_product(t_e, z);
        d.digit[i - 1] = take_digit(in_d);
        e.digit[i - 1] = take_digit(in_e);
    }
    end_division(d, lowest_d, in_d);
    end_division(e, lowest_e, in_e);
}

// x <- x / 2^30 modulo n. Digits of x are below 2^31 in magnitude.
DEVICE void divide_modulo(Digits& x, const Digits& n, u32 negated_inverse) {
    s32 t = quotient((u32)of_first(x.digit[0]), negated_inverse);
    s64 sum = signed_product(t, n.digit[0]) + x.digit[0];
    s32 lowest = take_digit(sum);
#pragma unroll
    for (u32 i = 1; i < DIGITS; i++) {
        sum += signed_product(t, n.digit[i]) + x.digit[i];
        x.digit[i - 1] = take_digit(sum);
    }
    end_division(x, lowest, sum);
}
