// Row-oriented Montgomery multiplication with carry chains (Emmart, Luitjens, Weems, Woolley,
// "Optimizing Modular Multiplication for NVIDIA's Maxwell GPUs", section II, figure 2): for each word
// of one factor a row of products is added, then a multiple of N that clears the lowest word, and the
// sum moves down by a word. THREADS neighbouring threads hold a number, PART words each (groups.cuh).
//
// A product of two words fills a pair of registers, and a multiply-add with carry wants a whole pair:
// products at even words are summed in one accumulator, those at odd words in another that stands one
// word higher. Moving down by a word makes the odd one even and the even one, two words lower, odd, so
// that nothing moves: the next row's multiply-adds read one register and write another.
//
// Range: x is below R = 2^(32 WORDS) and right modulo N. A product gives less than R + N; what
// exceeds R is taken away by one masked subtraction of N. With ROOM, N < R / 4 and x < 2N, and
// x y / R + N < 2N again (Orup; Walter), so that nothing is subtracted.
#pragma once

enum {
    PART = WORDS / THREADS,                 // words of a thread
    HALF = PART / 2,
    QUADS = (PART + 3) / 4,                 // of a kept number, per thread
    STREAMED = THREADS == 1 && PART > 8,    // y is read while it is used, which saves registers
    QUADS_AT_ONCE = PART <= 16 ? QUADS : 2, // quads of rows unrolled: all where the code stays small
};
static_assert(WORDS % (2 * THREADS) == 0, "every thread holds whole pairs of words");

#include "groups.cuh"
#include "table.cuh"

// The running sum, or this thread's part of it. Pair m of `even` stands at word 2m, of `odd` at word
// 2m + 1, and `low` is still to be added to word 0.
//
// Bound: let B = 2^(32 PART). A row adds less than 2B 2^32 (3B 2^32 in a square, with doubled words),
// and what arrives from the next thread is below B after the move; so a sum stays below 4B between
// rows, and its highest word, where carries of the odd products go, is small.
struct Sum {
    u64 even[HALF];
    u64 odd[HALF];
    u32 low;
    u32 top, above; // words PART and PART + 1, which only carries reach

    DEVICE void clear() {
#pragma unroll
        for (int m = 0; m < HALF; m++) even[m] = odd[m] = 0;
        low = top = above = 0;
    }

    // Adds word * a[i] for i = first, first + 2, ... to the pairs from words 0, 2, ... on, with the
    // carry flag if `carry`; the carry out is left in the flag.
    static DEVICE void add_products(u64* pairs, const u32* a, u32 word, int first, bool carry) {
#pragma unroll
        for (int i = first; i < PART; i += 2) {
            u64& pair = pairs[i / 2];
            pair = i > first || carry ? madc_wide_cc(a[i], word, pair) : mad_wide_cc(a[i], word, pair);
        }
    }
    // Adds the products that stand at even words, from word `first` of a on; then those at odd words.
    DEVICE void add_even(const u32* a, u32 word, int first) {
        if (first == PART - 1) return;
        add_products(even, a, word, (first + 1) / 2 * 2, false);
        top = addc(top, 0);
    }
    DEVICE void add_odd(const u32* a, u32 word, int first, bool carry) {
        add_products(odd, a + 1, word, first / 2 * 2, carry);
        above = addc(above, 0);
    }

    // A row: adds word * a, from word `first` of a on, then the multiple of N that clears word 0 of
    // the number. `opening` says that the sum was zero.
    DEVICE void add_row(const u32* a, u32 word, int first, const u32* n, u32 inverse, bool opening) {
        u32 carry = 0; // into word 1
        if (!opening) {
            even[0] = pair_of(add_cc(low_of(even[0]), low), high_of(even[0]));
            carry = addc(0, 0);
        }
        // The quotient is a while on its way through a group; the odd products fill it.
        add_even(a, word, first);
        u32 quotient = from_rank(low_of(even[0]) * inverse, 0);
        add_odd(a, word, first, false);
        if (!opening) add_cc(carry, 0xffffffffu); // into the flag
        add_odd(n, quotient, 0, !opening);
        add_even(n, quotient, 0);
    }

    DEVICE void add_top(u32 word) {
        top = add_cc(top, word);
        above = addc(above, 0);
    }

    // Divides by 2^32: the odd pairs become even, the even ones odd.
    DEVICE void move_down() {
        if (THREADS > 1) add_top(from_rank(low_of(even[0]), rank() + 1)); // the highest thread gets the lowest's zero
        low = high_of(even[0]);
#pragma unroll
        for (int m = 0; m < HALF; m++) {
            u64 pair = m + 1 < HALF ? even[m + 1 < HALF ? m + 1 : m] : pair_of(top, above);
            even[m] = odd[m];
            odd[m] = pair;
        }
        top = above = 0;
    }

    // x = the sum's words; returns what is above them.
    DEVICE u32 join(u32* x) const {
        x[0] = add_cc(low_of(even[0]), low);
        x[1] = addc_cc(high_of(even[0]), low_of(odd[0]));
#pragma unroll
        for (int m = 1; m < HALF; m++) {
            x[2 * m] = addc_cc(low_of(even[m]), high_of(odd[m - 1]));
            x[2 * m + 1] = addc_cc(high_of(even[m]), low_of(odd[m]));
        }
        return addc(high_of(odd[HALF - 1]), 0);
    }
};

