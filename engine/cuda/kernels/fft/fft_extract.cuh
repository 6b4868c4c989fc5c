// Copies bits of numbers to numbers of their own.
#pragma once

// The argument of the kernel.
struct ExtractCall {
    Numbers numbers;
    u32* results;
    u32 result_stride; // words of a row, all of which are written
    u32 skipped;       // words before the first bit
    u32 offset;        // below 32, after them
    u32 flip;          // all ones to have every bit inverted, else 0
    u64 bits;          // bits of a result
    u32 count;         // threads: words of all rows
};
static_assert(sizeof(ExtractCall) == 56 && AT(ExtractCall, numbers, 0) && AT(ExtractCall, results, 16) &&
              AT(ExtractCall, result_stride, 24) && AT(ExtractCall, skipped, 28) &&
              AT(ExtractCall, offset, 32) && AT(ExtractCall, flip, 36) && AT(ExtractCall, bits, 40) &&
              AT(ExtractCall, count, 48), "ExtractCall, as in Rust");

KERNEL(fft_extract, ExtractCall) {
    u32 number = thread_number();
    if (number >= call.count) return;
    u32 item = number / call.result_stride, at = number % call.result_stride;
    u64 bit = (u64)at * 32;
    u32 word = 0;
    if (bit < call.bits) {
        Numbers rest = call.numbers;
        rest.address += call.skipped + at;
        rest.length = rest.length > call.skipped + at ? rest.length - call.skipped - at : 0;
        word = word_at(rest, item, call.offset) ^ call.flip;
        if (call.bits - bit < 32) word &= (1u << (call.bits - bit)) - 1;
    }
    call.results[number] = word;
}
