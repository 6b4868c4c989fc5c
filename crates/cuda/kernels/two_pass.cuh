// Two-pass integer arithmetic (Emmart, Luitjens, Weems, Woolley, "Optimizing Modular Multiplication for
// NVIDIA's Maxwell GPUs", section IV) for a chip that multiplies 32 by 32 bits into 64 in one
// instruction, and for long numbers.
//
// The paper's two passes separate products whose halves fall on register boundaries from those that
// straddle them. Here a product of words i and j occupies a register pair at position i + j, and a
// multiply-add with carry wants an even pair: products with i + j even are summed in one accumulator,
// those with i + j odd in another that stands one word higher, and the two are added once per column.
// Numbers are cut into blocks of TILE words, and blocks are multiplied column by column (product
// scanning) in a window of registers, so that registers do not grow with the number.
//
// x is in shared memory, and so are N and the quotient where there is room for them; a thread that has a
// number alone may have IN_TABLE of these two in its table instead, so that more threads find room.
//
// THREADS neighbouring threads work on one number. A block is made of
// THREADS pieces of ROWS words; of every tile, block times block, a thread takes the rows of its own
// piece of the second block, so that the group's windows are summands of one value, each thread's ROWS
// words above the last one's. They stay apart; when a column is complete its block of TILE words is
// added up, a piece to a thread, and a Montgomery quotient block is found from it digit by digit.
//
// Range: values are below R = 2^(32 WORDS) and right modulo N. A product gives less than R + N; what
// exceeds R is taken away by one masked subtraction of N. With ROOM, N < R / 4 and x < 2N, and
// x y / R + N < 2N again, so that nothing is subtracted.
#pragma once

#ifndef IN_TABLE
#define IN_TABLE 0
#endif

enum {
    BLOCKS = WORDS / TILE,
    ROWS = TILE / THREADS,
    PIECES = BLOCKS * THREADS,
    PART = WORDS / THREADS,
    QUADS = PART / 4, // of a kept number, per thread
    // Quads. The numbers of a block of threads lie side by side, quad by quad. Threads of a group read
    // their own pieces at once: these are set apart so that eight threads, which a load of quads
    // serves at a time, find them in different banks.
    NUMBERS = BLOCK / THREADS,
    PIECE_QUADS = ROWS / 4,
    PIECE_STEP = PIECE_QUADS * NUMBERS + (THREADS > 1 ? 8 / THREADS : 0),
    NUMBER_QUADS = PIECES * PIECE_STEP,
    EXCHANGE_QUADS = (THREADS - 1) * PIECE_QUADS * BLOCK,
    // Bytes of shared memory that a block of threads needs, for x, the quotient, N, and what groups
    // exchange: 4 (3 - IN_TABLE) WORDS NUMBERS, and for groups 384 BLOCKS + 4 (TILE - ROWS) BLOCK more.
    SHARED_BYTES = 16 * ((3 - IN_TABLE) * NUMBER_QUADS + EXCHANGE_QUADS),
};
static_assert(IN_TABLE == 0 || (THREADS == 1 && IN_TABLE <= 2), "groups share all their numbers");
static_assert(WORDS % TILE == 0 && TILE % (4 * THREADS) == 0, "blocks are whole, and pieces are made of quads");
// A row's two carries are counted in a word, over 2 BLOCKS tiles of ROWS rows.
static_assert(4 * BLOCKS * TILE < 1 << 30, "carry counters hold");

#include "groups.cuh"
#include "table.cuh"

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
    // What the two accumulators have at word i.
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

// Memory written by a thread of a group is seen by the others after this.
DEVICE void group_barrier() {
    if (THREADS > 1) warp_barrier();
}

// Moves a piece from or to quads `step` apart.
DEVICE void get_piece(const Quad* quads, u32 step, u32* out) {
#pragma unroll
    for (int i = 0; i < PIECE_QUADS; i++) {
        Quad quad = quads[i * step];
#pragma unroll
        for (int j = 0; j < 4; j++) out[4 * i + j] = quad.word[j];
    }
}
DEVICE void put_piece(Quad* quads, u32 step, const u32* in) {
#pragma unroll
    for (int i = 0; i < PIECE_QUADS; i++) {
        Quad quad;
#pragma unroll
        for (int j = 0; j < 4; j++) quad.word[j] = in[4 * i + j];
        quads[i * step] = quad;
    }
}

// A number in shared memory, by its place there.
struct SharedNumber {
    enum { STEP = NUMBERS };
    u32 first;
    DEVICE Quad* at(u32 piece) const {
        SHARED_POOL(Quad, pool);
        return pool + first + piece * PIECE_STEP;
    }
};
// A number of one thread in its table.
struct TableNumber {
    enum { STEP = Table::STEP };
    Quad* first;
    DEVICE Quad* at(u32 piece) const { return first + piece * (PIECE_QUADS * STEP); }
};

