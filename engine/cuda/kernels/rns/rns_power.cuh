// Exponentiation in residues: Montgomery products by the radix B, the product of base B's primes.
//
// A number is xi_j = x A_j^-1 modulo a_j, with A_j = A / a_j, in base A only; every product extends it
// to B first. docs/algorithms/rns.md derives the steps and their bounds.
//
// If MERGED, all items have one modulus, which the matrices have in them.
#pragma once

// The argument of the kernels. Everything that products multiply by lies in one workspace, so that
// a place in it is one word.
struct PowerCall {
    const unsigned char* matrices; // A to B, then B to A
    const Channel* channels;       // those of A, then those of B
    Pair* workspace;
    const Pair* bases;             // tiles of one side
    Pair* results;                 // tiles of one side
    const Pair* seconds;           // second factors of products: tiles of one side
    Numbers exponents;
    u32 exponent_bits;
    u32 window;
    u32 count;                     // items
    u32 modulus_stride;            // in tiles; 0 means one modulus for all
    u32 tables;                    // where the tables begin in the workspace, in pairs
};
static_assert(sizeof(PowerCall) == 88 && AT(PowerCall, matrices, 0) && AT(PowerCall, channels, 8) &&
              AT(PowerCall, workspace, 16) && AT(PowerCall, bases, 24) && AT(PowerCall, results, 32) &&
              AT(PowerCall, seconds, 40) && AT(PowerCall, exponents, 48) &&
              AT(PowerCall, exponent_bits, 64) && AT(PowerCall, window, 68) && AT(PowerCall, count, 72) &&
              AT(PowerCall, modulus_stride, 76) && AT(PowerCall, tables, 80), "PowerCall, as in Rust");

// Sides of a modulus's tile: the factor of squares in base B, the factor of the quotient in base A, and two
// table entries, B^2 modulo N and 1; last the number 1 itself. With merged matrices squares have no factor,
// and x, which is s_i x in base B then, is an entry as it is: the factor is 2^32.
enum { SQUARE_B, MODULUS_A, RADIX_ENTRY, ONE_ENTRY = RADIX_ENTRY + 2, ONE_STATE = ONE_ENTRY + 2, MODULUS_SIDES };

// Shared memory: the matrices or a ring for them, base B's words if SHARED_WORDS, the channels, and for
// secret digits what `Scan` needs.
struct Memory {
    Matrices matrices;
    const Channel* channels;
    Quad* words;
    Quad* rest;

    DEVICE void open(const PowerCall& call) {
        SHARED_POOL(Quad, pool);
        matrices.open(call.matrices, pool);
        words = pool + Matrices::SHARED_QUADS;
        rest = words + WordsB::quads();
#ifdef MODMILL_EMULATOR
        channels = call.channels;
#else
        for (u32 i = threadIdx.x; i < 2 * CHANNELS; i += blockDim.x) rest[i] = ((const Quad*)call.channels)[i];
        channels = (const Channel*)rest;
        __syncthreads();
#endif
        rest += 2 * CHANNELS;
    }
};

// A copy that the compiler neither merges with others nor makes a selection of.
DEVICE void copy_register(u32& to, u32 from) {
#ifdef MODMILL_EMULATOR
    to = from;
#else
    asm volatile("mov.u32 %0, %1;" : "=r"(to) : "r"(from));
#endif
}

