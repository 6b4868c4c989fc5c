// Division steps on the numbers of a batch (docs/algorithms/inverse.md). The instructions are the same for all
// values.
//
// A number has digits of 30 bits, of which each of its THREADS threads has DIGITS, the first thread the lowest
// ones. The digits of a thread are below 2^30, but for two: the last digit of the number is signed, and the lowest
// digit of a thread may have a carry of at most 3 in magnitude that has not been passed on.
#pragma once
#include "items.cuh"
#include "numbers.cuh"

typedef int s32;
typedef long long s64;

enum { DIGIT_BITS = 30, DIGIT_MASK = (1 << DIGIT_BITS) - 1 };

struct DivisionCall {
    Numbers a;         // numbers to be inverted, or to be divided
    Numbers b;         // odd moduli, or the other numbers
    u32* results;
    u32* flags;        // for each item 1 if it has no inverse, else 0
    u32 result_stride;
    u32 result_length;
    u32 batches;       // of 30 steps
    u32 count;         // items
};
static_assert(sizeof(DivisionCall) == 64 && AT(DivisionCall, a, 0) && AT(DivisionCall, b, 16) &&
              AT(DivisionCall, results, 32) && AT(DivisionCall, flags, 40) &&
              AT(DivisionCall, result_stride, 48) && AT(DivisionCall, result_length, 52) &&
              AT(DivisionCall, batches, 56) && AT(DivisionCall, count, 60), "DivisionCall, as in Rust");

// The digits of a number that a thread has.
struct Digits {
    s32 digit[DIGITS];
};

DEVICE u32 rank() { return threadIdx.x % THREADS; }
DEVICE bool is_last() { return rank() == THREADS - 1; }

// The word of the number's first or last thread, and of the next or the previous one, which is 0 beyond the ends.
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

// ---- steps ----

// A matrix of s steps: 2^s (f', g') = (u f + v g, q f + r g), with |u| + |v| <= 2^s and |q| + |r| <= 2^s.
struct Matrix {
    s32 u, v, q, r;
};

DEVICE Matrix after(const Matrix& next, const Matrix& first) {
    return {next.u * first.u + next.v * first.q, next.u * first.v + next.v * first.r,
            next.q * first.u + next.r * first.q, next.q * first.v + next.r * first.r};
}

// A third of a batch runs on one word a number: u + 2^11 v + 2^22 l, where l = u f + v g modulo 2^10, and f is
// doubled in the place of halving g. Entries are above -2^10 and at most 2^10, so that with a bias of 2^10 - 1 each
// field is at least 0 and below 2^11. The word of g always has the bias, so that no borrow reaches l.
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

// ---- numbers ----

// The lowest digit of a sum, whose other part is the carry.
DEVICE s32 take_digit(s64& sum) {
    s32 digit = (s32)sum & DIGIT_MASK;
    sum >>= DIGIT_BITS;
    return digit;
}

// Sets the last digit of a thread after a division by 2^30: the carry and the lowest digit of the next thread,
// which is `lowest` there. What does not fit goes on to the next thread: |carry| <= 2^31 + 8, so that it is at most
// 3 in magnitude.
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

// (f, g) <- (u f + v g, q f + r g) / 2^30, exactly. A sum of two products is at most 2^60 + 2^32 in magnitude, and
// the carry at most 2^30 + 8.
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

// (d, e) <- (u d + v e, q d + r e) / 2^30 modulo n: the magnitude of d and e grows by less than n. A sum of three
// products is at most 2^61 + 2^33 in magnitude, and the carry at most 2^31 + 8.
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

// ---- memory ----

// This thread's digits of a number, from bit `shift` on.
DEVICE Digits read_digits(const Numbers& numbers, u32 item, u32 shift) {
    Digits x;
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++)
        x.digit[i] = (s32)(word_at(numbers, item, DIGIT_BITS * (rank() * DIGITS + i) + shift) & DIGIT_MASK);
    return x;
}

// Digit `index` of the number whose digits the threads have written to shared memory.
DEVICE u64 digit_in(const u32* pool, u32 index) {
    if (index >= THREADS * DIGITS) return 0;
    return pool[index % DIGITS * BLOCK + threadIdx.x - rank() + index / DIGITS];
}

// Writes 2^shift times a normalized number as words.
DEVICE void write_number(const Digits& x, u32 shift, u32* pool, const DivisionCall& call, u32 item, bool stores) {
#pragma unroll
    for (u32 i = 0; i < DIGITS; i++) pool[i * BLOCK + threadIdx.x] = (u32)x.digit[i];
    warp_barrier();
    u32* row = call.results + (u64)item * call.result_stride;
    for (u32 at = rank(); at < call.result_length; at += THREADS) {
        // Below the shift there are zeros.
        u32 low = 32 * at < shift ? shift - 32 * at : 0;
        u32 from = 32 * at < shift ? 0 : 32 * at - shift;
        u32 index = from / DIGIT_BITS;
        u64 bits = digit_in(pool, index) | digit_in(pool, index + 1) << DIGIT_BITS |
                   digit_in(pool, index + 2) << 2 * DIGIT_BITS;
        u32 word = low < 32 ? (u32)(bits >> from % DIGIT_BITS) << low : 0;
        if (stores) row[at] = word;
    }
    warp_barrier();
}
