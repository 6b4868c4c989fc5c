// Where products find their matrices. All warpgroups of a block go through the same chunks in the same
// order: the chunks to base B, then the chunks to base A, again and again.
//
//   acquire(side, index)   chunk `index` of the matrix to base B (side 0) or A (side 1)
//   release(side, index)   that chunk is no longer needed; in the order in which they were acquired
//
// Matrices that fit shared memory stay there. Others are STREAMED. On chips with warpgroups shared memory is a
// ring of STAGES stages, into which chunks are copied in that order, and the warp that releases a stage last has it
// filled with the next chunk. Other chips have no stages.
#pragma once

enum { CHUNKS = CHUNKS_B + CHUNKS_A };

// Where the chunk at a position of that order begins, in bytes from the start of the two matrices; CHUNKS is behind the
// last.
DEVICE constexpr u32 chunk_start(u32 position) {
    return (position < CHUNKS_B ? first_to_b(position) * STEPS
                                : GROUPS * STEPS + first_to_a(position - CHUNKS_B) * STEPS_A) * GROUP_BYTES;
}

// Bytes of the longest chunk.
DEVICE constexpr u32 longest_chunk() {
    u32 longest = 0;
    for (u32 i = 0; i < CHUNKS; i++)
        if (chunk_start(i + 1) - chunk_start(i) > longest) longest = chunk_start(i + 1) - chunk_start(i);
    return longest;
}

#if defined(MODMILL_EMULATOR) || (STREAMED && STAGES == 0)

// Matrices without stages are read where the host has put them, in global memory.
struct Matrices {
    enum { SHARED_QUADS = 0 };
    const unsigned char* first;

    DEVICE void open(const unsigned char* matrices, Quad*) { first = matrices; }
    DEVICE MatrixPlace acquire(int side, int index) const { return first + chunk_start(side * CHUNKS_B + index); }
    DEVICE void release(int, int) const {}
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
    DEVICE MatrixPlace acquire(int side, int index) const { return first + chunk_start(side * CHUNKS_B + index); }
    DEVICE void release(int, int) const {}
    DEVICE void close() const {}
};

#else

// A ring of STAGES stages. Each has a barrier, which its filling completes, and a count of the warps that have
// released it.
struct Matrices {
    enum { STAGE_BYTES = longest_chunk(), RING_BYTES = STAGES * STAGE_BYTES };
    enum { SHARED_QUADS = RING_BYTES / 16 + STAGES };
    const unsigned char* matrices;
    u32 ring;    // places in shared memory
    u32 product; // the number of its first chunk, counted from the start

    DEVICE u32 stage(u32 number) const { return ring + number % STAGES * STAGE_BYTES; }
    DEVICE u32 barrier(u32 number) const { return ring + RING_BYTES + number % STAGES * 16; }

    DEVICE void open(const unsigned char* from, Quad* pool) {
        matrices = from;
        ring = (u32)__cvta_generic_to_shared(pool);
        product = 0;
        if (threadIdx.x == 0) {
            for (u32 i = 0; i < STAGES; i++) {
                asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier(i)) : "memory");
                asm volatile("st.shared.u32 [%0], 0;" ::"r"(barrier(i) + 8) : "memory");
            }
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            for (u32 i = 0; i < STAGES; i++) fill(i, i % CHUNKS);
        }
    }

    // The chunk at a position into its stage. Only copies write to stages, so that nothing has to be ordered
    // with them.
    DEVICE void fill(u32 number, u32 position) const {
        u32 start = chunk_start(position), bytes = chunk_start(position + 1) - start;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier(number)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(stage(number)), "l"(matrices + start), "r"(bytes), "r"(barrier(number)) : "memory");
    }

    DEVICE void wait(u32 number) const {
        asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t"
                     "@!p bra again;\n\t}" ::"r"(barrier(number)), "r"(number / STAGES & 1) : "memory");
    }

    DEVICE MatrixPlace acquire(int side, int index) const {
        u32 number = product + side * CHUNKS_B + index;
        wait(number);
        // All lanes have the same place. A compiler that knows it computes descriptors once for a warp.
        return __shfl_sync(0xffffffffu, stage(number), 0);
    }

    // The warp's products with the chunk are finished. The count orders nothing else: a release in the sense of
    // the memory model would wait for every load under way.
    DEVICE void release(int side, int index) {
        u32 position = side * CHUNKS_B + index, number = product + position, before, last = blockDim.x / 32 - 1;
        if (threadIdx.x % 32 == 0) {
            asm volatile("atom.relaxed.cta.shared::cta.inc.u32 %0, [%1], %2;"
                         : "=r"(before) : "r"(barrier(number) + 8), "r"(last) : "memory");
            if (before == last) fill(number + STAGES, (position + STAGES) % CHUNKS);
        }
        if (position + 1 == CHUNKS) product += CHUNKS;
    }

    // Copies under way have to arrive before the memory goes to another block.
    DEVICE void close() const {
        for (u32 i = 0; i < STAGES; i++) wait(product + i);
    }
};

#endif