// Either, piece by piece.
template <typename Place> struct Number : Place {
    using Place::at;
    DEVICE void get(u32 piece, u32* out) const { get_piece(at(piece), Place::STEP, out); }
    DEVICE void put(u32 piece, const u32* in) const { put_piece(at(piece), Place::STEP, in); }
    DEVICE void get_block(u32 block, u32* out) const {
#pragma unroll
        for (int i = 0; i < THREADS; i++) get(block * THREADS + i, out + i * ROWS);
    }
    // The highest word below a piece.
    DEVICE u32 below(u32 piece) const { return piece == 0 ? 0 : at(piece - 1)[(PIECE_QUADS - 1) * Place::STEP].word[3]; }
};

// One of two types.
template <bool FIRST, typename A, typename B> struct Choose { typedef A Type; };
template <typename A, typename B> struct Choose<false, A, B> { typedef B Type; };

// Arithmetic modulo one number: a running value x, a second factor y, and a table of kept values.
//
// Everything that writes numbers other threads of the group will read, or reads what they may write
// next, ends with a barrier.
struct Field {
    Number<SharedNumber> x;
    Number<Choose<IN_TABLE == 2, TableNumber, SharedNumber>::Type> quotient;
    Number<Choose<IN_TABLE >= 1, TableNumber, SharedNumber>::Type> modulus;
    Quad* y;     // this thread's pieces of the second factor
    Table table;
    u64 inverse; // -1/N mod 2^64

    // This thread's piece of a block.
    static DEVICE u32 own(u32 block) { return block * THREADS + rank(); }

    // The thread's places in shared memory and in the scratch of the grid.
    DEVICE void open(Quad* scratch) {
        table.open(scratch);
        x.first = threadIdx.x / THREADS;
        u32 next = x.first + NUMBER_QUADS;
        place(quotient, next);
        place(modulus, next);
    }
    // Numbers in the table have its first entries, which are no one else's.
    DEVICE void place(SharedNumber& number, u32& next) const {
        number.first = next;
        next += NUMBER_QUADS;
    }
    DEVICE void place(TableNumber& number, u32&) {
        number.first = table.first;
        table.first = table.entry(1);
    }

    // Entries of the table have a thread's own pieces.
    static DEVICE Quad* piece_of(Quad* entry, u32 block) { return entry + block * (PIECE_QUADS * Table::STEP); }

    template <typename To> static DEVICE void read(const To& number, const u32* row, u32 length) {
#pragma unroll 1
        for (u32 block = 0; block < BLOCKS; block++) {
            u32 words[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                u32 at = own(block) * ROWS + i;
                words[i] = at < length ? row[at] : 0;
            }
            number.put(own(block), words);
        }
        group_barrier();
    }

    DEVICE void load_modulus(const u32* constants) {
        inverse = pair_of(constants[0], constants[1]);
        read(modulus, modulus_in(constants), WORDS);
    }

    // x = the integer in a row.
    DEVICE void load(const u32* row, u32 length) { read(x, row, length); }

    // y = 1, the integer; entry `index` of the table is overwritten.
    DEVICE void set_y_to_one(u32 index) {
        y = table.entry(index);
#pragma unroll 1
        for (u32 block = 0; block < BLOCKS; block++) {
            u32 words[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++) words[i] = own(block) + i == 0;
            put_piece(piece_of(y, block), Table::STEP, words);
        }
    }

    // Table entry `index` = x.
    DEVICE void keep(u32 index) {
        Quad* kept = table.entry(index);
#pragma unroll 1
        for (u32 block = 0; block < BLOCKS; block++) {
            u32 words[ROWS];
            x.get(own(block), words);
            put_piece(piece_of(kept, block), Table::STEP, words);
        }
    }

    // y = table entry `index`, which must be public.
    DEVICE void fetch(u32 index) { y = table.entry(index); }

    // x = table entry `index`, which must be public.
    DEVICE void take(u32 index) {
        Quad* kept = table.entry(index);
#pragma unroll 1
        for (u32 block = 0; block < BLOCKS; block++) {
            u32 words[ROWS];
            get_piece(piece_of(kept, block), Table::STEP, words);
            x.put(own(block), words);
        }
        group_barrier();
    }

