// Inverses modulo odd numbers, with a modulus for each item or one for all.
#pragma once
#include "divsteps.cuh"

// -1/n modulo 2^32 for odd n: n is its own inverse modulo 8, and a step doubles the bits.
DEVICE u32 negated_inverse_of(u32 n) {
    u32 inverse = n;
#pragma unroll
    for (u32 bits = 3; bits < 32; bits *= 2) inverse *= 2 - n * inverse;
    return 0 - inverse;
}

// Writes a^-1 mod n, or 0 and a flag. a may be longer than n: it is below 2^b for the b that the number of
// batches is for.
KERNEL(inverses, DivisionCall) {
    SHARED_POOL(u32, pool);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        Digits n = read_digits(call.b, item, 0), f = n, g = read_digits(call.a, item, 0), d, e;
        u32 negated_inverse = negated_inverse_of((u32)of_first(n.digit[0]));
        // An odd g makes up for one that is greater than f.
        add_where(g, n, (of_first(g.digit[0]) & 1) - 1);
#pragma unroll
        for (u32 i = 0; i < DIGITS; i++) d.digit[i] = e.digit[i] = 0;
        // One division by 2^30 more at the end brings d from below 2^30 + 2^11 n to below n + 2.
        e.digit[1] = rank() == 0 ? 1 : 0;
        s32 delta = 1;
        for (u32 batch = 0; batch < call.rounds; batch++) {
            Matrix m = batch_of_steps((u32)of_first(f.digit[0]), (u32)of_first(g.digit[0]), delta);
            update(f, g, m);
            update_modulo(d, e, m, n, negated_inverse);
        }
        normalize(f);
        s32 sign = sign_of(f);
        negate_where(f, sign);
        s32 exists = is_one(f) ? -1 : 0;
        negate_where(d, sign);
        divide_modulo(d, n, negated_inverse);
        normalize(d);
        add_where(d, n, sign_of(d));
        Digits less = d;
        subtract(less, n);
        s32 is_below = sign_of(less);
#pragma unroll
        for (u32 i = 0; i < DIGITS; i++)
            d.digit[i] = (s32)blend((u32)is_below, (u32)less.digit[i], (u32)d.digit[i]) & exists;
        bool stores = items.stores(round);
        write_number(d, 0, pool, result_row(call, item), stores);
        if (stores && rank() == 0) call.flags[item] = exists ? 0 : 1;
    }
}
