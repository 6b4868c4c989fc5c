// How a group finds the quotient's digits of a column. See two_pass.cuh.
#pragma once

// A column's block that a group divides by 2^64 again and again while it adds multiples of N's low
// block, a piece of each to a thread: pair m of `even` stands at word 2m, of `odd` at word 2m + 1, and
// `low` is still to be added to word 0.
//
// Bound: let B = 2^(32 ROWS). A step adds less than B 2^64, and what arrives from the next thread is
// below B after the division; so this thread's part stays below 3B after the first one, and the highest
// pair, one word of which is above the piece, holds it.
struct Residue {
    enum { HALF = ROWS / 2 };
    u64 even[HALF], odd[HALF];
    u32 low;

    DEVICE void open(const u32* words, u32 above) {
#pragma unroll
        for (int m = 0; m < HALF; m++) {
            even[m] = pair_of(words[2 * m], words[2 * m + 1]);
            odd[m] = m == HALF - 1 ? pair_of(0, above) : 0;
        }
        low = 0;
    }

    // Adds word * n[0], word * n[2], ... to `count` pairs, with the carry flag if `carry`; the carry out is
    // left in the flag.
    static DEVICE void add_products(u64* pairs, int count, const u32* n, u32 word, bool carry) {
#pragma unroll
        for (int m = 0; m < count; m++) {
            pairs[m] = m > 0 || carry ? madc_wide_cc(n[2 * m], word, pairs[m]) : mad_wide_cc(n[2 * m], word, pairs[m]);
        }
    }

    // Adds the multiple of N that clears words 0 and 1 of the group, and divides by 2^64. `inverse` is
    // -1/N mod 2^64. Two digits at a time: they take one way through the group, and nothing changes
    // places but the pairs, which move down.
    DEVICE void step(const u32* n, u64 inverse, u32* digits) {
        u32 word = add_cc(low_of(even[0]), low), next = addc(high_of(even[0]), low_of(odd[0]));
        u64 product = (u64)word * low_of(inverse);
        u32 q = from_rank(low_of(product), 0);
        u32 r = from_rank(next * low_of(inverse) + (word * high_of(inverse) + high_of(product)), 0);
        even[0] = pair_of(add_cc(low_of(even[0]), low), high_of(even[0]));
        add_products(odd, HALF, n + 1, q, true);
        u32 top = addc(0, 0); // word ROWS + 1
        add_products(odd, HALF, n, r, false);
        top = addc(top, 0);
        add_products(even, HALF, n, q, false);
        u32 carry = addc(0, 0); // into word ROWS
        // Words 0 and 1 go to the thread below; the lowest one's are zero, and the highest one gets them.
        u32 leaving = low_of(even[0]), leaving_next = add_cc(high_of(even[0]), low_of(odd[0]));
        add_products(even + 1, HALF - 1, n + 1, r, true);
        u64 last = madc_wide_cc(n[ROWS - 1], r, 0); // words ROWS and ROWS + 1
        low = high_of(odd[0]);
        u32 arriving = from_rank(leaving, rank() + 1), arriving_next = from_rank(leaving_next, rank() + 1);
        add_cc(carry, 0xffffffffu); // into the flag
        u32 sum = addc_cc(low_of(last), arriving), sum_next = addc_cc(high_of(last), arriving_next);
        u32 above = addc(0, 0);
#pragma unroll
        for (int m = 0; m + 1 < HALF; m++) {
            even[m] = even[m + 1];
            odd[m] = odd[m + 1];
        }
        even[HALF - 1] = pair_of(sum, sum_next);
        odd[HALF - 1] = pair_of(top, above);
        digits[0] = q;
        digits[1] = r;
    }

    // The words of this thread's part; returns what is above them.
    DEVICE u32 join(u32* words) const {
        words[0] = add_cc(low_of(even[0]), low);
        words[1] = addc_cc(high_of(even[0]), low_of(odd[0]));
#pragma unroll
        for (int m = 1; m < HALF; m++) {
            words[2 * m] = addc_cc(low_of(even[m]), high_of(odd[m - 1]));
            words[2 * m + 1] = addc_cc(high_of(even[m]), low_of(odd[m]));
        }
        return addc(high_of(odd[HALF - 1]), 0);
    }
};
