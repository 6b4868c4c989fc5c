// Turns coefficients into words: the sum of c_k 2^(k DIGIT_BITS).
//
// A thread computes a chunk of the result: the DIGIT_BITS words that 32 coefficients begin in. They begin at
// the same bits of the chunk in every thread, which the compiler knows. The thread adds them up; what goes
// beyond its words is below 2^64 and added by its neighbour. From then on only single carries are left
// (`fft_chain.cuh`).
#pragma once

enum { CHUNK_DIGITS = 32, CHUNK_WORDS = DIGIT_BITS };

// The argument of the kernel.
struct CarryCall {
    const u64* points; // coefficients, item by item, `count` of each
    u32 count;         // a multiple of 32
    u32* results;
    u32 result_stride; // words
    u32* flags;        // zeros: a counter, and a word for each block of each item
    u32 blocks;        // blocks of an item; each has chunks for all threads but the first
};
static_assert(sizeof(CarryCall) == 48 && AT(CarryCall, points, 0) && AT(CarryCall, count, 8) &&
              AT(CarryCall, results, 16) && AT(CarryCall, result_stride, 24) && AT(CarryCall, flags, 32) &&
              AT(CarryCall, blocks, 40), "CarryCall, as in Rust");

struct alignas(16) TwoPoints {
    u64 point[2];
};

// Adds an addend to words. Returns the carry.
DEVICE u32 add_to(u32 (&words)[CHUNK_WORDS], u64 addend) {
    words[0] = add_cc(words[0], low_of(addend));
    words[1] = addc_cc(words[1], high_of(addend));
#pragma unroll
    for (int i = 2; i < CHUNK_WORDS; i++) words[i] = addc_cc(words[i], 0);
    return addc(0, 0);
}

DEVICE bool is_all_ones(const u32 (&words)[CHUNK_WORDS]) {
    u32 all = words[0];
#pragma unroll
    for (int i = 1; i < CHUNK_WORDS; i++) all &= words[i];
    return all == 0xffffffff;
}

// Computes the words of a chunk. Returns what goes beyond them, which is below 2^64: coefficients that begin
// in the chunk are below p 2^(32 CHUNK_WORDS - DIGIT_BITS) (1 + 2^-DIGIT_BITS + ...), and digits have more
// than one bit.
DEVICE u64 add_up(const TwoPoints* points, u32 (&words)[CHUNK_WORDS]) {
    u32 t[3] = {0, 0, 0}; // what was added up so far, above the words that are done
    TwoPoints two;
#pragma unroll
    for (int i = 0; i < CHUNK_DIGITS; i++) {
        if (i % 2 == 0) two = points[i / 2];
        u64 c = canonical(two.point[i % 2]);
        const int word = i * DIGIT_BITS / 32, shift = i * DIGIT_BITS % 32;
        u32 s0 = low_of(c) << shift;
        u32 s1 = shift == 0 ? high_of(c) : (u32)(c >> (32 - shift));
        u32 s2 = shift == 0 ? 0 : high_of(c) >> (32 - shift);
        t[0] = add_cc(t[0], s0);
        t[1] = addc_cc(t[1], s1);
        t[2] = addc(t[2], s2);
        if ((i + 1) * DIGIT_BITS / 32 > word) {
            words[word] = t[0];
            t[0] = t[1];
            t[1] = t[2];
            t[2] = 0;
        }
    }
    return pair_of(t[0], t[1]);
}

// Copies rows of 32 threads from shared memory to memory, neighbours by neighbours: the words numbered from
// `least` to `most`.
template <int ROW> DEVICE void write_rows(u32* to, const u32* rows, u32 least, u32 most) {
    u32 lane = threadIdx.x % 32, quotient = lane / CHUNK_WORDS, remainder = lane % CHUNK_WORDS;
#pragma unroll
    for (u32 i = 0; i < CHUNK_WORDS; i++) {
        // Word `place` is word place % CHUNK_WORDS of row place / CHUNK_WORDS.
        u32 place = i * 32 + lane, within = i * 32 % CHUNK_WORDS;
        u32 in_rows = (quotient + i * 32 / CHUNK_WORDS) * ROW + remainder + within;
        if (remainder + within >= CHUNK_WORDS) in_rows += ROW - CHUNK_WORDS;
        if (place >= least && place < most) to[place] = rows[in_rows];
    }
}

// The first thread has the last chunk of the block before, for what goes beyond it.
KERNEL(fft_carry, CarryCall) {
    enum { ROW = CHUNK_WORDS | 1 }; // words of a chunk in shared memory; odd, so that banks differ
    SHARED_POOL(u32, rows);
    u32 thread = threadIdx.x, lane = thread % 32, chunks = blockDim.x - 1;
    u64* beyond = (u64*)(rows + ROW * blockDim.x);
    u32* shared = (u32*)(beyond + blockDim.x);
    if (thread == 0) shared[0] = next_number(call.flags);
    block_barrier();
    u32 number = shared[0], item = number / call.blocks, block = number % call.blocks;

    // The first block's first thread has no chunk, and threads beyond the last coefficient have none.
    u32 chunk = block * chunks + thread - 1;
    u32 words[CHUNK_WORDS] = {};
    u64 rest = 0;
    if (chunk < call.count / CHUNK_DIGITS)
        rest = add_up((const TwoPoints*)(call.points + (u64)item * call.count + (u64)chunk * CHUNK_DIGITS), words);
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

#pragma unroll
    for (int i = 0; i < CHUNK_WORDS; i++) rows[thread * ROW + i] = words[i];
    warp_barrier();
    u64 start = ((u64)block * chunks + thread - lane) * CHUNK_WORDS, end = (u64)call.result_stride + CHUNK_WORDS;
    u32 least = thread < 32 ? CHUNK_WORDS : 0, most = start < end ? (u32)(end - start) : 0;
    write_rows<ROW>(call.results + (u64)item * call.result_stride + start - CHUNK_WORDS,
                    rows + (thread - lane) * ROW, least, most);
}
