// The operations, in terms of a family's Field: Montgomery form, fixed windows, chains of products.
//
// A program has one part of these kernels (HAS_...): a device compiles the parts that it needs, side by side.
//
// THREADS threads hold a number together. Every thread of a warp takes part in every step; groups
// beyond the end of the batch repeat its last item and store nothing.
#pragma once

#include "items.cuh"

// Code size decides as much as the count of instructions: a product is thousands of them, unrolled. So
// every operation is a loop of one shape, some squarings and then a product, and the compiler sees one
// square and one product in each kernel.

// All threads of a warp come here; a length of 0 stores nothing.
DEVICE void store(Field& field, const Call& call, const Items& items, u32 round) {
    u32 length = items.stores(round) ? call.result_length : 0;
    field.store(call.results + (u64)items.item(round) * call.result_stride, length);
}

// Finds the table entries for the digit of the exponent at `place` and those after it, in constant time.
// Not inlined: its registers would make the assembler sparing with them, and slow, in the products.
DEVICE_CALLED void choose(Table table, Numbers b, u32 item, u32 place, u32 window) {
    u32 digits[Table::AT_ONCE];
#pragma unroll
    for (u32 k = 0; k < Table::AT_ONCE; k++) {
        digits[k] = exponent_digit(b, item, (place - smaller(k, place)) * window, window);
    }
    table.choose(digits, 1u << window);
}

// base^exponent with a fixed window; SECRET reads every entry of the table for each digit. A public
// exponent that all items share may skip the products of its zero digits: all threads agree.
//
// The steps: base R from R^2 (by squarings of the seed) times the base; the powers of the table, each
// the last one times the base; the digits of the exponent, from the top; and the product with 1 that
// leaves Montgomery form. Entry 0 is R, entry 1 the base; those after the last power are for what `choose`
// and `set_y_to_one` write.
template <bool SECRET> DEVICE void exponentiate(const Call& call) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    u32 window = call.window, entries = 1u << window;
    u32 digits = (call.exponent_bits + window - 1) / window;
    u32 first_digit = entries - 1, last = first_digit + digits; // steps
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        const u32* constants = row_of(call.constants, item);
        field.load_modulus(constants);
        field.load(one_in(constants), WORDS);
        field.keep(0);
        field.load(row_of(call.a, item), call.a.length);
        field.keep(1);
        field.load(seed_in(constants), WORDS);
        for (u32 step = 0; step <= last; step++) {
            u32 squarings = step == 0 ? SQUARINGS : step > first_digit && step < last ? window : 0;
            if (step == first_digit) field.take(0);
            for (u32 i = 0; i < squarings; i++) field.square();
            bool skip = false;
            if (step < first_digit) {
                field.fetch(1);
            } else if (step < last) {
                u32 place = last - 1 - step; // of the digit
                u32 digit = exponent_digit(call.b, item, place * window, window);
                u32 turn = (step - first_digit) % Table::AT_ONCE;
                if (SECRET && turn == 0) choose(field.table, call.b, item, place, window);
                field.fetch(SECRET ? entries + turn : digit);
                skip = !SECRET && call.b.stride == 0 && warp_bits(digit != 0) == 0;
            } else {
                field.set_y_to_one(entries);
            }
            if (!skip) field.multiply();
            if (step < first_digit) field.keep(step + 1);
        }
        store(field, call, items, round);
    }
}

#ifdef HAS_POWER
KERNEL(power, Call) { exponentiate<true>(call); }
#endif
#ifdef HAS_POWER_VARTIME
KERNEL(power_vartime, Call) { exponentiate<false>(call); }
#endif

// a b mod N: the product of a and R^2, and then with b. Without room that is below R, which may be many
// times N; one more product, with R mod N, leaves the value and brings it below 2N.
#ifdef HAS_MULTIPLY
KERNEL(multiply, Call) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        const u32* constants = row_of(call.constants, item);
        field.load_modulus(constants);
        field.load(row_of(call.a, item), call.a.length);
        field.keep(0);
        field.load(row_of(call.b, item), call.b.length);
        field.keep(1);
        if (!ROOM) {
            field.load(one_in(constants), WORDS);
            field.keep(2);
        }
        field.load(seed_in(constants), WORDS);
        for (u32 step = 0; step < (ROOM ? 2 : 3); step++) {
            for (u32 i = 0; i < SQUARINGS && step == 0; i++) field.square();
            field.fetch(step);
            field.multiply();
        }
        store(field, call, items, round);
    }
}
#endif

// Chains of `repeat` Montgomery products a <- a b / R, or squares, as the papers measure them: nothing but
// arithmetic. The answer is divided by R once more, which makes it canonical, unless `keeps_form`: a single
// product of canonical numbers is below 2N as it is.
template <bool SQUARE> DEVICE void chain(const Call& call) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        field.load_modulus(row_of(call.constants, item));
        field.load(row_of(call.b, item), call.b.length);
        field.keep(0);
        field.fetch(0);
        field.load(row_of(call.a, item), call.a.length);
        if (SQUARE) {
            for (u32 i = 0; i < call.repeat; i++) field.square();
        }
        u32 steps = call.repeat + (call.keeps_form == 0);
        for (u32 i = SQUARE ? call.repeat : 0; i < steps; i++) {
            if (i == call.repeat) field.set_y_to_one(0);
            field.multiply();
        }
        store(field, call, items, round);
    }
}

#ifdef HAS_CHAINS
KERNEL(multiply_chain, Call) { chain<false>(call); }
KERNEL(square_chain, Call) { chain<true>(call); }
#endif
