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
#include "two_pass_numbers.cuh"
#include "two_pass_residue.cuh"
#include "two_pass_window.cuh"

// Arithmetic modulo one number.
struct Field : Values {
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

    // The place in which a thread of the block leaves a piece for the one j places above in its group.
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
