// From coefficients to words: the sum of c_k 2^(k digit_bits), with carries resolved by look-ahead.
//
// A thread has CHUNK words of the result. It adds up the coefficients that begin there; what goes beyond its
// words is less than 2^64 and added by its neighbour. From then on only single carries are left: a chunk
// generates one, or passes one on if it is all ones. Within a warp the carries into all chunks come out of one
// addition of the bits "passes on" and "generates"; the warps of a block and the blocks of a number are
// chained the same way. (The thesis, section 5.5.)
#pragma once

enum { CHUNK = 8, CARRY_THREADS = 256, CARRY_WARPS = CARRY_THREADS / 32, CARRY_CHUNKS = CARRY_THREADS - 1 };

// What the host hands to the kernel.
struct CarryCall {
    const u64* points; // coefficients: item by item, row by row
    const u64* roots;  // powers of the inverse of the root of order `rows`
    u32 columns;
    u32 rows;
    u32 digit_bits;    // at least 2
    u32* results;
    u32 result_stride; // words, a multiple of four
    u32* flags;        // zeros: a counter, and a word for each block of each item
    u32 blocks;        // of an item; each has CARRY_CHUNKS chunks
};

// A coefficient, below p.
DEVICE u64 coefficient(const CarryCall& call, const u64* points, u32 v) {
    if (call.rows == 1) return canonical(points[v]);
    u32 u = v & (call.columns - 1), e = v % call.rows;
    u64 x = points[u];
    for (u32 r = 1; r < call.rows; r++)
        x = sum(x, product(points[(u64)r * call.columns + u], call.roots[r * e % call.rows]));
    return canonical(x);
}

// words + addend, and the carry out of it.
DEVICE u32 add_to(u32 (&words)[CHUNK], u64 addend) {
    words[0] = add_cc(words[0], low_of(addend));
    words[1] = addc_cc(words[1], high_of(addend));
#pragma unroll
    for (int i = 2; i < CHUNK; i++) words[i] = addc_cc(words[i], 0);
    return addc(0, 0);
}

DEVICE bool is_all_ones(const u32 (&words)[CHUNK]) {
    u32 all = words[0];
#pragma unroll
    for (int i = 1; i < CHUNK; i++) all &= words[i];
    return all == 0xffffffff;
}

// A coefficient's place in shared memory: one is left out after 32, the distance of every third thread's with
// digits of 24 bits.
DEVICE u32 staged_place(u32 k) { return k + k / 32; }

// The first coefficient that begins in a chunk or later.
DEVICE u32 first_in(u32 chunk, u32 digit_bits) {
    return (u32)(((u64)chunk * 32 * CHUNK + digit_bits - 1) / digit_bits);
}

// The words of a chunk, of coefficients of which number `first` is staged first; returns what goes beyond them.
// Below 2^64: those that begin in the chunk are below p 2^(32 CHUNK - 1) + p 2^(32 CHUNK - 1 - digit_bits) + ...
DEVICE u64 add_up(const u64* staged, u32 first, u32 chunk, u32 digit_bits, u32 (&words)[CHUNK]) {
    u32 k = first_in(chunk, digit_bits);
    // The next coefficient begins at this bit of the chunk.
    u32 bit = (u32)((u64)k * digit_bits - (u64)chunk * 32 * CHUNK);
    u64 low = 0;
    u32 high = 0; // what was added up so far, above the words that are done
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        for (; bit < 32 * (i + 1); bit += digit_bits, k++) {
            u64 c = staged[staged_place(k - first)];
            u32 shift = bit % 32;
            u64 part = c << shift;
            low += part;
            high += (low < part) + (u32)(c >> 32 >> (32 - shift));
        }
        words[i] = low_of(low);
        low = pair_of(high_of(low), high);
        high = 0;
    }
    return low;
}

// Carries into 32 places and out of them, bit by bit; each place generates one or passes one on, never both.
DEVICE u64 carries_into(u32 generates, u32 passes, u32 carry) {
    u64 arriving = (u64)generates << 1 | carry;
    return ((u64)passes + arriving) ^ passes;
}

// The chunks of a block, whose warps tell each other of theirs in shared memory: CARRY_WARPS words, that nobody
// may still read.
struct Chain {
    u32 generates, passes;           // of the chunks of this warp
    u32 warps_generate, warps_pass;  // of the block's warps

