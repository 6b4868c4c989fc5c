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
enum { QUADS = (DIGITS + 3) / 4 };
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

// For values below 2^32: the low word of a double in [2^52, 2^53).
DEVICE double double_from(u32 value) { return double_of(bits_of(TWO_52) | value) - TWO_52; }
DEVICE u32 integer_from(double value) { return (u32)bits_of(value + TWO_52); }

// Arithmetic modulo one number: a running value x, a second factor y, and a table of kept values. The
// group shares y as bits of doubles.
struct Field {
    Group group;
    Table table;
    double x[DIGITS], modulus[DIGITS];
    u32 inverse;       // -1/N mod 2^32
    double first_part; // 2^-SAMPLE_BITS in the first thread, whose lowest column carries, elsewhere 0
    u64 not_last;      // all ones except in the last thread

    DEVICE void open(Quad* scratch) {
        group.open();
        table.open(scratch);
        first_part = group.rank == 0 ? DIGIT_PART : 0;
        not_last = 0 - (u64)(group.rank != THREADS - 1);
    }

    DEVICE void read(const u32* row, u32 length, double* out) const {
        u64 digits[DIGITS];
        group.read(row, length, digits);
#pragma unroll
        for (int j = 0; j < DIGITS; j++) out[j] = double_from((u32)digits[j]);
    }

    DEVICE void load_modulus(const u32* constants) {
        inverse = constants[0];
        read(modulus_in(constants), WORDS, modulus);
    }

    // x = the integer in a row.
    DEVICE void load(const u32* row, u32 length) { read(row, length, x); }

    // y = 1, the integer.
    DEVICE void set_y_to_one(u32) const {
        group.meet();
#pragma unroll
        for (int j = 0; j < DIGITS; j++) group.own_digit(j) = j == 0 && group.rank == 0 ? bits_of(1.0) : 0;
        group.meet();
    }

    // Table entry `index` = x.
    DEVICE void keep(u32 index) const {
        Quad* entry = table.entry(index);
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad;
#pragma unroll
            for (int k = 0; k < 4; k++) quad.word[k] = 4 * i + k < DIGITS ? integer_from(x[4 * i + k]) : 0;
            entry[i * Table::STEP] = quad;
        }
    }

    // Hands the digits of table entry `index`, which must be public, to `put(j, digit)`.
    template <typename Put> DEVICE void get(u32 index, Put put) const {
        const Quad* entry = table.entry(index);
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad = entry[i * Table::STEP];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                if (4 * i + k < DIGITS) put(4 * i + k, double_from(quad.word[k]));
            }
        }
    }

    // y = table entry `index`, which must be public.
    DEVICE void fetch(u32 index) const {
        group.meet();
        get(index, [&](int j, double digit) { group.own_digit(j) = bits_of(digit); });
        group.meet();
    }

    // x = table entry `index`, which must be public.
    DEVICE void take(u32 index) {
        get(index, [&](int j, double digit) { x[j] = digit; });
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
        group.meet();
#pragma unroll
        for (int j = 0; j < DIGITS; j++) group.own_digit(j) = bits_of(x[j]);
        group.meet();
        multiply();
    }

    // Writes x, below 2N, as the canonical integer; a length of 0 writes nothing.
    DEVICE void store(u32* row, u32 length) const {
        u64 digits[DIGITS], n[DIGITS];
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            digits[j] = integer_from(x[j]);
            n[j] = integer_from(modulus[j]);
        }
        group.normalize(digits);
        group.subtract_if_greater(digits, n);
        group.write(digits, row, length);
    }
};
