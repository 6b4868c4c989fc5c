// Two-pass integer arithmetic, one thread per number (Emmart, Luitjens, Weems, Woolley, "Optimizing
// Modular Multiplication for NVIDIA's Maxwell GPUs", section IV), for a chip that multiplies 32 by 32
// bits into 64 in one instruction.
//
// The paper's two passes separate products whose halves fall on register boundaries from those that
// straddle them. Here a product of words i and j occupies a register pair at position i + j, and a
// multiply-add with carry wants an even pair: products with i + j even are summed in one accumulator,
// those with i + j odd in another that stands one word higher, and the two are added once per column
// block. Numbers are cut into blocks of TILE words, and blocks are multiplied column by column
// (product scanning) in a window of registers, so that registers do not grow with the number. A
// Montgomery quotient block is found digit by digit when its column is complete.
//
// Range: values are below R = 2^(32 WORDS) and right modulo N. A product gives less than R + N; what
// exceeds R is taken away by one masked subtraction of N.
#pragma once

enum {
    BLOCKS = WORDS / TILE,
    HALF = TILE / 2,
    QUADS = TILE / 4, // loads per block
};
static_assert(WORDS % TILE == 0 && TILE % 4 == 0, "blocks are whole, and made of quads");
// Pairs take products below 2^64 and count their carries in a word: 2 BLOCKS tiles of HALF rows each.
static_assert(2 * BLOCKS * TILE < 1 << 30, "carry counters hold");

// 2 TILE words and more of a running sum. `even` starts at word 0, `odd` at word 1; carries that leave
// a row of products are counted per pair and added when the column is complete.
struct Window {
    u32 even[2 * TILE + 2];
    u32 odd[2 * TILE];
    u32 even_carries[HALF + 1]; // into even[TILE], even[TILE + 2], ...
    u32 odd_carries[HALF];      // into odd[TILE], ...

    DEVICE void clear() {
#pragma unroll
        for (int i = 0; i < 2 * TILE + 2; i++) even[i] = 0;
#pragma unroll
        for (int i = 0; i < 2 * TILE; i++) odd[i] = 0;
#pragma unroll
        for (int i = 0; i <= HALF; i++) even_carries[i] = 0;
#pragma unroll
        for (int i = 0; i < HALF; i++) odd_carries[i] = 0;
    }

    // Adds word * a[i] for i = first, first + 2, ... below TILE, where word has index j; the pairs are
    // those of the accumulator that position first + j falls on.
    DEVICE void add_row(const u32* a, int first, int j, u32 word) {
        if (first >= TILE) return;
        bool is_even = ((first + j) & 1) == 0;
        u32* sum = is_even ? even + first + j : odd + first + j - 1;
        sum[0] = mad_lo_cc(a[first], word, sum[0]);
        sum[1] = madc_hi_cc(a[first], word, sum[1]);
#pragma unroll
        for (int i = first + 2; i < TILE; i += 2) {
            sum[i - first] = madc_lo_cc(a[i], word, sum[i - first]);
            sum[i - first + 1] = madc_hi_cc(a[i], word, sum[i - first + 1]);
        }
        // The pair after the last product: its first word is even[TILE + 2 m] or odd[TILE + 2 m].
        int last = first + (TILE - 1 - first) / 2 * 2;
        int m = (last + j + (is_even ? 2 : 1) - TILE) / 2;
        u32& carries = is_even ? even_carries[m] : odd_carries[m];
        carries = addc(carries, 0);
    }

    // Adds a b, TILE words each; the last word of b meets `low_for_last` instead of a[0].
    DEVICE void add_product(u32* a, const u32* b, u32 low_for_last) {
#pragma unroll
        for (int j = 0; j < TILE; j++) {
            if (j == TILE - 1) a[0] = low_for_last;
            add_row(a, 0, j, b[j]);
            add_row(a, 1, j, b[j]);
        }
    }

    // Adds a^2: each product of different words once, by doubled words, and the squares. `doubled` has
    // the words of 2a; its bit 0 of word i + 1 is the top bit of word i, which row i has already.
    DEVICE void add_square(const u32* a, const u32* doubled) {
#pragma unroll
        for (int i = 0; i < TILE; i++) {
            u32 row[TILE];
#pragma unroll
            for (int j = 0; j < TILE; j++) row[j] = j == i ? a[j] : j == i + 1 ? doubled[j] & ~1u : doubled[j];
            add_row(row, i, i, a[i]);
            add_row(row, i + 1, i, a[i]);
        }
    }

