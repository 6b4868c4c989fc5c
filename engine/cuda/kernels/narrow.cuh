// Narrow samples: digits of 22 or 23 bits in doubles, so that a whole column of products adds up without
// rounding (Dong, Zheng, Pan, Lin, Jing, Zhao, "Utilizing the Double-Precision Floating-Point Computing
// Power of GPUs for RSA Acceleration", algorithms 2 and 3). A product of digits is one multiply-add.
//
// The paper's two formats: digits ("Simplified"), here up to and including 2^SAMPLE_BITS, and column sums
// ("Redundant"), below 2^53. The paper turns sums into digits with a loop that ends when no thread has
// a carry; here the number of steps is fixed, and a digit may keep one unit too much.
#pragma once

#include "samples.cuh"

// A table entry: digits as 32-bit integers, in whole quads, half of what doubles would take (section 5.1).
enum { PER_QUAD = 4, QUADS = (DIGITS + 3) / 4 };
#include "table.cuh"

// Shared memory, in words a thread: its digits of y.
enum { SHARED_WORDS = 2 * DIGITS };

static_assert(SAMPLE_BITS >= 21 && SAMPLE_BITS <= 25, "carries fit as the comments say");
// A column takes ROWS products of digits up to 2^SAMPLE_BITS from the factors and as many from the
// quotients, and once the carry of the column below, a sum without its lowest SAMPLE_BITS bits.
static_assert((2ull * ROWS << 2 * SAMPLE_BITS) + (1ull << (53 - SAMPLE_BITS)) <= 1ull << 53, "a double holds a column");
// A carry of 53 - SAMPLE_BITS bits that comes from another thread is spread over three digits.
static_assert(THREADS == 1 || DIGITS >= 3, "a thread can take in its neighbour's carry");

constexpr double TWO_52 = 4503599627370496.0;
constexpr double DIGIT_UNIT = (double)(1u << SAMPLE_BITS), DIGIT_PART = 1 / DIGIT_UNIT;

typedef u32 Digit;
// For values below 2^32: the low word of a double in [2^52, 2^53).
DEVICE double double_from(u32 value) { return double_of(bits_of(TWO_52) | value) - TWO_52; }
DEVICE u32 digit_from(double value) { return (u32)bits_of(value + TWO_52); }

// A quad of a table: four digits as integers.
DEVICE Quad quad_of(const double* digits, int first) {
    Quad quad;
#pragma unroll
    for (int k = 0; k < 4; k++) quad.word[k] = first + k < DIGITS ? digit_from(digits[first + k]) : 0;
    return quad;
}
DEVICE u64 bits_in(const Quad& quad, int k) { return bits_of(double_from(quad.word[k])); }

#include "sample_values.cuh"

// Arithmetic modulo one number.
struct Field : Values {
    u32 inverse;       // -1/N mod 2^32
    double first_part; // 2^-SAMPLE_BITS in the first thread, whose lowest column carries, elsewhere 0
    u64 not_last;      // all ones except in the last thread

    DEVICE void open(Quad* scratch) {
        Values::open(scratch);
        first_part = group.rank == 0 ? DIGIT_PART : 0;
        not_last = 0 - (u64)(group.rank != THREADS - 1);
    }

    DEVICE void load_modulus(const u32* constants) {
        inverse = constants[0];
        read(modulus_in(constants), WORDS, modulus);
    }

    // The digit q with column + q N = 0 modulo 2^SAMPLE_BITS, as the first thread finds it.
    DEVICE double quotient(double column) const {
        u32 q = (u32)(u64)column * inverse & (u32)SAMPLE_MASK;
        return double_from(group.from_first(q));
    }

    // sums = (sums + b x + q N) / 2^SAMPLE_BITS, an iteration of algorithm 2. The lowest product comes
    // first, as the quotient waits for it.
    DEVICE void add_row(double* sums, double b) const {
        double lowest = fma(x[0], b, sums[0]);
        double q = quotient(lowest);
        lowest = fma(modulus[0], q, lowest);
#pragma unroll
        for (int j = 1; j < DIGITS; j++) sums[j - 1] = fma(modulus[j], q, fma(x[j], b, sums[j]));
        // Columns move down whole; the first thread's lowest ends in zeros and is a carry.
        sums[DIGITS - 1] = THREADS > 1 ? double_of(bits_of(group.from_above(lowest)) & not_last) : 0;
        sums[0] = fma(lowest, first_part, sums[0]);
    }

    // sum = its lowest SAMPLE_BITS bits; returns the others as a number. Adding 2^(52 + SAMPLE_BITS) cuts
    // off the low bits (section 4.3, equation 4).
    DEVICE static double split(double& sum) {
        double cut = TWO_52 * DIGIT_UNIT;
        double high = fma_toward_zero(sum, 1, cut) - cut;
        sum -= high;
        return high * DIGIT_PART;
    }

    // x = sums as digits of at most 2^SAMPLE_BITS (algorithm 3, in a fixed number of steps). Within a
    // thread carries run through. What leaves it is below 2^(53 - SAMPLE_BITS) + 1: the next thread's
    // first digit passes on less than 2^(54 - 2 SAMPLE_BITS) + 1, the second at most 1, the third keeps that.
    // Nothing leaves the last thread, as the number is below R.
    DEVICE void resolve(double* sums) {
        double carry = 0;
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            x[j] = sums[j] + carry;
            carry = split(x[j]);
        }
        if (THREADS > 1) {
            x[0] += group.from_below(carry);
            x[1] += split(x[0]);
            x[2] += split(x[1]);
        }
    }

    // x = x y / R modulo N: the computing phase, then the converting phase.
    DEVICE void multiply() {
        double sums[DIGITS];
#pragma unroll
        for (int j = 0; j < DIGITS; j++) sums[j] = 0;
#pragma unroll 1
        for (int i = 0; i < ROWS; i++) add_row(sums, double_of(group.shared_digit(i)));
        resolve(sums);
    }

    // x = x^2 / R modulo N; y is lost.
    DEVICE void square() {
        share_x();
        multiply();
    }
};
