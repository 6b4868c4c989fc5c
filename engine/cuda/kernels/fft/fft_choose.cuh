// Entries of tables of powers, as digits of exponents name them.
#pragma once

// The argument of these kernels.
struct ChooseCall {
    Numbers exponents;
    const Quad* table; // the powers 1, 2, ... of all items, entry by entry; power 0 is 1 and not there
    Quad* results;     // a row for each item
    u64 entry_quads;   // from one entry to the next
    u32 row_quads;     // quads of a number
    u32 from;          // the digit's lowest bit
    u32 bits;          // bits of a digit
    u32 count;         // threads: quads of all items
};
static_assert(sizeof(ChooseCall) == 56 && AT(ChooseCall, exponents, 0) && AT(ChooseCall, table, 16) &&
              AT(ChooseCall, results, 24) && AT(ChooseCall, entry_quads, 32) &&
              AT(ChooseCall, row_quads, 40) && AT(ChooseCall, from, 44) && AT(ChooseCall, bits, 48) &&
              AT(ChooseCall, count, 52), "ChooseCall, as in Rust");

// WHOLE: no address depends on the digit, because all entries are read.
template <bool WHOLE> DEVICE void choose(const ChooseCall& call) {
    u32 number = thread_number();
    if (number >= call.count) return;
    u32 item = number / call.row_quads;
    u32 digit = exponent_digit(call.exponents, item, call.from, call.bits);
    Quad chosen = {{(u32)(digit == 0) & (u32)(number % call.row_quads == 0), 0, 0, 0}};
    const Quad* entry = call.table + number;
    if (WHOLE) {
#pragma unroll 4
        for (u32 candidate = 1; candidate < 1u << call.bits; candidate++, entry += call.entry_quads) {
            Quad quad = *entry;
            bool is_it = candidate == digit;
#pragma unroll
            for (int j = 0; j < 4; j++) chosen.word[j] = is_it ? quad.word[j] : chosen.word[j];
        }
    } else {
        // The instructions are the same for every digit. The digit 0 reads the first entry for nothing.
        Quad quad = entry[(digit - (u32)(digit > 0)) * call.entry_quads];
#pragma unroll
        for (int j = 0; j < 4; j++) chosen.word[j] = digit > 0 ? quad.word[j] : chosen.word[j];
    }
    call.results[number] = chosen;
}

KERNEL(fft_choose, ChooseCall) { choose<true>(call); }
KERNEL(fft_choose_direct, ChooseCall) { choose<false>(call); }