    // Adds `words` at position 0.
    DEVICE void add_words(const u32* words) {
        even[0] = add_cc(even[0], words[0]);
#pragma unroll
        for (int i = 1; i < TILE; i++) even[i] = addc_cc(even[i], words[i]);
        even_carries[0] = addc(even_carries[0], 0);
    }

    // Makes the low TILE words zero by adding a multiple of N, digit by digit; `low` has the low block
    // of N, and the quotient's digits are left in `quotient`.
    DEVICE void cancel_low(const u32* low, u32 inverse, u32* quotient) {
        u32 carry = 0; // at most 2
#pragma unroll
        for (int r = 0; r < TILE; r++) {
            u32 other = r == 0 ? 0 : odd[r - 1];
            u32 q = (even[r] + other + carry) * inverse;
            quotient[r] = q;
            add_row(low, 0, r, q);
            add_row(low, 1, r, q);
            u32 sum = add_cc(even[r], r == 0 ? 0 : odd[r - 1]);
            u32 over = addc(0, 0);
            add_cc(sum, carry);
            carry = addc(over, 0);
        }
        even_carries[0] += carry;
    }

    // The low TILE words, both accumulators added.
    DEVICE void take_low(u32* out) {
        out[0] = even[0];
        out[1] = add_cc(even[1], odd[0]);
#pragma unroll
        for (int i = 2; i < TILE; i++) out[i] = addc_cc(even[i], odd[i - 1]);
        even_carries[0] = addc(even_carries[0], 0);
    }

    // Drops the low TILE words: adds the counted carries, joins the accumulators, moves down.
    DEVICE void advance() {
        even[0] = add_cc(even[TILE], even_carries[0]);
        even[1] = addc_cc(even[TILE + 1], 0);
#pragma unroll
        for (int m = 1; m <= HALF; m++) {
            even[2 * m] = addc_cc(even[TILE + 2 * m], even_carries[m]);
            even[2 * m + 1] = addc_cc(even[TILE + 2 * m + 1], 0);
        }
        odd[TILE] = add_cc(odd[TILE], odd_carries[0]);
        odd[TILE + 1] = addc_cc(odd[TILE + 1], 0);
#pragma unroll
        for (int m = 1; m < HALF; m++) {
            odd[TILE + 2 * m] = addc_cc(odd[TILE + 2 * m], odd_carries[m]);
            odd[TILE + 2 * m + 1] = addc_cc(odd[TILE + 2 * m + 1], 0);
        }
        // odd[TILE - 1] stands at word TILE, which is word 0 now.
        even[0] = add_cc(even[0], odd[TILE - 1]);
#pragma unroll
        for (int i = 1; i <= TILE; i++) even[i] = addc_cc(even[i], odd[TILE - 1 + i]);
        even[TILE + 1] = addc(even[TILE + 1], 0);
#pragma unroll
        for (int i = TILE + 2; i < 2 * TILE + 2; i++) even[i] = 0;
#pragma unroll
        for (int i = 0; i < 2 * TILE; i++) odd[i] = 0;
#pragma unroll
        for (int i = 0; i <= HALF; i++) even_carries[i] = 0;
#pragma unroll
        for (int i = 0; i < HALF; i++) odd_carries[i] = 0;
    }
};

// A number of BLOCKS blocks: in registers when everything is unrolled, else in shared memory, where
// quad i of thread t is at i BLOCK + t, so that a warp reads without bank conflicts.
#if IN_REGISTERS
#define FOR_BLOCKS _Pragma("unroll")
struct Number {
    u32 word[WORDS];
    DEVICE void get(int block, u32* out) const {
#pragma unroll
        for (int i = 0; i < TILE; i++) out[i] = word[block * TILE + i];
    }
    DEVICE void put(int block, const u32* in) {
#pragma unroll
        for (int i = 0; i < TILE; i++) word[block * TILE + i] = in[i];
    }
    DEVICE u32 last_word(int block) const { return word[block * TILE + TILE - 1]; }
};
#else
#define FOR_BLOCKS _Pragma("unroll 1")
struct Number {
    Quad* quads;
    DEVICE void get(int block, u32* out) const {
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad = quads[(block * QUADS + i) * BLOCK];
#pragma unroll
            for (int j = 0; j < 4; j++) out[4 * i + j] = quad.word[j];
        }
    }
    DEVICE void put(int block, const u32* in) {
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad;
#pragma unroll
            for (int j = 0; j < 4; j++) quad.word[j] = in[4 * i + j];
            quads[(block * QUADS + i) * BLOCK] = quad;
        }
    }
    DEVICE u32 last_word(int block) const { return quads[(block * QUADS + QUADS - 1) * BLOCK].word[3]; }
};
#endif

