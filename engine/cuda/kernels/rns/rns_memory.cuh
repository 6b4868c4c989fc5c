// The memory in which products find their matrices. All warpgroups of a block go through the same chunks in
// the same order: the chunks to base B, then the chunks to base A, again and again.
//
//   acquire(side, index, piece)   a piece of chunk `index` of the matrix to base B (side 0) or A (side 1)
//   release(side, index, piece)   that piece is no longer needed; in the order in which they were acquired
//
// A chunk has PIECES pieces, one after the other: most chunks are one piece.
//
// Matrices that fit shared memory stay there. Others are STREAMED. On chips with warpgroups shared memory is
// a ring of STAGES stages, into which pieces are copied in that order, and the warp that releases a stage
// last has it filled with the next piece. Other chips have no stages.
#pragma once

enum { CHUNKS = CHUNKS_B + CHUNKS_A, ALL_PIECES = CHUNKS * PIECES };

// Groups of all chunks to base B before chunk `index`.
DEVICE constexpr int groups_to_b(int index) { return SHARED_WORDS ? index * LENGTH_B : first_to_b(index); }

// The first byte of the chunk at a position of that order, from the start of the two matrices; CHUNKS is
// behind the last.
DEVICE constexpr u32 chunk_start(u32 position) {
    return (position < CHUNKS_B ? groups_to_b(position) * STEPS
                                : groups_to_b(CHUNKS_B) * STEPS + first_to_a(position - CHUNKS_B) * STEPS_A) * GROUP_BYTES;
}

// The first byte of the piece at a position of that order; ALL_PIECES is behind the last.
DEVICE constexpr u32 piece_start(u32 position) {
    if (PIECES == 1) return chunk_start(position);
    u32 chunk = position / PIECES, to_a = chunk - CHUNKS_B;
    u32 groups = chunk < CHUNKS_B ? count_to_b(chunk) : first_to_a(to_a + 1) - first_to_a(to_a);
    return chunk_start(chunk) + first_step(position % PIECES) * GROUP_BYTES * groups;
}

// Bytes of the longest piece.
DEVICE constexpr u32 longest_piece() {
    u32 longest = 0;
    for (u32 i = 0; i < ALL_PIECES; i++)
        if (piece_start(i + 1) - piece_start(i) > longest) longest = piece_start(i + 1) - piece_start(i);
    return longest;
}

#if defined(MODMILL_EMULATOR) || (STREAMED && STAGES == 0)

// Matrices without stages are read where the host has put them, in global memory.
struct Matrices {
    enum { SHARED_QUADS = 0 };
    const unsigned char* first;

    DEVICE void open(const unsigned char* matrices, Quad*) { first = matrices; }
    DEVICE MatrixPlace acquire(int side, int index, int piece) const {
        return first + piece_start((side * CHUNKS_B + index) * PIECES + piece);
    }
    DEVICE void begin_chunk() const {}
    DEVICE u32 count_release(int, int, int) const { return 0; }
    DEVICE void refill(int, int, int, u32) const {}
    DEVICE void release(int, int, int) const {}
    DEVICE void close() const {}
};

#elif !STREAMED

struct Matrices {
    enum { SHARED_QUADS = chunk_start(CHUNKS) / 16 };
    MatrixPlace first;

    // The caller waits for the block's threads before the first `acquire`.
    DEVICE void open(const unsigned char* matrices, Quad* pool) {
        const Quad* from = (const Quad*)matrices;
        for (u32 i = threadIdx.x; i < SHARED_QUADS; i += blockDim.x) pool[i] = from[i];
        first = matrix_place(pool);
    }
    DEVICE MatrixPlace acquire(int side, int index, int piece) const {
        return first + piece_start((side * CHUNKS_B + index) * PIECES + piece);
    }
    DEVICE void begin_chunk() const {}
    DEVICE u32 count_release(int, int, int) const { return 0; }
    DEVICE void refill(int, int, int, u32) const {}
    DEVICE void release(int, int, int) const {}
    DEVICE void close() const {}
};

#else

// A ring of STAGES stages. Each has a barrier, which its filling completes, and a count of the warps that
// have released it. If PIECES is a multiple of STAGES, the stage of a piece does not depend on its chunk.
struct Matrices {
    enum { STAGE_BYTES = longest_piece(), RING_BYTES = STAGES * STAGE_BYTES };
    enum { SHARED_QUADS = RING_BYTES / 16 + STAGES, ROUNDS_OF_CHUNK = PIECES / STAGES, FIXED = PIECES % STAGES == 0 };
    const unsigned char* matrices;
    u32 ring;    // its place in shared memory
    u32 product; // the number of its first chunk, counted from the start
    u32 uniform; // equals `ring`; the compiler does not know that

