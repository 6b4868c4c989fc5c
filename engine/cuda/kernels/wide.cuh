// Wide samples: 52-bit digits in doubles, products by fused multiply-adds that round toward zero
// (Emmart, Zheng, Weems, "Faster Modular Exponentiation using Double Precision Floating Point Arithmetic
// on the GPU"). A group of threads holds a number; row by row (CIOS), each thread adds b_i times its
// digits of the other factor and q_i times its digits of N, and hands its lowest column down.
//
// Digits are at most 2^52, that one included (section II), so that carries need not run to the end.
#pragma once

#define SAMPLE_BITS 52
#include "samples.cuh"

// A table entry: the bits of the digits as doubles, in whole quads.
enum { PER_QUAD = 2, QUADS = (DIGITS + 1) / 2 };
#include "table.cuh"

// Whether a group has a squaring of its own: with few digits a thread it moves columns about for longer than
// it saves in products.
#ifndef GROUP_SQUARES
#define GROUP_SQUARES (THREADS > 1 && DIGITS >= 8)
#endif
// Shared memory, in words a thread: its digits of y, and its part of the columns of a group's square.
enum { SHARED_WORDS = (GROUP_SQUARES ? 6 : 2) * DIGITS };

// A column lives in a thread for DIGITS rows. It takes two low and two high halves of products in each,
// at most 2^52, and once the low 52 bits of the upper neighbour's column and 12 bits of the column below.
static_assert(4 * DIGITS + 2 < 1 << 12, "64 bits hold a column of a product");
// In a square it takes one of each, begins as a column of x^2, with two halves of every digit's product,
// and ends with another added.
static_assert(2 * DIGITS + 4 * SAMPLES + 2 < 1 << 12, "64 bits hold a column of a square");
// A carry of 12 bits that comes from another thread is spread over two digits.
static_assert(THREADS == 1 || DIGITS >= 2, "a thread can take in its neighbour's carry");
static_assert(THREADS > 1 || ROWS == DIGITS, "a thread alone has no digits to spare");

constexpr double TWO_52 = 4503599627370496.0;
constexpr double TWO_104 = TWO_52 * TWO_52;

// The bits of doubles in [2^104, 2^105] are 0x467 2^52 and the high half of a product above; of those in
// [2^52, 2^53], 0x433 2^52 and the low half. A column starts with what cancels the exponents of all that
// will be added to it (figure 6).
DEVICE u64 make_initial(u64 high_count, u64 low_count) { return 0 - ((high_count * 0x467 + low_count * 0x433) << 52); }

// For `each` products a row: what column j still waits for, on its way down to column 0. A column enters
// above the highest digit, where it takes only high halves.
DEVICE u64 initial(int j, int each) { return make_initial(each * j, each * (j + 1)); }
DEVICE u64 entering(int each) { return make_initial(each * DIGITS, each * DIGITS); }

// a b as high 2^52 + low, both with their exponents (figures 4 and 8). Exact also for a = b = 2^52: the
// bits of doubles go on counting from 2^105 - 2^52 to 2^105.
struct Product {
    u64 high, low;
    DEVICE Product(double a, double b) {
        double upper = fma_toward_zero(a, b, TWO_104);
        high = bits_of(upper);
        low = bits_of(fma_toward_zero(a, b, (TWO_104 + TWO_52) - upper));
    }
};

// For digit <= 2^52.
typedef u64 Digit;
DEVICE double double_from(u64 digit) { return double_of(digit + bits_of(TWO_52)) - TWO_52; }
DEVICE u64 digit_from(double digit) { return bits_of(digit + TWO_52) - bits_of(TWO_52); }

// A quad of a table: two digits as bits of doubles.
DEVICE Quad quad_of(const double* digits, int first) {
    u64 low = bits_of(digits[first]), high = first + 1 < DIGITS ? bits_of(digits[first + 1]) : 0;
    return Quad{{low_of(low), high_of(low), low_of(high), high_of(high)}};
}
DEVICE u64 bits_in(const Quad& quad, int k) { return pair_of(quad.word[2 * k], quad.word[2 * k + 1]); }

#include "sample_values.cuh"

// Arithmetic modulo one number.
struct Field : Values {
    double inverse; // -1/N mod 2^52

    DEVICE void load_modulus(const u32* constants) {
        inverse = double_from(((u64)constants[1] << 32 | constants[0]) & SAMPLE_MASK);
        read(modulus_in(constants), WORDS, modulus);
    }

