// Powers with a short public exponent that all items share, such as 65537: no tables, and nothing that
// depends on residues.
//
// Montgomery products of a number that is not in Montgomery form give v_k = x^k R^(1 - k): a square leads
// from v_k to v_2k, a product with x to v_(k+1). The product of v_e and R^e is x^e. With one modulus for many
// items R^e is found once, by the same products: it is v_e of R^2 times the number 1. Where every item has
// its own modulus, x is brought into Montgomery form instead, by R^2.
#pragma once

enum { PUBLIC_WORDS = 8 };

// The argument of the kernel.
struct PublicCall {
    Numbers numbers;   // below their moduli; of no length: R^2
    Numbers constants; // rows that the kernel `constants` wrote
    Numbers exits;     // R^e modulo N; of no length if there is none
    u32* results;
    u32 result_stride;
    u32 result_length;
    Quad* scratch;
    u32 count;
    u32 exponent_bits; // from the highest that is set; the lowest is
    u32 exponent[PUBLIC_WORDS];
};
static_assert(sizeof(PublicCall) == 112 && AT(PublicCall, numbers, 0) && AT(PublicCall, constants, 16) &&
              AT(PublicCall, exits, 32) && AT(PublicCall, results, 48) &&
              AT(PublicCall, result_stride, 56) && AT(PublicCall, result_length, 60) &&
              AT(PublicCall, scratch, 64) && AT(PublicCall, count, 72) &&
              AT(PublicCall, exponent_bits, 76) && AT(PublicCall, exponent, 80), "PublicCall, as in Rust");

KERNEL(public_power, PublicCall) {
    Field field;
    field.open(call.scratch);
    Items items(call.count);
    auto bit_at = [&](u32 place) { return call.exponent[place / 32] >> place % 32 & 1; };
    bool has_numbers = call.numbers.length > 0, has_exits = call.exits.length > 0;
    u32 products = has_exits ? 0 : 1;
    for (u32 place = 0; place < call.exponent_bits; place++) products += bit_at(place);
    for (u32 round = 0; round < items.rounds(); round++) {
        u32 item = items.item(round);
        const u32* constants = row_of(call.constants, item);
        field.load_modulus(constants);
        if (has_exits) {
            field.load(row_of(call.exits, item), WORDS);
            field.keep(1);
        }
        if (has_numbers) {
            field.load(row_of(call.numbers, item), call.numbers.length);
            field.keep(0);
        }
        if (!has_exits) field.load(seed_in(constants), WORDS);
        u32 place = call.exponent_bits - 1;
        // Entering without exits; some squarings and a product for every bit but the highest; the last.
        for (u32 step = 0; step < products; step++) {
            bool enters = !has_exits && step == 0, leaves = step + 1 == products;
            u32 squarings = enters ? SQUARINGS : 0;
            while (!enters && !leaves && squarings + 1 <= place) {
                squarings++;
                if (bit_at(place - squarings)) break;
            }
            for (u32 i = 0; i < squarings; i++) field.square();
            if (!enters) place -= squarings;
            if (!leaves) field.fetch(0);
            else if (has_exits) field.fetch(1);
            else field.set_y_to_one(2);
            if (!enters || has_numbers) field.multiply();
            if (enters) field.keep(0);
        }
        u32 length = items.stores(round) ? call.result_length : 0;
        field.store(call.results + (u64)items.item(round) * call.result_stride, length);
    }
}