    DEVICE void open(u32* shared, bool chunk_generates, bool chunk_passes) {
        generates = warp_bits(chunk_generates);
        passes = warp_bits(chunk_passes);
        u32 out = (u32)(carries_into(generates, passes, 0) >> 32) & 1;
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = out | (u32)(passes == 0xffffffff) << 1;
        block_barrier();
        warps_generate = warps_pass = 0;
#pragma unroll
        for (u32 i = 0; i < CARRY_WARPS; i++) {
            warps_generate |= (shared[i] & 1) << i;
            warps_pass |= (shared[i] >> 1) << i;
        }
    }

    // With a carry into the block: that into this thread's chunk, and that out of the block.
    DEVICE u32 into_chunk(u32 carry) const {
        u32 into_warp = (u32)(carries_into(warps_generate, warps_pass, carry) >> (threadIdx.x / 32)) & 1;
        return (u32)(carries_into(generates, passes, into_warp) >> (threadIdx.x % 32)) & 1;
    }
    DEVICE u32 out_of_block(u32 carry) const {
        return (u32)(carries_into(warps_generate, warps_pass, carry) >> CARRY_WARPS) & 1;
    }
    DEVICE bool passes_on() const { return warps_pass == (1u << CARRY_WARPS) - 1; }
};

// What a block tells those after it: that it is ready, and what it does with carries.
enum { GENERATES = 1, PASSES = 2, READY = 4 };

// The carry into a block: out of those before it, of which all are looked at, whatever they say.
DEVICE u32 carry_into(u32 block, const u32* flags, u32* shared) {
    u32 carry = 0;
    for (u32 first = 0; first < block; first += CARRY_THREADS) {
        u32 at = first + threadIdx.x;
        u32 flag = at < block ? awaited(flags + at) : PASSES;
        Chain chain;
        block_barrier();
        chain.open(shared, flag & GENERATES, flag & PASSES);
        carry = chain.out_of_block(carry);
    }
    return carry;
}

// A block has the chunks of all threads but the first, which has the last chunk of the block before, for what
// goes beyond it.
KERNEL(fft_carry, CarryCall) {
    SHARED_POOL(u64, staged);
    u32 thread = threadIdx.x, bits = call.digit_bits;
    u32 staged_count = 32 * CHUNK * CARRY_THREADS / bits + 1;
    u64* beyond = staged + staged_place(staged_count) + 1;
    u32* shared = (u32*)(beyond + CARRY_THREADS);
    if (thread == 0) shared[0] = next_number(call.flags);
    block_barrier();
    u32 number = shared[0], item = number / call.blocks, block = number % call.blocks;

    // Chunk `block` CARRY_CHUNKS - 1 is the first thread's; the first block's first thread has none.
    u32 first_chunk = block * CARRY_CHUNKS, points_end = call.rows * call.columns;
    u32 first = block == 0 ? 0 : first_in(first_chunk - 1, bits);
    u32 end = first_in(first_chunk + CARRY_CHUNKS, bits);
    const u64* points = call.points + (u64)item * points_end;
    for (u32 k = first + thread; k < end; k += CARRY_THREADS)
        staged[staged_place(k - first)] = k < points_end ? coefficient(call, points, k) : 0;
    block_barrier();

    u32 chunk = first_chunk + thread - 1;
    u32 words[CHUNK] = {};
    u64 rest = 0;
    if (block + thread > 0) rest = add_up(staged, first, chunk, bits, words);
    beyond[thread] = rest;
    block_barrier();
    u32 carry = add_to(words, thread > 0 ? beyond[thread - 1] : 0);
    // The first thread's chunk belongs to another block: nothing comes out of it here.
    Chain chain;
    chain.open(shared, carry && thread > 0, is_all_ones(words) || thread == 0);
    u32* flags = call.flags + 1 + item * call.blocks;
    if (thread == 0)
        publish(flags + block, READY | (chain.out_of_block(0) ? GENERATES : 0) | (chain.passes_on() ? PASSES : 0));
    add_to(words, chain.into_chunk(carry_into(block, flags, shared)));
    Quad* results = (Quad*)(call.results + (u64)item * call.result_stride + chunk * CHUNK);
#pragma unroll
    for (u32 i = 0; i < CHUNK / 4; i++)
        if (thread > 0 && chunk * CHUNK + 4 * i < call.result_stride)
            results[i] = Quad{{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]}};
}