template <bool SECRET> struct TileNumbers {
    // Rows of a table that are looked at during the chunks of one side, so that all are between two words of
    // an exponent: a digit has SECRET_WINDOW squares and a product, of two sides each.
    enum { ROUNDS = 2 * SCAN_DIGITS * (SECRET_WINDOW + 1), SCANS_OF_SIDE = (SCAN_ROWS + ROUNDS - 1) / ROUNDS };
    // If registers are short, factors in base B are loaded when they are needed: merged squares have none.
    enum { LATE_FACTORS = MERGED && SECRET && !STREAMED };
    // As soon as the products with a chunk's pieces have been started, those before the last two are
    // finished. What every product needs is loaded before them.
    enum { EARLY_FACTORS = SHARED_WORDS };
    Memory memory;
    Scan scan;
    Pair* workspace;    // this lane's
    u32 t;
    u32 modulus;        // its place in the workspace
    u32 xi[4 * STEPS]; // base A
    WordsB eta;        // base B, within a product
    u32 quotient[2];

    // Starts the product of words with chunk `index` to base B (side 0) or A (side 1), from PIECE on. The
    // last two pieces are under way at the end; this is the place of the last.
    template <int COUNT, int PIECE = 0, typename Words>
    DEVICE MatrixPlace start_chunk(u32* sums, Words words, int side, int index) {
        constexpr int FIRST = first_step(PIECE), LENGTH = first_step(PIECE + 1) - FIRST;
        u32 before = 0;
        if constexpr (PIECE == 0) memory.matrices.begin_chunk();
        if constexpr (PIECE >= 2) {
            finish_product<1>();
            before = memory.matrices.count_release(side, index, PIECE - 2);
        }
        MatrixPlace place = memory.matrices.acquire(side, index, PIECE);
        if constexpr (PIECE >= 2) memory.matrices.refill(side, index, PIECE - 2, before);
        start_product<COUNT, LENGTH>(sums, words_of(words, FIRST), place, PIECE > 0);
        if constexpr (PIECE + 1 == PIECES) return place;
        else return start_chunk<COUNT, PIECE + 1>(sums, words, side, index);
    }

    // Waits for the product with chunk `index`.
    DEVICE void finish_chunk(int side, int index) {
        finish_product();
        if (PIECES > 1) memory.matrices.release(side, index, PIECES - 2);
        memory.matrices.release(side, index, PIECES - 1);
    }

    // Factors of COUNT rows, of an entry for each of the two numbers.
    template <int COUNT> DEVICE void load_factors(Pair* factors, const u32* entries, u32 first) const {
        for (int row = 0; row < (SECRET ? 1 : 2); row++) {
            const Pair* from = workspace + entries[row] + first * 32;
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                if (SECRET) factors[i] = from[i * 32];
                else factors[i].row[row] = from[i * 32].row[row];
            }
        }
    }

    // A residue of one of the two numbers, from the column sums of a group: `low` and `high` are added to
    // sums.
    static DEVICE u32 residue_of(const u32* sums, int row, const Channel& channel, u32 low = 0, u32 high = 0) {
        const u32* digits = sums + 2 * row;
        return fold(digits[0] + low, digits[1], digits[4] + (digits[5] << 8) + high, channel);
    }

    // COUNT groups of x to base B from group `first` on, and eta = x y (-1/N) B_i^-1 modulo b_i, or with x^2
    // for x; if MERGED, up to its sign. They are chunk `index`, whose product is under way, or if
    // SHARED_WORDS is still to be started.
    template <int COUNT> DEVICE void to_b(u32* sums, int index, int first, bool square, const u32* entries) {
        Pair factors[COUNT];
        if (EARLY_FACTORS) {
            load_factors<COUNT>(factors, entries, first);
            start_chunk<COUNT>(sums, xi, 0, index);
        }
        if (SECRET && index < SCANS_OF_SIDE) scan.advance();
        // Factors are loaded even for squares, which have none: a branch costs more.
        if (!EARLY_FACTORS && !LATE_FACTORS) load_factors<COUNT>(factors, entries, first);
        finish_chunk(0, index);
        auto channel_of = [&](int i) { return memory.channels[CHANNELS + 4 * (first + i) + t]; };
        auto x_of = [&](int i, int row) {
            Channel channel = channel_of(i);
            u32 low = QUOTIENT_IN_MATRIX ? 0 : quotient[row] * (channel.weight & 0xffff);
            u32 high = QUOTIENT_IN_MATRIX ? 0 : quotient[row] * (channel.weight >> 16);
            return residue_of(sums + 8 * i, row, channel, low, high);
        };
        if (square && MERGED) {
#pragma unroll
            for (int i = 0; i < 2 * COUNT; i++) {
                u32 x = x_of(i / 2, i % 2);
                eta.set(first + i / 2, i % 2, reduced_product(x, x, channel_of(i / 2)));
            }
        } else {
            if (LATE_FACTORS) load_factors<COUNT>(factors, entries, first);
            u32 x[2 * COUNT];
#pragma unroll
            for (int i = 0; i < 2 * COUNT; i++) x[i] = x_of(i / 2, i % 2);
            if (square) {
#pragma unroll
                for (int i = 0; i < 2 * COUNT; i++) x[i] = reduced_product(x[i], x[i], channel_of(i / 2));
            }
#pragma unroll
            for (int i = 0; i < 2 * COUNT; i++)
                eta.set(first + i / 2, i % 2, reduced_product(x[i], factors[i / 2].row[i % 2], channel_of(i / 2)));
        }
    }

    // The chunks to base B from CHUNK on, the first of which is under way. The compiler would put products
    // one after the other if the sums were not nested like this.
    template <int CHUNK> DEVICE void chunks_to_b(u32* sums, bool square, const u32* entries) {
        to_b<count_to_b(CHUNK)>(sums, CHUNK, first_to_b(CHUNK), square, entries);
        if constexpr (CHUNK + 1 < CHUNKS_B) {
            u32 next[8 * count_to_b(CHUNK + 1)];
            start_chunk<count_to_b(CHUNK + 1)>(next, xi, 0, CHUNK + 1);
            chunks_to_b<CHUNK + 1>(next, square, entries);
        }
    }

    template <int COUNT> DEVICE void load_modulus(Pair* n, int first) const {
        if (MERGED) return;
        const Pair* from = workspace + modulus + MODULUS_A * SIDE_PAIRS + first * 32;
#pragma unroll
        for (int i = 0; i < COUNT; i++) n[i] = from[i * 32];
    }

    // COUNT groups of the quotient q = sum eta_i B_i to base A from group `first` on, and (x y + q N) / B in
    // place of x. If MERGED, q N / B is a product with the matrix, and x y enters it as one more word of the
    // column. They are chunk `index`, and `x` its words.
    template <int COUNT> DEVICE void to_a(u32* x, int index, int first, bool square, const u32* entries, u32* shares) {
        u32 sums[8 * COUNT];
        Pair factors[COUNT], n[COUNT];
        if (EARLY_FACTORS) load_modulus<COUNT>(n, first);
        MatrixPlace chunk;
        if constexpr (MERGED) {
            chunk = memory.matrices.acquire(1, index, 0);
            start_product_in_pairs<COUNT>(sums, eta.first_factor(), chunk);
        } else {
            chunk = start_chunk<COUNT>(sums, eta.first_factor(), 1, index);
        }
        if (SECRET && index < SCANS_OF_SIDE) scan.advance();
        if (!EARLY_FACTORS) load_modulus<COUNT>(n, first);
        auto channel_of = [&](int i) { return memory.channels[4 * (first + i) + t]; };
        if (square) {
#pragma unroll
            for (int i = 0; i < 2 * COUNT; i++) {
                Channel channel = channel_of(i / 2);
                x[i] = reduced_product(x[i], x[i], channel);
                factors[i / 2].row[i % 2] = channel.factor;
            }
        } else {
            load_factors<COUNT>(factors, entries, GROUPS + first);
            if (MERGED) {
#pragma unroll
                for (int i = 0; i < 2 * COUNT; i++) x[i] = reduced_product(x[i], factors[i / 2].row[i % 2], channel_of(i / 2));
            }
        }
        if (MERGED) add_own_words<COUNT>(sums, x, chunk);
        finish_chunk(1, index);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            Channel channel = channel_of(i);
            for (int row = 0; row < 2; row++) {
                u32 word = residue_of(sums + 8 * i, row, channel);
                if (!MERGED)
                    word = reduced((u64)word * n[i].row[row] + (u64)x[2 * i + row] * factors[i].row[row], channel);
                x[2 * i + row] = word;
                // The last of equal chunks may have groups behind the last group.
                if (!SHARED_WORDS || i < GROUPS - (CHUNKS_A - 1) * LENGTH_A || first + i < GROUPS)
                    shares[row] += (word >> 16) * channel.weight;
            }
        }
    }

    // Copies the words of chunk `index`, one of [FIRST, LAST), between `x` and xi, whose registers have no
    // addresses. The compiler would make a choice for every word of xi out of plain copies. It leaves
    // `volatile` ones behind branches.
    template <bool BACK, int FIRST, int LAST> DEVICE void copy_words(u32* x, int index) {
        if constexpr (LAST - FIRST > 1) {
            constexpr int MIDDLE = (FIRST + LAST) / 2;
            if (index < MIDDLE) copy_words<BACK, FIRST, MIDDLE>(x, index);
            else copy_words<BACK, MIDDLE, LAST>(x, index);
        } else {
#pragma unroll
            for (int i = 0; i < 2 * LENGTH_A; i++) {
                constexpr int PLACE = 2 * LENGTH_A * FIRST;
                if (PLACE + i >= 2 * GROUPS) x[i] = BACK ? x[i] : 0;
                else if (BACK) copy_register(xi[PLACE + i], x[i]);
                else copy_register(x[i], xi[PLACE + i]);
            }
        }
    }

    // The chunks to base A from CHUNK on.
    template <int CHUNK> DEVICE void chunks_to_a(bool square, const u32* entries, u32* shares) {
        if constexpr (SHARED_WORDS) {
#pragma unroll 1
            for (int index = 0; index < CHUNKS_A; index++) {
                u32 x[2 * LENGTH_A];
                copy_words<false, 0, CHUNKS_A>(x, index);
                to_a<LENGTH_A>(x, index, first_to_a(index), square, entries, shares);
                copy_words<true, 0, CHUNKS_A>(x, index);
            }
        } else if constexpr (CHUNK < CHUNKS_A) {
            constexpr int FIRST = first_to_a(CHUNK), COUNT = first_to_a(CHUNK + 1) - FIRST;
            to_a<COUNT>(xi + 2 * FIRST, CHUNK, FIRST, square, entries, shares);
            chunks_to_a<CHUNK + 1>(square, entries, shares);
        }
    }

    // How many times the sum of xi_j A_j holds A, from the shares of a quad's lanes; the host's weights
    // make the error less than a half.
    DEVICE void set_quotient(u32* shares) {
        for (int row = 0; row < 2; row++) {
            u32 sum = shares[row];
            sum += from_thread(sum, t ^ 1, 4);
            sum += from_thread(sum, t ^ 2, 4);
            quotient[row] = (sum + (1u << (QUOTIENT_SHIFT - 1))) >> QUOTIENT_SHIFT;
            if (QUOTIENT_IN_MATRIX) xi[4 * STEPS - 2 + row] = t == 0 ? quotient[row] : 0;
        }
    }

    // x y / B modulo N in place of x, for y of a table entry or, if `square`, x itself. Or, if `keeps`, x as
    // an entry at `place`: its residues times the factors of a square.
    DEVICE void product(bool square, const u32* entries, bool keeps, u32 place) {
        eta.reuse();
        u32 sums[8 * count_to_b(0)];
        if constexpr (SHARED_WORDS) {
#pragma unroll 1
            for (int index = 0; index < CHUNKS_B; index++) to_b<LENGTH_B>(sums, index, first_to_b(index), square, entries);
        } else {
            start_chunk<count_to_b(0)>(sums, xi, 0, 0);
            chunks_to_b<0>(sums, square, entries);
        }
        if (keeps) {
            for (int piece = 0; piece < CHUNKS_A * PIECES; piece++) {
                memory.matrices.acquire(1, piece / PIECES, piece % PIECES);
                memory.matrices.release(1, piece / PIECES, piece % PIECES);
            }
            keep(workspace + place);
            return;
        }
        eta.publish();
        u32 shares[2] = {0, 0};
        chunks_to_a<0>(square, entries, shares);
        set_quotient(shares);
    }

    // Factors of products are below their primes, or if MERGED in base A as large as x.
    DEVICE void keep(Pair* entry) const {
#pragma unroll
        for (int m = 0; m < GROUPS; m++) {
            Channel a = memory.channels[4 * m + t], b = memory.channels[CHANNELS + 4 * m + t];
            Pair side_b, side_a;
            for (int row = 0; row < 2; row++) {
                side_b.row[row] = reduced_once(eta.get(m, row), b);
                side_a.row[row] =
                    MERGED ? xi[2 * m + row] : reduced_once(reduced_product(xi[2 * m + row], a.factor, a), a);
            }
            entry[m * 32] = side_b;
            entry[SIDE_PAIRS + m * 32] = side_a;
        }
    }

    DEVICE void open(const PowerCall& call) {
        memory.open(call);
        scan.row = SCAN_ROWS;
        workspace = call.workspace + threadIdx.x % 32;
        t = threadIdx.x % 4;
#pragma unroll
        for (int i = 0; i < 4 * STEPS; i++) xi[i] = 0;
        eta.open(memory.words);
    }

    DEVICE void load(const Pair* side) {
        u32 shares[2] = {0, 0};
#pragma unroll
        for (int m = 0; m < GROUPS; m++) {
            Pair pair = side[m * 32];
            for (int row = 0; row < 2; row++) {
                xi[2 * m + row] = pair.row[row];
                shares[row] += (pair.row[row] >> 16) * memory.channels[4 * m + t].weight;
            }
        }
        set_quotient(shares);
    }

    DEVICE void store(Pair* side) const {
#pragma unroll
        for (int m = 0; m < GROUPS; m++) side[m * 32] = Pair{{xi[2 * m], xi[2 * m + 1]}};
    }
};

