// The places of numbers in shared memory and in tables, and the functions that move them. See two_pass.cuh.
#pragma once

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

// A running value x, a second factor y, N and the quotient, and a table of kept values.
//
// Everything that writes numbers other threads of the group will read, or reads what they may write
// next, ends with a barrier.
struct Values {
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
};