    // The digit q < 2^52 with column + q N = 0 modulo 2^52, as the first thread finds it (figure 9: the
    // low half of a product as a number, without its exponent).
    DEVICE double quotient(u64 column) const {
        double low = double_from(column & SAMPLE_MASK);
        double upper = fma_toward_zero(low, inverse, TWO_104);
        return group.from_first(fma_toward_zero(low, inverse, TWO_104 - upper));
    }

    // columns = (columns + b x + q N) / 2^52. The lowest product comes first, as the quotient waits for it.
    DEVICE void add_row(u64* columns, double b) const {
        Product first(x[0], b);
        u64 lowest = columns[0] + first.low;
        double q = quotient(lowest);
        Product cancel(modulus[0], q);
        u64 high = first.high + cancel.high;
#pragma unroll
        for (int j = 1; j < DIGITS; j++) {
            Product product(x[j], b), multiple(modulus[j], q);
            columns[j - 1] = columns[j] + high + product.low + multiple.low;
            high = product.high + multiple.high;
        }
        hand_down(columns, lowest + cancel.low, entering(2) + high);
    }

    // columns = (columns + q N) / 2^52.
    DEVICE void reduce_row(u64* columns) const {
        u64 lowest = columns[0];
        double q = quotient(lowest);
        Product cancel(modulus[0], q);
        u64 high = cancel.high;
#pragma unroll
        for (int j = 1; j < DIGITS; j++) {
            Product multiple(modulus[j], q);
            columns[j - 1] = columns[j] + high + multiple.low;
            high = multiple.high;
        }
        hand_down(columns, lowest + cancel.low, entering(1) + high);
    }

    // The low 52 bits of the lowest column go to the lower neighbour. In the first thread they are zero,
    // and so is what the last one gets.
    DEVICE void hand_down(u64* columns, u64 lowest, u64 highest) const {
        columns[DIGITS - 1] = highest;
        if (THREADS > 1) columns[DIGITS - 1] += group.from_above(lowest & SAMPLE_MASK);
        columns[0] += lowest >> SAMPLE_BITS;
    }

