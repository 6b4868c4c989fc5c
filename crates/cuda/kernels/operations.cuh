// The operations, in terms of a family's Field: Montgomery form, fixed windows, chains of products.
//
// THREADS threads hold a number together. Every thread of a warp takes part in every step; groups
// beyond the end of the batch repeat its last item and store nothing.
#pragma once

// Entries of the table beside the powers.
enum { ONE = 0, BASE = 1 };

struct Items {
    u32 group, groups, count;
    DEVICE Items(u32 count) : group((blockIdx.x * BLOCK + threadIdx.x) / THREADS), groups(gridDim.x * BLOCK / THREADS), count(count) {}
    // Rounds that every group makes, so that warps stay together.
    DEVICE u32 rounds() const { return (count + groups - 1) / groups; }
    DEVICE u32 item(u32 round) const { return smaller(round * groups + group, count - 1); }
    // Words of a result to store: none where an item is repeated.
    DEVICE u32 stored(u32 round, u32 length) const { return round * groups + group < count ? length : 0; }
};

// x = R^2 mod N, left in table entry `index` as well.
DEVICE void square_of_radix(Field& field, const u32* constants, u32 index) {
    field.load(seed_in(constants), WORDS);
    for (int i = 0; i < SQUARINGS; i++) field.square();
    field.keep(index);
}

// x = a R mod N for the integer a < R in a row.
DEVICE void enter(Field& field, const Operand& a, u32 item, u32 square_index) {
    field.load(row_of(a, item), a.length);
    field.fetch(square_index);
    field.multiply();
}

// Writes x / R mod N.
DEVICE void leave(Field& field, const Call& call, u32 round, const Items& items, u32 spare_index) {
    field.set_y_to_one(spare_index);
    field.multiply();
    field.store(call.results + (u64)items.item(round) * call.result_stride, items.stored(round, call.result_length));
}

// Bits [from, from + count) of an exponent; `count` is at most 8.
DEVICE u32 exponent_digit(const Operand& b, u32 item, u32 from, u32 count) {
    const u32* row = row_of(b, item);
    u32 at = from / 32, shift = from % 32;
    u32 low = at < b.length ? row[at] : 0;
    u32 high = at + 1 < b.length ? row[at + 1] : 0;
    u64 both = (u64)high << 32 | low;
    return (u32)(both >> shift) & ((1u << count) - 1);
}

// base^exponent with a fixed window; SECRET reads every entry of the table for each digit.
template <bool SECRET> DEVICE void exponentiate(const Call& call) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    u32 entries = 1u << call.window, square_index = entries; // entry `entries` is free while the table is made
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        const u32* constants = row_of(call.constants, item);
        field.load_modulus(constants);
        square_of_radix(field, constants, square_index);
        enter(field, call.a, item, square_index);
        field.keep(BASE);
        field.fetch(BASE);
        for (u32 i = 2; i < entries; i++) {
            field.multiply();
            field.keep(i);
        }
        field.load(one_in(constants), WORDS);
        field.keep(ONE);
        u32 digits = (call.exponent_bits + call.window - 1) / call.window;
        for (u32 i = digits; i-- > 0;) {
            if (i + 1 < digits) {
                for (u32 s = 0; s < call.window; s++) field.square();
            }
            u32 digit = exponent_digit(call.b, item, i * call.window, call.window);
            if (SECRET) field.select(digit, entries);
            else field.fetch(digit);
            field.multiply();
        }
        leave(field, call, round, items, entries);
    }
}

KERNEL(power, Call) { exponentiate<true>(call); }
KERNEL(power_vartime, Call) { exponentiate<false>(call); }

// a b mod N: one product into Montgomery form, one with the other factor.
KERNEL(multiply, Call) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        const u32* constants = row_of(call.constants, item);
        field.load_modulus(constants);
        square_of_radix(field, constants, 0);
        enter(field, call.a, item, 0);
        field.keep(1);
        field.load(row_of(call.b, item), call.b.length);
        field.fetch(1);
        field.multiply();
        field.store(call.results + (u64)item * call.result_stride, items.stored(round, call.result_length));
    }
}

KERNEL(square, Call) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        const u32* constants = row_of(call.constants, item);
        field.load_modulus(constants);
        square_of_radix(field, constants, 0);
        field.load(row_of(call.a, item), call.a.length);
        field.square();
        field.fetch(0);
        field.multiply();
        field.store(call.results + (u64)item * call.result_stride, items.stored(round, call.result_length));
    }
}

// Chains of `repeat` Montgomery products a <- a b / R, or squares, as the papers measure them: nothing
// but arithmetic. The answer is a (b / R)^repeat or its like for squares, still below R.
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
        for (u32 i = 0; i < call.repeat; i++) {
            if (SQUARE) field.square();
            else field.multiply();
        }
        leave(field, call, round, items, 1);
    }
}

KERNEL(multiply_chain, Call) { chain<false>(call); }
KERNEL(square_chain, Call) { chain<true>(call); }
