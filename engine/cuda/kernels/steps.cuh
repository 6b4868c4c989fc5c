// Small steps between products: sums, differences, comparisons, shifts, choices, items by index. The
// instructions are the same for all values.
#pragma once
#include "numbers.cuh"
#include "fft_chain.cuh"

struct StepCall {
    Numbers a;
    Numbers b;
    Numbers flags;  // for `select`: its lowest bit chooses a; for `gather`: the index, in two words
    u32* results;
    u32 result_stride;
    u32 words;      // words of a result; for comparisons, those of the longer operand
    u32 task;       // one of those below
    u32 shift_words; // the shift in bits is 32 shift_words + shift_bits
    u32 shift_bits;
    u32 top;        // words that are kept whole; of the next one `top_mask` is kept, and nothing beyond it
    u32 top_mask;
    u32 count;      // items
};
static_assert(sizeof(StepCall) == 88 && AT(StepCall, a, 0) && AT(StepCall, b, 16) && AT(StepCall, flags, 32) &&
              AT(StepCall, results, 48) && AT(StepCall, result_stride, 56) && AT(StepCall, words, 60) &&
              AT(StepCall, task, 64) && AT(StepCall, shift_words, 68) && AT(StepCall, shift_bits, 72) &&
              AT(StepCall, top, 76) && AT(StepCall, top_mask, 80) && AT(StepCall, count, 84), "StepCall, as in Rust");

enum { ADD, SUBTRACT, LESS, EQUAL, SHIFT_LEFT, SHIFT_RIGHT, SELECT, GATHER };

// Word `at` of a number, and zero beyond its ends; `at` may be above 2^32 - 1 for "before the first".
DEVICE u32 word_in(const u32* row, u32 length, u64 at) { return at < length ? row[at] : 0; }

DEVICE u32 kept_of(const StepCall& call, u32 at, u32 word) {
    return at < call.top ? word : at == call.top ? word & call.top_mask : 0;
}

// The operands of an item that are added: a + b, or a + ~b + 1, which is 2^n + a - b: no carry means a < b.
struct Addends {
    const u32 *a, *b;
    u32 a_length, b_length, flip;
    DEVICE Addends(const StepCall& call, u32 item)
        : a(row_of(call.a, item)), b(row_of(call.b, item)), a_length(call.a.length), b_length(call.b.length),
          flip(mask_of(call.task != ADD)) {}
    DEVICE u32 first(u32 at) const { return word_in(a, a_length, at); }
    DEVICE u32 second(u32 at) const { return word_in(b, b_length, at) ^ flip; }
};

// Writes the answer of a comparison: a row of two words.
DEVICE void answer(const StepCall& call, u32 item, u32 carry, bool different) {
    u32* row = call.results + (u64)item * call.result_stride;
    row[0] = call.task == LESS ? carry ^ 1 : (u32)!different;
    row[1] = 0;
}

DEVICE bool compares(const StepCall& call) { return call.task == LESS || call.task == EQUAL; }

// Short numbers: a thread each.
KERNEL(step_sums, StepCall) {
    u32 item = blockIdx.x * BLOCK + threadIdx.x;
    if (item >= call.count) return;
    Addends addends(call, item);
    u32* row = call.results + (u64)item * call.result_stride;
    u32 carry = addends.flip & 1, different = 0;
    for (u32 at = 0; at < call.words; at++) {
        u32 x = addends.first(at), y = addends.second(at);
        u64 sum = (u64)x + y + carry;
        carry = high_of(sum);
        different |= ~(x ^ y);
        if (!compares(call)) row[at] = kept_of(call, at, low_of(sum));
    }
    if (compares(call)) answer(call, item, carry, different != 0);
}

// Long numbers: a block each, eight words of it to a thread at a time.
enum { STEP_CHUNK = 8 };
KERNEL(step_long_sums, StepCall) {
    SHARED_POOL(u32, shared);
    u32 item = blockIdx.x;
    Addends addends(call, item);
    u32* row = call.results + (u64)item * call.result_stride;
    u32 carry = addends.flip & 1, different = 0;
    for (u32 first = 0; first < call.words; first += BLOCK * STEP_CHUNK) {
        u32 start = first + threadIdx.x * STEP_CHUNK;
        u32 sums[STEP_CHUNK], out = 0, ones = 0xffffffff;
        for (u32 k = 0; k < STEP_CHUNK; k++) {
            u32 x = addends.first(start + k), y = addends.second(start + k);
            u64 sum = (u64)x + y + out;
            sums[k] = low_of(sum);
            out = high_of(sum);
            ones &= sums[k];
            different |= start + k < call.words ? ~(x ^ y) : 0;
        }
        Chain chain;
        block_barrier();
        chain.open(shared, out, ones == 0xffffffff);
        u32 in = chain.into_chunk(carry);
        carry = chain.out_of_block(carry);
        for (u32 k = 0; k < STEP_CHUNK; k++) {
            u64 sum = (u64)sums[k] + in;
            in = high_of(sum);
            if (!compares(call) && start + k < call.words) row[start + k] = kept_of(call, start + k, low_of(sum));
        }
    }
    if (!compares(call)) return;
    // Words beyond the last one are passed on, so that the carry out of the last chunk is that of the number.
    block_barrier();
    u32 warps = warp_bits(different != 0);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = warps;
    block_barrier();
    if (threadIdx.x != 0) return;
    u32 any = 0;
    for (u32 i = 0; i < BLOCK / 32; i++) any |= shared[i];
    answer(call, item, carry, any != 0);
}

// Word `at` of a result that needs no carry.
DEVICE u32 moved_word(const StepCall& call, u32 item, u32 at) {
    u32 words = call.shift_words, bits = call.shift_bits;
    const u32* a = row_of(call.a, item);
    if (call.task == GATHER) {
        const u32* index = row_of(call.flags, item);
        a = call.a.address + pair_of(index[0], index[1]) * call.a.stride;
        return word_in(a, call.a.length, at);
    }
    if (call.task == SELECT) {
        u32 chosen = mask_of(row_of(call.flags, item)[0] & 1);
        return blend(chosen, word_in(row_of(call.b, item), call.b.length, at), word_in(a, call.a.length, at));
    }
    // The pair of words that the result's word is cut from; two shifts, because one by 32 bits is none.
    if (call.task == SHIFT_LEFT) {
        u64 from = (u64)at - words;
        u32 low = word_in(a, call.a.length, from - 1), high = word_in(a, call.a.length, from);
        return high << bits | low >> 1 >> (31 - bits);
    }
    u64 from = (u64)at + words;
    return (u32)(pair_of(word_in(a, call.a.length, from), word_in(a, call.a.length, from + 1)) >> bits);
}

// A thread for each word of the results, over and over.
KERNEL(step_moves, StepCall) {
    u64 total = (u64)call.count * call.words, threads = (u64)gridDim.x * BLOCK;
    for (u64 number = (u64)blockIdx.x * BLOCK + threadIdx.x; number < total; number += threads) {
        u32 item = (u32)(number / call.words), at = (u32)(number % call.words);
        call.results[(u64)item * call.result_stride + at] = moved_word(call, item, at);
    }
}
