// Quotients of a batch.
#pragma once
#include "division.cuh"

// Writes floor(a / n), and a mod n behind it if it is wanted; or zeros and a flag where n is zero.
KERNEL(quotients, DivisionCall) {
    SHARED_POOL(u32, pool);
    Items items(call.count);
    // The digits of a number's quotient, one after the other.
    enum { STRIDE = BLOCK / THREADS };
    u32* own = pool + threadIdx.x / THREADS;
    // Warps do not wait for each other, so the digits of remainders have memory of their own.
    u32* others = pool + call.rounds * STRIDE;
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        Division division(call, item);
        for (u32 index = call.rounds; index-- > 0;) {
            s32 q = division.round(call, item, index);
            if (rank() == 0) own[index * STRIDE] = (u32)q;
        }
        normalize(division.r);
        // The first thread carries through the quotient, which is one less if the remainder is negative.
        s32 is_negative = sign_of(division.r), carry = is_negative;
        if (rank() == 0)
            for (u32 index = 0; index < call.rounds; index++) {
                s32 sum = (s32)own[index * STRIDE] + carry;
                own[index * STRIDE] = (u32)(sum & DIGIT_MASK & division.exists);
                carry = sum >> DIGIT_BITS;
            }
        warp_barrier();
        u32 digits = call.rounds;
        auto digit = [=](u32 index) -> u64 { return index < digits ? own[index * STRIDE] : 0; };
        bool stores = items.stores(round);
        Row row = result_row(call, item);
        write_words(digit, 0, row, stores);
        if (call.remainder_length > 0) {
            add_where(division.r, division.n, is_negative);
#pragma unroll
            for (u32 i = 0; i < DIGITS; i++) division.r.digit[i] &= division.exists;
            Row rest = {row.words + row.length, (u32)call.remainder_length};
            write_number(division.r, -(s32)division.shift, others, rest, stores);
        }
        if (stores && rank() == 0) call.flags[item] = division.exists ? 0 : 1;
        warp_barrier();
    }
}