// Every warp of a warpgroup takes part in every step; tiles beyond the last repeat it. A secret exponent has
// a window of SECRET_WINDOW bits.
template <bool SECRET> DEVICE void exponentiate(const PowerCall& call) {
    TileNumbers<SECRET> x;
    x.open(call);
    u32 lane = threadIdx.x % 32;
    u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    u32 tiles = (call.count + TILE_ITEMS - 1) / TILE_ITEMS;
    u32 window = SECRET ? SECRET_WINDOW : call.window, entries = 1u << window;
    u32 digits = (call.exponent_bits + window - 1) / window;
    // Products multiply by copies of a secret table's entries only: the copies that the digits of a word
    // chose, while the copies for the next word are being chosen. Before that, the first copy is entry 1, and
    // entries are made in the second.
    u32 table = call.tables + warp * (entries + (SECRET ? 2 * SCAN_DIGITS : 0)) * ENTRY_PAIRS;
    u32 copies = table + SCAN_ENTRIES * ENTRY_PAIRS;
    if (SECRET) x.scan.open(call.workspace + table, x.memory.rest);
    for (u32 round = 0; round * warps < tiles; round++) {
        u32 tile = smaller(round * warps + warp, tiles - 1);
        x.modulus = tile * call.modulus_stride * MODULUS_SIDES * SIDE_PAIRS;
        auto item_of = [&](u32 row) { return smaller(tile * TILE_ITEMS + lane / 4 + 8 * row, call.count - 1); };
        // The base in Montgomery form and its powers, entry after entry; 1 and entry 0; the digits from the
        // top, 1 squared first; and back. Each step keeps x if it is an entry, squares it, and multiplies:
        // one loop, so that the code of a product is there once.
        u32 first_digit = entries + 1, last = first_digit + digits;
        for (u32 step = 0; step <= last; step++) {
            if (step == 0) x.load(call.bases + (u64)tile * SIDE_PAIRS + lane);
            if (step == entries) x.load(x.workspace + x.modulus + ONE_STATE * SIDE_PAIRS);
            bool keeps = (step > 0 && step < entries) || step == first_digit;
            bool digit_step = step >= first_digit && step < last;
            u32 place = last - 1 - step, word = place / SCAN_DIGITS; // of a digit
            u32 source[2];
            for (u32 row = 0; row < 2; row++) {
                source[row] = SECRET ? copies : table + ENTRY_PAIRS;
                if (step == 0 || step == entries) source[row] = x.modulus + RADIX_ENTRY * SIDE_PAIRS;
                if (step == last) source[row] = x.modulus + ONE_ENTRY * SIDE_PAIRS;
                if (digit_step && SECRET) source[row] = copies + place % (2 * SCAN_DIGITS) * ENTRY_PAIRS;
                if (digit_step && !SECRET)
                    source[row] = table + exponent_digit(call.exponents, item_of(row), place * window, window) * ENTRY_PAIRS;
            }
            auto choose = [&](u32 word) {
                for (u32 row = 0; row < 2; row++)
                    x.scan.digits[row] = word_at(call.exponents, item_of(row), word * SCAN_DIGITS * SECRET_WINDOW);
                x.scan.start(x.workspace + copies + word % 2 * SCAN_DIGITS * ENTRY_PAIRS);
            };
            u32 entry = step % first_digit;
            u32 made = SECRET ? copies + (step == 1 ? 0 : ENTRY_PAIRS) : table + entry * ENTRY_PAIRS;
            u32 before = keeps + (digit_step ? window : 0);
#pragma unroll 1
            for (u32 i = 0; i <= before; i++) {
                if (SECRET && digit_step && i == keeps && (keeps || place % SCAN_DIGITS == SCAN_DIGITS - 1)) {
                    if (keeps) x.scan.begin();
                    if (keeps) choose(word);
                    x.scan.finish();
                    if (word > 0) choose(word - 1);
                }
                bool kept = keeps && i == 0;
                u32 from[2];
                for (u32 row = 0; row < 2; row++) from[row] = i < before ? x.modulus + SQUARE_B * SIDE_PAIRS : source[row];
                x.product(i < before && !kept, from, kept, made);
                if (SECRET && kept) x.scan.insert(entry, x.workspace + made);
            }
        }
        if (SECRET && digits) x.scan.end();
        x.store(call.results + (u64)tile * SIDE_PAIRS + lane);
    }
    x.memory.matrices.close();
}

#ifdef HAS_POWER
KERNEL(residue_power, PowerCall) { exponentiate<true>(call); }
#endif
#ifdef HAS_POWER_VARTIME
KERNEL(residue_power_vartime, PowerCall) { exponentiate<false>(call); }
#endif
