// Remainders of a batch.
#pragma once
#include "division.cuh"

// Writes a mod n, or 0 where the factor is 0.
KERNEL(remainders, DivisionCall) {
    SHARED_POOL(u32, pool);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        Division division(call, item);
        for (u32 index = call.rounds; index-- > 0;) division.round(call, item, index);
        normalize(division.r);
        add_where(division.r, division.n, sign_of(division.r));
        s32 factor = -(s32)(row_of(call.factor, item)[0] & 1);
#pragma unroll
        for (u32 i = 0; i < DIGITS; i++) division.r.digit[i] &= factor;
        write_number(division.r, -(s32)division.shift, pool, result_row(call, item), items.stores(round));
    }
}