    // The words of 2x, this thread's piece of a block.
    DEVICE void get_doubled(u32 block, u32* out) const {
        u32 words[ROWS], below = x.below(own(block));
        x.get(own(block), words);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            out[i] = words[i] << 1 | below >> 31;
            below = words[i];
        }
    }

    // Adds the products of column k: those of x^2 or x y, then those of the quotient and N.
    //
    // In a square, rows are words of 2x and meet the blocks above their own. They have what is below
    // block j twice, but for the top bit of block j - 1, which meets block j along with x_j^2.
    template <bool SQUARE> DEVICE void add_column(Window& window, u32 k) const {
        u32 first = k < BLOCKS ? 0 : k - BLOCKS + 1;
        u32 block[TILE], piece[ROWS];
#pragma unroll 1
        for (u32 i = first; i < (SQUARE ? (k + 1) / 2 : smaller(k + 1, BLOCKS)); i++) {
            if (SQUARE) get_doubled(i, piece);
            else get_piece(piece_of(y, i), Table::STEP, piece);
            x.get_block(k - i, block);
            window.add_product(block, piece);
        }
        if (SQUARE && k % 2 == 0) {
            x.get_block(k / 2, block);
            x.get(own(k / 2), piece);
            window.add_square(block, THREADS == 1 ? block : piece, rank() == 0 ? x.below(own(k / 2)) : 0);
        }
#pragma unroll 1
        for (u32 i = first; i < smaller(k, BLOCKS); i++) {
            quotient.get(own(i), piece);
            modulus.get_block(k - i, block);
            window.add_product(block, piece);
        }
    }

    // Where a thread of the block leaves a piece for the one j places above in its group.
    static DEVICE Quad* left_by(u32 thread, u32 j) {
        SHARED_POOL(Quad, pool);
        return pool + (3 - IN_TABLE) * NUMBER_QUADS + (j - 1) * PIECE_QUADS * BLOCK + thread;
    }
    static DEVICE Quad* left_for_this(u32 j) { return left_by(threadIdx.x - rank() + (rank() - j) % THREADS, j); }

    // Takes a column's block out of the window: `sum` is this thread's piece of it, and what is
    // above is returned, less than THREADS.
    //
    // Piece j of a thread's low words is for the thread j places above, or, from the highest thread on,
    // for the lowest ones and the next column. So a thread finds some of its summands before the others
    // write theirs, and the rest afterwards.
    static DEVICE u32 collect(Window& window, u32* sum) {
        u32 low[TILE], pieces[THREADS][ROWS];
        window.take_low(low);
        window.advance();
#pragma unroll
        for (int j = 1; j < THREADS; j++) {
            if (rank() < j) get_piece(left_for_this(j), BLOCK, pieces[j]);
        }
        group_barrier();
#pragma unroll
        for (int j = 1; j < THREADS; j++) {
            put_piece(left_by(threadIdx.x, j), BLOCK, low + j * ROWS);
        }
        group_barrier();
#pragma unroll
        for (int j = 1; j < THREADS; j++) {
            if (rank() >= j) get_piece(left_for_this(j), BLOCK, pieces[j]);
        }
        u32 above = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) sum[i] = low[i];