// A number in the scratch memory of the grid, quad by quad over all threads.
struct Stored {
    Quad* quads;
    u32 step; // threads of the grid
    DEVICE void get(int block, u32* out) const {
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad = quads[(u64)(block * QUADS + i) * step];
#pragma unroll
            for (int j = 0; j < 4; j++) out[4 * i + j] = quad.word[j];
        }
    }
    DEVICE void put(int block, const u32* in) {
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            Quad quad;
#pragma unroll
            for (int j = 0; j < 4; j++) quad.word[j] = in[4 * i + j];
            quads[(u64)(block * QUADS + i) * step] = quad;
        }
    }
};

DEVICE void read_block(const u32* row, u32 length, int block, u32* out) {
#pragma unroll
    for (int i = 0; i < TILE; i++) {
        u32 at = block * TILE + i;
        out[i] = at < length ? row[at] : 0;
    }
}

// Arithmetic modulo one number: a running value x, a second factor y, and a table of kept values.
struct Field {
    Number x, spare, modulus;
    Stored y;
    Quad* table;
    u32 step;
    u32 inverse; // -1/N mod 2^32

    // The thread's places in shared memory and in the scratch of the grid.
    DEVICE void open(Quad* scratch) {
#if !IN_REGISTERS
        SHARED_POOL(Quad, pool);
        x.quads = pool + threadIdx.x;
        spare.quads = x.quads + BLOCKS * QUADS * BLOCK;
        modulus.quads = spare.quads + BLOCKS * QUADS * BLOCK;
#endif
        step = gridDim.x * BLOCK;
        table = scratch + blockIdx.x * BLOCK + threadIdx.x;
        y.step = step;
    }

    DEVICE Stored entry(u32 index) const {
        Stored stored = {table + (u64)index * (BLOCKS * QUADS) * step, step};
        return stored;
    }