    // The stage of a piece, and the round in which it is there. `chunk` is its number, counted from the
    // start.
    static DEVICE u32 stage_of(u32 chunk, u32 piece) { return (FIXED ? piece : chunk * PIECES + piece) % STAGES; }
    static DEVICE u32 round_of(u32 chunk, u32 piece) {
        return FIXED ? chunk * ROUNDS_OF_CHUNK + piece / STAGES : (chunk * PIECES + piece) / STAGES;
    }
    DEVICE u32 place_of(u32 stage) const { return ring + stage * STAGE_BYTES; }
    DEVICE u32 barrier_of(u32 stage) const { return ring + RING_BYTES + stage * 16; }

    DEVICE void open(const unsigned char* from, Quad* pool) {
        matrices = from;
        ring = (u32)__cvta_generic_to_shared(pool);
        product = 0;
        if (threadIdx.x == 0) {
            for (u32 i = 0; i < STAGES; i++) {
                asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier_of(i)) : "memory");
                asm volatile("st.shared.u32 [%0], 0;" ::"r"(barrier_of(i) + 8) : "memory");
            }
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            for (u32 i = 0; i < STAGES; i++) fill(i, i % ALL_PIECES);
        }
    }

    // The piece at a position into a stage. Only copies write to stages, so that nothing has to be ordered
    // with them. All blocks read the matrices in every product, so that they stay in L2 before the moduli and
    // tables of items, which each block reads alone.
    DEVICE void fill(u32 stage, u32 position) const {
        u32 start = piece_start(position), bytes = piece_start(position + 1) - start, barrier = barrier_of(stage);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
        u64 policy;
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
                     ::"r"(place_of(stage)), "l"(matrices + start), "r"(bytes), "r"(barrier), "l"(policy) : "memory");
    }

    DEVICE void wait(u32 stage, u32 round) const {
        asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t"
                     "@!p bra again;\n\t}" ::"r"(barrier_of(stage)), "r"(round & 1) : "memory");
    }

    DEVICE MatrixPlace acquire(int side, int index, int piece) const {
        u32 chunk = product + side * CHUNKS_B + index, stage = stage_of(chunk, piece);
        wait(stage, round_of(chunk, piece));
        // All lanes have the same place. A compiler that knows it computes descriptors once for a warp.
        return FIXED ? uniform + stage * STAGE_BYTES : __shfl_sync(0xffffffffu, place_of(stage), 0);
    }

    // Hides the place of the ring before the first piece of a chunk: else the compiler would compute the
    // descriptors of all chunks first and have no registers for them.
    DEVICE void begin_chunk() {
        if (!FIXED) return;
        asm volatile("mov.u32 %0, %1;" : "=r"(uniform) : "r"(ring));
        uniform = __shfl_sync(0xffffffffu, uniform, 0);
    }

    // `release` in two parts, for work between them that does not wait for the count: counts a warp whose
    // products with the piece are finished. The result is for `refill`.
    DEVICE u32 count_release(int side, int index, int piece) const {
        u32 chunk = product + side * CHUNKS_B + index, last = blockDim.x / 32 - 1, before = ~0u;
        asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, %1, 0;\n\t"
                     "@p atom.relaxed.cta.shared::cta.inc.u32 %0, [%2], %3;\n\t}"
                     : "+r"(before)
                     : "r"(threadIdx.x % 32), "r"(barrier_of(stage_of(chunk, piece)) + 8), "r"(last) : "memory");
        return before;
    }

    // Fills the stage of a piece with the piece that is next there, if this warp is the last to release it.
    DEVICE void refill(int side, int index, int piece, u32 before) const {
        u32 chunk = side * CHUNKS_B + index;
        if (before == blockDim.x / 32 - 1)
            fill(stage_of(product + chunk, piece), (chunk * PIECES + piece + STAGES) % ALL_PIECES);
    }

    // The warp's products with the piece are finished. The count orders nothing else: a release in the sense
    // of the memory model would wait for every load under way.
    DEVICE void release(int side, int index, int piece) {
        u32 chunk = side * CHUNKS_B + index, stage = stage_of(product + chunk, piece);
        u32 before, last = blockDim.x / 32 - 1;
        if (threadIdx.x % 32 == 0) {
            asm volatile("atom.relaxed.cta.shared::cta.inc.u32 %0, [%1], %2;"
                         : "=r"(before) : "r"(barrier_of(stage) + 8), "r"(last) : "memory");
            if (before == last) fill(stage, (chunk * PIECES + piece + STAGES) % ALL_PIECES);
        }
        if (chunk + 1 == CHUNKS && piece + 1 == PIECES) product += CHUNKS;
    }

    // Copies under way have to arrive before the memory goes to another block.
    DEVICE void close() const {
        for (u32 i = 0; i < STAGES; i++) {
            u32 chunk = product + i / PIECES, piece = i % PIECES;
            wait(stage_of(chunk, piece), round_of(chunk, piece));
        }
    }
};

#endif