#pragma unroll
        for (int j = 1; j < THREADS; j++) above += add_to(sum, pieces[j]);
        return above;
    }
    static DEVICE u32 add_to(u32* sum, const u32* piece) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) sum[i] = i == 0 ? add_cc(sum[i], piece[i]) : addc_cc(sum[i], piece[i]);
        return addc(0, 0);
    }

    // Finds quotient block k from the column's block, and adds to the window what its product with N's
    // low block carries into the next column.
    DEVICE void reduce_column(Window& window, u32 k, const u32* sum, u32 above) const {
        Residue residue;
        residue.open(sum, above);
        u32 n[ROWS], words[ROWS];
        modulus.get(rank(), n);
#pragma unroll 1
        for (u32 thread = 0; thread < THREADS; thread++) {
#pragma unroll
            for (int i = 0; i < ROWS; i += 2) residue.step(n, inverse, words + i);
            if (rank() == thread) quotient.put(own(k), words);
        }
        above = residue.join(words);
        window.add_piece(words, above);
    }

    // x = x^2 / R or x y / R modulo N. From column BLOCKS on the blocks of x are used up one by one, and the
    // answer's blocks take their places; what is above a group's pieces of these is kept in the blocks of
    // the quotient, which are used up too.
    template <bool SQUARE> DEVICE void montgomery() {
        Window window;
        window.clear();
        if (THREADS > 1) {
            u32 zero[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++) zero[i] = 0;
#pragma unroll
            for (int j = 1; j < THREADS; j++) put_piece(left_by(threadIdx.x, j), BLOCK, zero);
            group_barrier();
        }
#pragma unroll 1
        for (u32 k = 0; k < 2 * BLOCKS; k++) {
            add_column<SQUARE>(window, k);
            u32 piece[ROWS];
            if (THREADS == 1) {
                if (k < BLOCKS) {
                    u32 low[TILE];
                    modulus.get_block(0, low);
                    window.cancel_low(low, low_of(inverse), piece);
                    quotient.put(k, piece);
                } else {
                    window.take_low(piece);
                    x.put(k - BLOCKS, piece);
                }
                window.advance();
            } else {
                u32 above = collect(window, piece);
                if (k < BLOCKS) {
                    reduce_column(window, k, piece, above);
                } else {
                    x.put(own(k - BLOCKS), piece);
                    quotient.at(own(k - BLOCKS))->word[0] = above;
                }
            }
        }
        finish(low_of(window.even[0]));
    }
    DEVICE void square() { montgomery<true>(); }
    DEVICE void multiply() { montgomery<false>(); }

    // Makes x, an answer in pieces with counts of what is above each, an answer below R.
    // `beyond` is what this thread's window has above the last column, and at most 1 in all.
    DEVICE void finish(u32 beyond) const {
        u32 entering = 0;
        if (THREADS > 1) {
            // Pieces that were left for the next column.
#pragma unroll
            for (int j = 1; j < THREADS; j++) {
                if (rank() < j) beyond |= left_for_this(j)->word[0];
            }
            group_barrier();
            beyond |= quotient.at(PIECES - 1)->word[0];
            u32 carry = 0, all = 0xffffffffu;
#pragma unroll 1
            for (u32 i = 0; i < BLOCKS; i++) {
                u32 piece = rank() * BLOCKS + i, words[ROWS];
                x.get(piece, words);
                words[0] = add_cc(words[0], carry + (piece == 0 ? 0 : quotient.at(piece - 1)->word[0]));
#pragma unroll
                for (int j = 1; j < ROWS; j++) words[j] = addc_cc(words[j], 0);
                carry = addc(0, 0);
#pragma unroll
                for (int j = 0; j < ROWS; j++) all &= words[j];
                x.put(piece, words);
            }
            Carries carries = resolve(carry != 0, all == 0xffffffffu);
            entering = carries.entering;
            beyond = carries.leaving | (bits_of_group(beyond != 0) != 0);
        }
        if (THREADS > 1 || !ROOM) subtract(x, x, entering, ROOM ? 0 : mask_of(beyond));
        group_barrier();
    }

    // to = from + entering - (N & mask), where BLOCKS neighbouring pieces are a thread's, and `entering`
    // is a carry into the lowest of these; returns the borrow of the whole number.
    template <typename From, typename To>
    DEVICE u32 subtract(const From& from, const To& to, u32 entering, u32 mask) const {
        u32 borrow = 0, any = 0;
#pragma unroll 1
        for (u32 i = 0; i < BLOCKS; i++) {
            u32 piece = rank() * BLOCKS + i, words[ROWS], n[ROWS];
            from.get(piece, words);
            modulus.get(piece, n);
            if (THREADS > 1) {
                words[0] = add_cc(words[0], entering);
#pragma unroll
                for (int j = 1; j < ROWS; j++) words[j] = addc_cc(words[j], 0);
                entering = addc(0, 0);
            }
            sub_cc(0, borrow);
#pragma unroll
            for (int j = 0; j < ROWS; j++) words[j] = subc_cc(words[j], n[j] & mask);
            borrow = 0u - subc(0, 0);
#pragma unroll
            for (int j = 0; j < ROWS; j++) any |= words[j];
            to.put(piece, words);
        }
        if (THREADS == 1) return borrow;
        Carries borrows = resolve(borrow != 0, any == 0);
        borrow = borrows.entering;
#pragma unroll 1
        for (u32 i = 0; i < BLOCKS; i++) {
            u32 piece = rank() * BLOCKS + i, words[ROWS];
            to.get(piece, words);
            words[0] = sub_cc(words[0], borrow);
#pragma unroll
            for (int j = 1; j < ROWS; j++) words[j] = subc_cc(words[j], 0);
            borrow = 0u - subc(0, 0);
            to.put(piece, words);
        }
        return borrows.leaving;
    }

    // Writes x, below 2N, as the canonical integer.
    DEVICE void store(u32* row, u32 length) const {
        u32 keep_x = mask_of(subtract(x, quotient, 0, 0xffffffffu));
#pragma unroll 1
        for (u32 i = 0; i < BLOCKS; i++) {
            u32 piece = rank() * BLOCKS + i, words[ROWS], reduced[ROWS];
            x.get(piece, words);
            quotient.get(piece, reduced);
#pragma unroll
            for (int j = 0; j < ROWS; j++) {
                u32 at = piece * ROWS + j;
                if (at < length) row[at] = blend(keep_x, reduced[j], words[j]);
            }
        }
        for (u32 at = WORDS + rank(); at < length; at += THREADS) row[at] = 0;
        group_barrier();
    }
};
