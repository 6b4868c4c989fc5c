// Carries between the chunks of a number, by look-ahead: a chunk of words generates a carry, or passes one on
// if it is all ones. Within a warp the carries into all chunks come out of one addition of the bits "passes
// on" and "generates"; the warps of a block and the blocks of a number are chained the same way. (The thesis,
// section 5.5.) Borrows are chained alike: a chunk passes one on if it is zero.
#pragma once

// Carries into 32 places and out of them, bit by bit; each place generates one or passes one on, never both.
DEVICE u64 carries_into(u32 generates, u32 passes, u32 carry) {
    u64 arriving = (u64)generates << 1 | carry;
    return ((u64)passes + arriving) ^ passes;
}

// The chunks of a block, one a thread, whose warps tell each other of theirs in shared memory: a word for
// each of at most eight warps, which nobody may still read.
struct Chain {
    u32 generates, passes;          // one bit for each chunk of this warp
    u32 warps_generate, warps_pass; // one bit for each warp of the block

    DEVICE void open(u32* shared, bool chunk_generates, bool chunk_passes) {
        generates = warp_bits(chunk_generates);
        passes = warp_bits(chunk_passes);
        u32 out = (u32)(carries_into(generates, passes, 0) >> 32) & 1;
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = out | (u32)(passes == 0xffffffff) << 1;
        block_barrier();
        warps_generate = warps_pass = 0;
        for (u32 i = 0; i < blockDim.x / 32; i++) {
            warps_generate |= (shared[i] & 1) << i;
            warps_pass |= (shared[i] >> 1) << i;
        }
    }

    // The carry into this thread's chunk, and the carry out of the block, for a carry into the block.
    DEVICE u32 into_chunk(u32 carry) const {
        u32 into_warp = (u32)(carries_into(warps_generate, warps_pass, carry) >> (threadIdx.x / 32)) & 1;
        return (u32)(carries_into(generates, passes, into_warp) >> (threadIdx.x % 32)) & 1;
    }
    DEVICE u32 out_of_block(u32 carry) const {
        return (u32)(carries_into(warps_generate, warps_pass, carry) >> (blockDim.x / 32)) & 1;
    }
    DEVICE bool passes_on() const { return warps_pass == (1u << (blockDim.x / 32)) - 1; }
};

// The bits of the word that a block publishes for later blocks: READY, and its effect on carries.
enum { GENERATES = 1, PASSES = 2, READY = 4 };

// The carry into a block, out of all earlier blocks. Every one of them is read, whatever its word says.
DEVICE u32 carry_into(u32 block, const u32* flags, u32* shared) {
    u32 carry = 0;
    for (u32 first = 0; first < block; first += blockDim.x) {
        u32 at = first + threadIdx.x;
        u32 flag = at < block ? awaited(flags + at) : PASSES;
        Chain chain;
        block_barrier();
        chain.open(shared, flag & GENERATES, flag & PASSES);
        carry = chain.out_of_block(carry);
    }
    return carry;
}