    DEVICE void load_modulus(const u32* constants) {
        inverse = constants[0];
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 words[TILE];
            read_block(modulus_in(constants), WORDS, block, words);
            modulus.put(block, words);
        }
    }

    // x = the integer in a row.
    DEVICE void load(const u32* row, u32 length) {
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 words[TILE];
            read_block(row, length, block, words);
            x.put(block, words);
        }
    }

    // y = 1, the integer; entry `index` of the table is overwritten.
    DEVICE void set_y_to_one(u32 index) {
        y = entry(index);
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 words[TILE];
#pragma unroll
            for (int i = 0; i < TILE; i++) words[i] = block == 0 && i == 0 ? 1 : 0;
            y.put(block, words);
        }
    }

    // Table entry `index` = x.
    DEVICE void keep(u32 index) {
        Stored stored = entry(index);
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 words[TILE];
            x.get(block, words);
            stored.put(block, words);
        }
    }

    // y = table entry `index`, which must be public.
    DEVICE void fetch(u32 index) { y = entry(index); }

    // x = table entry `index`, which must be public.
    DEVICE void take(u32 index) {
        Stored stored = entry(index);
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 words[TILE];
            stored.get(block, words);
            x.put(block, words);
        }
    }

    // y = table entry `index` by reading all `entries`; the choice is left in entry `entries`.
    DEVICE void select(u32 index, u32 entries) {
        y = entry(entries);
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 chosen[TILE];
#pragma unroll
            for (int i = 0; i < TILE; i++) chosen[i] = 0;
#pragma unroll 4
            for (u32 candidate = 0; candidate < entries; candidate++) {
                u32 words[TILE], mask = mask_of(candidate == index);
                entry(candidate).get(block, words);
#pragma unroll
                for (int i = 0; i < TILE; i++) chosen[i] |= words[i] & mask;
            }
            y.put(block, chosen);
        }
    }

    // Block `block` of 2x, whose lowest bit comes from the block below.
    DEVICE void get_doubled(int block, u32* out) const {
        u32 words[TILE];
        x.get(block, words);
#pragma unroll
        for (int i = TILE - 1; i > 0; i--) out[i] = words[i] << 1 | words[i - 1] >> 31;
        out[0] = words[0] << 1;
        if (block > 0) out[0] |= x.last_word(block - 1) >> 31;
    }

    // Adds the part of column `k` that comes from x^2.
    DEVICE void add_square_column(Window& window, int k, u32 top_mask) const {
        u32 a[TILE], b[TILE];
        FOR_BLOCKS
        for (int i = k < BLOCKS ? 0 : k - BLOCKS + 1; 2 * i < k; i++) {
            get_doubled(k - i, a);
            x.get(i, b);
            // Between neighbours the bit that came over from block i is not the last row's.
            window.add_product(a, b, 2 * i + 1 == k ? a[0] & ~1u : a[0]);
        }
        if (k % 2 == 0 && k / 2 < BLOCKS) {
            get_doubled(k / 2, a);
            x.get(k / 2, b);
            window.add_square(b, a);
        }
        if (!ROOM && k >= BLOCKS) {
            // The bit of 2x that has no block.
            x.get(k - BLOCKS, b);
#pragma unroll
            for (int i = 0; i < TILE; i++) b[i] &= top_mask;
            if (k == 2 * BLOCKS - 1) b[TILE - 1] = 0;
            window.add_words(b);
        }
    }

    DEVICE void add_product_column(Window& window, int k) const {
        u32 a[TILE], b[TILE];
        FOR_BLOCKS
        for (int i = k < BLOCKS ? 0 : k - BLOCKS + 1; i <= (k < BLOCKS ? k : BLOCKS - 1); i++) {
            y.get(k - i, a);
            x.get(i, b);
            window.add_product(a, b, a[0]);
        }
    }

    // x = x^2 / R or x y / R modulo N.
    template <bool SQUARE> DEVICE void montgomery() {
        Window window;
        window.clear();
        u32 top_mask = SQUARE && !ROOM ? mask_of(x.last_word(BLOCKS - 1) >> 31) : 0;
        u32 a[TILE], b[TILE];
        FOR_BLOCKS
        for (int k = 0; k < 2 * BLOCKS; k++) {
            if (SQUARE) add_square_column(window, k, top_mask);
            else add_product_column(window, k);
            FOR_BLOCKS
            for (int i = k < BLOCKS ? 0 : k - BLOCKS + 1; i < (k < BLOCKS ? k : BLOCKS); i++) {
                modulus.get(k - i, a);
                spare.get(i, b);
                window.add_product(a, b, a[0]);
            }
            if (k < BLOCKS) {
                modulus.get(0, a);
                window.cancel_low(a, inverse, b);
                spare.put(k, b);
            } else {
                // The quotient's block k - BLOCKS is used up; the answer takes its place.
                window.take_low(b);
                spare.put(k - BLOCKS, b);
            }
            window.advance();
        }
        if (!ROOM) subtract_modulus(spare, mask_of(window.even[0]));
        Number old = x;
        x = spare;
        spare = old;
    }
    DEVICE void square() { montgomery<true>(); }
    DEVICE void multiply() { montgomery<false>(); }

    // number -= N & mask; returns the borrow.
    DEVICE u32 subtract_modulus(Number& number, u32 mask) const {
        u32 borrow = 0;
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 a[TILE], n[TILE];
            number.get(block, a);
            modulus.get(block, n);
            sub_cc(0, borrow);
#pragma unroll
            for (int i = 0; i < TILE; i++) a[i] = subc_cc(a[i], n[i] & mask);
            borrow = 0u - subc(0, 0);
            number.put(block, a);
        }
        return borrow;
    }

    // Writes x, at most N, as the canonical integer.
    DEVICE void store(u32* row, u32 length) {
        u32 borrow = 0;
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 a[TILE], n[TILE];
            x.get(block, a);
            modulus.get(block, n);
            sub_cc(0, borrow);
#pragma unroll
            for (int i = 0; i < TILE; i++) a[i] = subc_cc(a[i], n[i]);
            borrow = 0u - subc(0, 0);
            spare.put(block, a);
        }
        u32 keep_x = mask_of(borrow);
        FOR_BLOCKS
        for (int block = 0; block < BLOCKS; block++) {
            u32 a[TILE], reduced[TILE];
            x.get(block, a);
            spare.get(block, reduced);
#pragma unroll
            for (int i = 0; i < TILE; i++) {
                u32 at = block * TILE + i;
                if (at < length) row[at] = blend(keep_x, reduced[i], a[i]);
            }
        }
        for (u32 at = WORDS; at < length; at++) row[at] = 0;
    }
};