// Arithmetic modulo one number: a running value x, a second factor y, and a table of kept values.
struct Field {
    u32 x[PART], n[PART];
    u32 y[STREAMED ? 1 : PART];
    const Quad* y_quads; // where a streamed y is
    Table table;
    u32 inverse; // -1/N mod 2^32

    DEVICE void open(Quad* scratch) { table.open(scratch); }

    static DEVICE void get(const Quad* quads, u32* out) {
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad = quads[i * Table::STEP];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (4 * i + j < PART) out[4 * i + j] = quad.word[j];
            }
        }
    }
    static DEVICE void put(Quad* quads, const u32* in) {
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad;
#pragma unroll
            for (int j = 0; j < 4; j++) quad.word[j] = 4 * i + j < PART ? in[4 * i + j] : 0;
            quads[i * Table::STEP] = quad;
        }
    }

    static DEVICE void read(const u32* row, u32 length, u32* out) {
#pragma unroll
        for (int i = 0; i < PART; i++) {
            u32 at = rank() * PART + i;
            out[i] = at < length ? row[at] : 0;
        }
    }

    DEVICE void load_modulus(const u32* constants) {
        inverse = constants[0];
        read(modulus_in(constants), WORDS, n);
    }

    // x = the integer in a row.
    DEVICE void load(const u32* row, u32 length) { read(row, length, x); }

    // Table entry `index` = x.
    DEVICE void keep(u32 index) { put(table.entry(index), x); }

    // x = table entry `index`, which must be public.
    DEVICE void take(u32 index) { get(table.entry(index), x); }

    // y = table entry `index`, which must be public.
    DEVICE void fetch(u32 index) {
        y_quads = table.entry(index);
        if (!STREAMED) get(y_quads, y);
    }

    // y = 1, the integer; entry `index` of the table is overwritten.
    DEVICE void set_y_to_one(u32 index) {
        u32 one[PART];
#pragma unroll
        for (int i = 0; i < PART; i++) one[i] = i == 0 && rank() == 0;
        put(table.entry(index), one);
        fetch(index);
    }

    // x = x y / R modulo N.
    DEVICE void multiply() {
        Sum sum;
        sum.clear();
        if (STREAMED) add_streamed_rows(sum);
        else add_rows(sum, y);
        finish(sum);
    }

    // Rows for all words of a factor, thread by thread.
    DEVICE void add_rows(Sum& sum, const u32* factor) const {
#pragma unroll 1
        for (u32 thread = 0; thread < THREADS; thread++) {
#pragma unroll
            for (int i = 0; i < PART; i++) {
                sum.add_row(x, from_rank(factor[i], thread), 0, n, inverse, THREADS == 1 && i == 0);
                sum.move_down();
            }
        }
    }

    // Rows for all words of y, read a quad ahead to hide the time of the load.
    DEVICE void add_streamed_rows(Sum& sum) const {
        Quad next = y_quads[0];
#pragma unroll QUADS_AT_ONCE
        for (int i = 0; i < QUADS; i++) {
            Quad quad = next;
            if (i + 1 < QUADS) next = y_quads[(i + 1) * Table::STEP];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (4 * i + j >= PART) continue;
                sum.add_row(x, quad.word[j], 0, n, inverse, QUADS_AT_ONCE == QUADS && i + j == 0);
                sum.move_down();
            }
        }
    }

    // x = x^2 / R modulo N. Row i of a square needs word i once and the words above it twice, and these
    // stand where a product would have them: rows of a product that begin with word i.
    DEVICE void square() {
        Sum sum;
        sum.clear();
#if THREADS == 1
        // x gives way to the words of 2x; from these, two at a time, its own are found again.
        u32 top_mask = mask_of(x[PART - 1] >> 31), top_bit = x[PART - 1] & 0x80000000u;
#pragma unroll
        for (int i = PART - 1; i > 0; i--) x[i] = x[i] << 1 | x[i - 1] >> 31;
        x[0] <<= 1;
#pragma unroll
        for (int i = 0; i < PART; i++) {
            u32 word = x[i] >> 1 | (i + 1 < PART ? x[i + 1 < PART ? i + 1 : i] << 31 : top_bit);
            u32 row[PART];
            // The lowest bit of word i + 1 of 2x is word i's highest.
#pragma unroll
            for (int j = 0; j < PART; j++) row[j] = j == i ? word : j == i + 1 ? x[j] & ~1u : x[j];
            sum.add_row(row, word, i, n, inverse, i == 0);
            if (!ROOM && i + 1 < PART) sum.add_top(word & top_mask); // the bit of 2x that has no word
            sum.move_down();
        }
#else
        add_rows(sum, x);
#endif
        finish(sum);
    }

    DEVICE void finish(const Sum& sum) {
        u32 above = sum.join(x);
        above = carry_up(x, above);
        if (!ROOM) subtract(x, x, n, mask_of(above));
    }

    // Writes x, below 2N, as the canonical integer.
    DEVICE void store(u32* row, u32 length) const {
        u32 reduced[PART];
        u32 keep_x = mask_of(subtract(reduced, x, n, 0xffffffffu));
#pragma unroll
        for (int i = 0; i < PART; i++) {
            u32 at = rank() * PART + i;
            if (at < length) row[at] = blend(keep_x, reduced[i], x[i]);
        }
        for (u32 at = WORDS + rank(); at < length; at += THREADS) row[at] = 0;
    }
};