    // x = columns, digits of at most 2^52 (figure 10). Within a thread carries run through; what leaves it,
    // below 2^12, is added to two digits of the next, and leaves at most 1 for the second. Nothing
    // leaves the last thread, as the number is below R.
    DEVICE void resolve(u64* columns) {
        u64 carry = 0;
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            columns[j] += carry;
            carry = columns[j] >> SAMPLE_BITS;
            columns[j] &= SAMPLE_MASK;
        }
        if (THREADS > 1) {
            columns[0] += group.from_below((u32)carry);
            columns[1] += columns[0] >> SAMPLE_BITS;
            columns[0] &= SAMPLE_MASK;
        }
#pragma unroll
        for (int j = 0; j < DIGITS; j++) x[j] = double_from(columns[j]);
    }

    // x = x y / R modulo N (figure 9).
    DEVICE void multiply() {
        u64 columns[DIGITS];
#pragma unroll
        for (int j = 0; j < DIGITS; j++) columns[j] = initial(j, 2);
#pragma unroll 1
        for (int i = 0; i < ROWS; i++) add_row(columns, double_of(group.shared_digit(i)));
#pragma unroll
        for (int j = 0; j < DIGITS; j++) columns[j] -= initial(j, 2);
        resolve(columns);
    }

    // x = x^2 / R modulo N; y is lost. Products of different digits are taken once. Only the lower half is
    // reduced: (L + H R) / R = L / R + H.
    DEVICE void square() {
        if (THREADS > 1 && !GROUP_SQUARES) {
            share_x();
            multiply();
            return;
        }
        u64 columns[DIGITS];
        if (THREADS == 1) {
            square_block([&](int k, u64 column) { (k < DIGITS ? columns[k] : group.own_digit(k - DIGITS)) = column; });
        } else {
            square_in_group();
            get_columns(0, [&](int j, u64 column) { columns[j] = column; });
        }
#pragma unroll
        for (int j = 0; j < DIGITS; j++) columns[j] += initial(j, 1);
#pragma unroll 1
        for (int i = 0; i < ROWS; i++) reduce_row(columns);
        if (THREADS == 1) {
#pragma unroll
            for (int j = 0; j < DIGITS; j++) columns[j] += group.own_digit(j) - initial(j, 1);
        } else {
            get_columns(ROWS, [&](int j, u64 column) { columns[j] += column - initial(j, 1); });
        }
        resolve(columns);
    }

    // The square of this thread's digits, column by column.
    template <typename Put> DEVICE void square_block(Put put) const {
        u64 crossed = 0, squared = 0; // high halves for this column
        int crossed_count = 0;
#pragma unroll
        for (int k = 0; k < 2 * DIGITS; k++) {
            u64 column = 0, high = 0;
            int count = 0;
#pragma unroll
            for (int i = 0; i < DIGITS; i++) { // bounds that do not depend on k, or it is not unrolled
                if (2 * i >= k || k - i >= DIGITS) continue;
                Product product(x[i], x[k - i]);
                column += product.low;
                high += product.high;
                count++;
            }
            column = 2 * (column + crossed) + squared;
            int low_count = 2 * count, high_count = 2 * crossed_count + k % 2;
            squared = 0;
            if (k % 2 == 0) {
                Product product(x[k / 2], x[k / 2]);
                column += product.low;
                squared = product.high;
                low_count++;
            }
            put(k, column + make_initial(high_count, low_count));
            crossed = high;
            crossed_count = count;
        }
    }

    // Columns of the group's square from k on, 0 <= k < 2 SAMPLES, GROUPS apart.
    DEVICE u64* columns_of_square(u32 k) const { return group.shared_digits(SAMPLES + k); }

    // Hands the columns of one half of the square, ROWS of them from `first` on, to the group's threads: each
    // its own to `put(j, column)`.
    template <typename Put> DEVICE void get_columns(u32 first, Put put) const {
        const u64* columns = columns_of_square(first + group.rank * DIGITS);
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            bool is_within = ROWS == SAMPLES || group.rank * DIGITS + j < ROWS;
            put(j, is_within ? columns[j * GROUPS] : 0);
        }
    }

    // Adds to a column of the square. In one half of the group no two threads add to the same column.
    DEVICE void add_to_column(u64& column, u64 value) const {
        if (group.rank < THREADS / 2) column += value;
        group.meet();
        if (group.rank >= THREADS / 2) column += value;
        group.meet();
    }

    // The columns of x^2. Every thread squares its block of digits and multiplies it by those of the
    // threads 1, 2, ... after it, around the group. The block opposite meets it from both sides: one
    // thread takes the lower half of its digits, the other the rest. x is lost.
    DEVICE void square_in_group() {
        enum { OPPOSITE = THREADS > 1 ? THREADS / 2 : 1, HALF = (DIGITS + 1) / 2 };
        share_x();
        u64* own = columns_of_square(2 * group.rank * DIGITS);
        square_block([&](int k, u64 column) { own[k * GROUPS] = column; });
        group.meet();
        // At each distance the blocks' sums of indices are all even or all odd, and those that are equal
        // belong to opposite threads.
#pragma unroll 1
        for (u32 distance = 1; distance < OPPOSITE; distance++) {
            u32 other = (group.rank + distance) % THREADS;
            add_block((group.rank + other) * DIGITS, other * DIGITS, DIGITS, (other + 1) * DIGITS);
        }
        u32 lower = group.rank % OPPOSITE, upper = lower + OPPOSITE, start = group.rank < OPPOSITE ? 0 : HALF;
        const u64* digits = group.shared_digits(lower * DIGITS);
#pragma unroll
        for (int j = 0; j < DIGITS; j++) x[j] = double_of(digits[j * GROUPS]);
        add_block((lower + upper) * DIGITS + start, upper * DIGITS + start, HALF, (upper + 1) * DIGITS);
    }

    // Adds twice x times `rows` digits of the shared number from `first` on, those before `end`, to the
    // columns of the square from `base` on.
    DEVICE void add_block(u32 base, u32 first, int rows, u32 end) const {
        u64 columns[DIGITS];
#pragma unroll
        for (int j = 0; j < DIGITS; j++) columns[j] = initial(j, 1);
#pragma unroll 1
        for (int i = 0; i < rows; i++) {
            double b = first + i < end ? double_of(group.shared_digit(first + i)) : 0;
            u64 lowest = columns[0], high = 0;
#pragma unroll
            for (int j = 0; j < DIGITS; j++) {
                Product product(x[j], b);
                if (j == 0) lowest += product.low;
                else columns[j - 1] = columns[j] + high + product.low;
                high = product.high;
            }
            columns[DIGITS - 1] = entering(1) + high;
            add_to_column(*columns_of_square(base + i), 2 * lowest);
        }
        u64* rest = columns_of_square(base + rows);
#pragma unroll
        for (int j = 0; j < DIGITS; j++) add_to_column(rest[j * GROUPS], 2 * (columns[j] - initial(j, 1)));
    }
};
