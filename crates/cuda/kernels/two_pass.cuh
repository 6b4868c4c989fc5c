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
    // Rows to a basic block of the compiled code.
    PRODUCT_ROWS = 8,
    QUOTIENT_ROWS = 2,
};
static_assert(WORDS % TILE == 0 && TILE % 4 == 0, "blocks are whole, and made of quads");
// Pairs take products below 2^64 and count their carries in a word: 2 BLOCKS tiles of HALF rows each.
static_assert(2 * BLOCKS * TILE < 1 << 30, "carry counters hold");

// 2 TILE words and more of a running sum. Pair m of `even` stands at word 2m, of `odd` at word 2m + 1;
// carries that leave a row of products are counted per word and added when the column is complete.
struct Window {
    u64 even[TILE + 1];
    u64 odd[TILE];
    u32 carries[TILE + 1]; // into words TILE, TILE + 1, ...

    DEVICE void clear() {
#pragma unroll
        for (int m = 0; m <= TILE; m++) even[m] = 0;
#pragma unroll
        for (int m = 0; m < TILE; m++) odd[m] = 0;
#pragma unroll
        for (int i = 0; i <= TILE; i++) carries[i] = 0;
    }

    // Word i of an accumulator's pairs.
    static DEVICE u32 word(const u64* pairs, int i) { return i % 2 ? high_of(pairs[i / 2]) : low_of(pairs[i / 2]); }
    // What the two accumulators have at word i.
    DEVICE u32 even_word(int i) const { return word(even, i); }
    DEVICE u32 odd_word(int i) const { return i == 0 ? 0 : word(odd, i - 1); }

    // Adds word * a[i] for i = first, first + 2, ... below TILE, where word has index j; the pairs are
    // those of the accumulator that position first + j falls on.
    DEVICE void add_row(const u32* a, int first, int j, u32 word) {
        if (first >= TILE) return;
        int position = first + j;
        u64* pairs = position % 2 == 0 ? even : odd;
        pairs[position / 2] = mad_wide_cc(a[first], word, pairs[position / 2]);
#pragma unroll
        for (int i = first + 2; i < TILE; i += 2) {
            position = i + j;
            pairs[position / 2] = madc_wide_cc(a[i], word, pairs[position / 2]);
        }
        carries[position + 2 - TILE] = addc(carries[position + 2 - TILE], 0);
    }

    // Adds a b, TILE words each; the last word of b meets `low_for_last` instead of a[0].
    DEVICE void add_product(u32* a, const u32* b, u32 low_for_last, u32 place) {
#pragma unroll
        for (int j = 0; j < TILE; j++) {
            if (j % PRODUCT_ROWS == 0 && UNROLL) end_block(place + j);
            if (j == TILE - 1) a[0] = low_for_last;
            add_row(a, 0, j, b[j]);
            add_row(a, 1, j, b[j]);
        }
    }

    // Adds a^2: each product of different words once, by doubled words, and the squares. `doubled` has
    // the words of 2a; its bit 0 of word i + 1 is the top bit of word i, which row i has already.
    DEVICE void add_square(const u32* a, const u32* doubled, u32 place) {
#pragma unroll
        for (int i = 0; i < TILE; i++) {
            if (i % PRODUCT_ROWS == 0 && UNROLL) end_block(place + i);
            u32 row[TILE];
#pragma unroll
            for (int j = 0; j < TILE; j++) row[j] = j == i ? a[j] : j == i + 1 ? doubled[j] & ~1u : doubled[j];
            add_row(row, i, i, a[i]);
            add_row(row, i + 1, i, a[i]);
        }
    }

    // Adds `words` at position 0.
    DEVICE void add_words(const u32* words) {
#pragma unroll
        for (int m = 0; m < HALF; m++) {
            u32 low = m == 0 ? add_cc(low_of(even[m]), words[2 * m]) : addc_cc(low_of(even[m]), words[2 * m]);
            even[m] = pair_of(low, addc_cc(high_of(even[m]), words[2 * m + 1]));
        }
        carries[0] = addc(carries[0], 0);
    }

    // Makes the low TILE words zero by adding a multiple of N, digit by digit; `low` has the low block
    // of N, and the quotient's digits are left in `quotient`.
    DEVICE void cancel_low(const u32* low, u32 inverse, u32* quotient, u32 place) {
        u32 carry = 0; // at most 2
#pragma unroll
        for (int r = 0; r < TILE; r++) {
            if (r % QUOTIENT_ROWS == 0 && UNROLL) end_block(place + r);
            u32 q = (even_word(r) + odd_word(r) + carry) * inverse;
            quotient[r] = q;
            add_row(low, 0, r, q);
            add_row(low, 1, r, q);
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
        for (int m = 0; m <= HALF; m++) {
            u64 pair = even[HALF + m];
            u32 low = m == 0 ? add_cc(low_of(pair), carries[0]) : addc_cc(low_of(pair), carries[2 * m]);
            even[m] = pair_of(low, addc_cc(high_of(pair), m == HALF ? 0 : carries[2 * m + 1]));
        }
#pragma unroll
        for (int m = 0; m < HALF; m++) odd[m] = odd[HALF + m];
#pragma unroll
        for (int m = HALF + 1; m <= TILE; m++) even[m] = 0;
#pragma unroll
        for (int m = HALF; m < TILE; m++) odd[m] = 0;
#pragma unroll
        for (int i = 0; i <= TILE; i++) carries[i] = 0;
    }
};

// A number of BLOCKS blocks: in registers when everything is unrolled, else in shared memory, where
// quad i of thread t is at i BLOCK + t, so that a warp reads without bank conflicts.
#if UNROLL
#define FOR_BLOCKS _Pragma("unroll")
#else
#define FOR_BLOCKS _Pragma("unroll 1")
#endif
#if IN_REGISTERS
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

// A number for every tile of every column.
DEVICE u32 place(int column, int tile) { return TILE * (column * (2 * BLOCKS + 2) + tile); }

// Arithmetic modulo one number: a running value x, a second factor y, and a table of kept values.
struct Field {
    Number x, spare;
#if MODULUS_IN_SCRATCH
    Stored modulus;
#else
    Number modulus;
#endif
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
#endif
        step = gridDim.x * BLOCK;
        table = scratch + blockIdx.x * BLOCK + threadIdx.x;
#if MODULUS_IN_SCRATCH
        modulus = entry(0);
        table += (u64)BLOCKS * QUADS * step;
#elif !IN_REGISTERS
        modulus.quads = spare.quads + BLOCKS * QUADS * BLOCK;
#endif
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
            window.add_product(a, b, 2 * i + 1 == k ? a[0] & ~1u : a[0], place(k, i));
        }
        if (k % 2 == 0 && k / 2 < BLOCKS) {
            get_doubled(k / 2, a);
            x.get(k / 2, b);
            window.add_square(b, a, place(k, BLOCKS));
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
            window.add_product(a, b, a[0], place(k, i));
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
            window.add_product(a, b, a[0], place(k, BLOCKS + 1 + i));
            }
            if (k < BLOCKS) {
                modulus.get(0, a);
                window.cancel_low(a, inverse, b, place(k, 2 * BLOCKS + 1));
                spare.put(k, b);
            } else {
                // The quotient's block k - BLOCKS is used up; the answer takes its place.
                if (UNROLL) end_block(place(k, 2 * BLOCKS + 1));
                window.take_low(b);
                spare.put(k - BLOCKS, b);
            }
            window.advance();
        }
        if (!ROOM) subtract_modulus(spare, mask_of(low_of(window.even[0])));
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
