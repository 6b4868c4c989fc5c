// The sum of the tiles of a column, in a thread's registers. See two_pass.cuh.
#pragma once

// This thread's running sum: TILE + ROWS words and more, from its first row's position in the column.
// Pair m of `even` stands at word 2m, of `odd` at word 2m + 1; carries that leave a row of products are
// counted per word and added when the column is complete.
//
// Bound: a column adds at most 2 BLOCKS tiles below 2^(32 (TILE + ROWS)), and a residue below
// 4 2^(32 ROWS); so what a window keeps from column to column is less than (2 BLOCKS + 5) 2^(32 ROWS),
// and only the lowest pair above it is in use.
struct Window {
    enum { HALF = TILE / 2, KEPT = ROWS / 2 }; // pairs of a block, and of a piece

    u64 even[HALF + KEPT + 1];
    u64 odd[HALF + KEPT];
    u32 carries[ROWS + 1]; // into words TILE, TILE + 1, ...

    DEVICE void clear() {
#pragma unroll
        for (int m = 0; m <= HALF + KEPT; m++) even[m] = 0;
#pragma unroll
        for (int m = 0; m < HALF + KEPT; m++) odd[m] = 0;
#pragma unroll
        for (int i = 0; i <= ROWS; i++) carries[i] = 0;
    }

    // Word i of an accumulator's pairs.
    static DEVICE u32 word(const u64* pairs, int i) { return i % 2 ? high_of(pairs[i / 2]) : low_of(pairs[i / 2]); }
    // Word i of either accumulator.
    DEVICE u32 even_word(int i) const { return word(even, i); }
    DEVICE u32 odd_word(int i) const { return i == 0 ? 0 : word(odd, i - 1); }

    // Adds word * a[i] for i = first, first + 2, ... below `length`, where word has index j and a[0]
    // stands at word `start`; the first product has a word of its own. The pairs are those of the
    // accumulator that the first product falls on; `counters` are for words start + length and above.
    DEVICE void add_row(const u32* a, int length, int start, int first, int j, u32 first_word, u32 word,
                        u32* counters) {
        if (first >= length) return;
        u64* pairs = ((first + j) % 2 == 0 ? even : odd) + start / 2;
        int position = first + j;
        pairs[position / 2] = mad_wide_cc(a[first], first_word, pairs[position / 2]);
#pragma unroll
        for (int i = first + 2; i < length; i += 2) {
            position = i + j;
            pairs[position / 2] = madc_wide_cc(a[i], word, pairs[position / 2]);
        }
        counters[position + 2 - length] = addc(counters[position + 2 - length], 0);
    }
    DEVICE void add_rows(const u32* a, int j, u32 word) {
        add_row(a, TILE, 0, 0, j, word, word, carries);
        add_row(a, TILE, 0, 1, j, word, word, carries);
    }

    // Adds this thread's part of a tile: a block times its piece of another.
    DEVICE void add_product(const u32* a, const u32* piece) {
#pragma unroll
        for (int j = 0; j < ROWS; j++) add_rows(a, j, piece[j]);
    }

    // Adds this thread's part of a^2 + c a, where a is a block, c the top bit of the word below it, and
    // `below` that word in the lowest thread, 0 in the others.
    //
    // Of the products of pieces p and s, thread p takes those of its words j with words i >= j of s,
    // and thread s the others, so that all have the same work: word i meets word i of this piece and
    // twice what is below that. The latter is in the doubled words j < i, and the top bit of word i - 1.
    DEVICE void add_square(const u32* a, const u32* piece, u32 below) {
        u32 doubled[ROWS], top[ROWS]; // top bits as masks
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            doubled[j] = piece[j] << 1 | below >> 31;
            top[j] = mask_of(below >> 31);
            below = piece[j];
        }
        u32 carry = 0;
#pragma unroll
        for (int s = 0; s < THREADS; s++) {
            const u32* words = a + s * ROWS;
            u64* pairs = even + s * KEPT;
            // Into words ROWS and above of this pair of pieces; the last one's go where others' do.
            u32 local[ROWS + 1], *counters = s == THREADS - 1 ? carries : local;
#pragma unroll
            for (int i = 0; i <= ROWS; i++) local[i] = 0;
            counters[1] += carry;
#pragma unroll
            for (int j = 0; j < ROWS; j++) {
                add_row(words, ROWS, s * ROWS, j, j, piece[j], doubled[j], counters);
                add_row(words, ROWS, s * ROWS, j + 1, j, doubled[j], doubled[j], counters);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) add_to_pair(pairs[i], words[i] & top[i], 0, i > 0);
            counters[ROWS] = addc(counters[ROWS], 0);
            if (s == THREADS - 1) break;
#pragma unroll
            for (int i = 0; i < KEPT; i++) add_to_pair(pairs[KEPT + i], counters[2 * i], counters[2 * i + 1], i > 0);
            pairs[ROWS] = pair_of(addc_cc(low_of(pairs[ROWS]), counters[ROWS]), high_of(pairs[ROWS]));
            carry = addc(0, 0);
        }
    }

    // Adds two words to a pair, with the carry flag if `carry`; the carry out is left in the flag.
    static DEVICE void add_to_pair(u64& pair, u32 low, u32 high, bool carry) {
        low = carry ? addc_cc(low_of(pair), low) : add_cc(low_of(pair), low);
        pair = pair_of(low, addc_cc(high_of(pair), high));
    }

    // Makes the low TILE words zero by adding a multiple of N, digit by digit; `low` has the low block
    // of N, and the quotient's digits are left in `quotient`. For a thread that has a number alone.
    DEVICE void cancel_low(const u32* low, u32 inverse, u32* quotient) {
        u32 carry = 0; // at most 2
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            u32 q = (even_word(r) + odd_word(r) + carry) * inverse;
            quotient[r] = q;
            add_rows(low, r, q);
            carry = high_of((u64)even_word(r) + odd_word(r) + carry);
        }
        carries[0] += carry;
    }

    // The low TILE words, both accumulators added.
    DEVICE void take_low(u32* out) {
        out[0] = even_word(0);
        out[1] = add_cc(even_word(1), odd_word(1));
#pragma unroll
        for (int i = 2; i < TILE; i++) out[i] = addc_cc(even_word(i), odd_word(i));
        carries[0] = addc(carries[0], 0);
    }

    // Drops the low TILE words. The counted carries go to the even accumulator, and so does the odd one's
    // word at TILE, half of a pair that is dropped.
    DEVICE void advance() {
        u64 first = (u64)carries[0] + odd_word(TILE);
        carries[0] = low_of(first);
        carries[1] += high_of(first);
#pragma unroll
        for (int m = 0; m <= KEPT; m++) {
            even[m] = even[HALF + m];
            add_to_pair(even[m], carries[2 * m], m == KEPT ? 0 : carries[2 * m + 1], m > 0);
        }
#pragma unroll
        for (int m = 0; m < KEPT; m++) odd[m] = odd[HALF + m];
#pragma unroll
        for (int m = KEPT + 1; m <= HALF + KEPT; m++) even[m] = 0;
#pragma unroll
        for (int m = KEPT; m < HALF + KEPT; m++) odd[m] = 0;
#pragma unroll
        for (int i = 0; i <= ROWS; i++) carries[i] = 0;
    }

    // Adds a piece and what is above it to a window that has just advanced.
    DEVICE void add_piece(const u32* words, u32 above) {
#pragma unroll
        for (int m = 0; m < KEPT; m++) add_to_pair(even[m], words[2 * m], words[2 * m + 1], m > 0);
        add_to_pair(even[KEPT], above, 0, true);
    }
};
