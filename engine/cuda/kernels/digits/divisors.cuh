// Greatest common divisors of public numbers.
#pragma once
#include "divsteps.cuh"

// Zero bits below the lowest one of a number; more than it has bits if it is zero.
DEVICE u32 trailing_zeros(const Numbers& numbers, u32 item) {
    const u32* row = row_of(numbers, item);
    u32 at = 0, count = 0;
    while (at < numbers.length && row[at] == 0) at++;
    if (at == numbers.length) return 1u << 30;
    for (u32 word = row[at]; !(word & 1); word >>= 1) count++;
    return 32 * at + count;
}

// Batches between two looks at whether all numbers of a warp are done.
enum { BATCHES_PER_LOOK = 4 };

KERNEL(divisors, DivisionCall) {
    SHARED_POOL(u32, pool);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        // The smaller power of two is taken off both, so that one of them is odd unless both are zero.
        u32 in_a = trailing_zeros(call.a, item), in_b = trailing_zeros(call.b, item);
        bool is_swapped = in_b > in_a;
        u32 shift = is_swapped ? in_a : in_b;
        Digits f = read_digits(is_swapped ? call.a : call.b, item, shift);
        Digits g = read_digits(is_swapped ? call.b : call.a, item, shift);
        // An odd g makes up for one that is greater than f.
        add_where(g, f, (of_first(g.digit[0]) & 1) - 1);
        s32 delta = 1;
        for (u32 batch = 0; batch < call.rounds; batch++) {
            update(f, g, batch_of_steps((u32)of_first(f.digit[0]), (u32)of_first(g.digit[0]), delta));
            if (batch % BATCHES_PER_LOOK != 0) continue;
            s32 any = 0;
#pragma unroll
            for (u32 i = 0; i < DIGITS; i++) any |= g.digit[i];
            if (warp_bits(any != 0) == 0) break;
        }
        normalize(f);
        negate_where(f, sign_of(f));
        write_number(f, (s32)shift, pool, result_row(call, item), items.stores(round));
    }
}
