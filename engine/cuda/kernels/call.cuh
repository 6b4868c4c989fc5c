// The argument of a family's kernels, and the rows of constants that they read.
#pragma once
#include "numbers.cuh"

struct Call {
    Numbers a;         // bases, or first factors
    Numbers b;         // exponents, or second factors
    Numbers constants; // rows that the kernel `constants` wrote, one per modulus
    u32* results;
    u32 result_stride;
    u32 result_length;
    Quad* scratch;     // what each thread of the grid keeps between its steps: tables
    u32 count;
    u32 exponent_bits; // as declared by the caller (secret exponents), or of the longest one
    u32 window;
    u32 repeat;        // products in a chain
    u32 keeps_form;    // 1 if a chain is one product that stays in Montgomery form, else 0
};
static_assert(sizeof(Call) == 96 && AT(Call, a, 0) && AT(Call, b, 16) && AT(Call, constants, 32) &&
              AT(Call, results, 48) && AT(Call, result_stride, 56) && AT(Call, result_length, 60) &&
              AT(Call, scratch, 64) && AT(Call, count, 72) && AT(Call, exponent_bits, 76) &&
              AT(Call, window, 80) && AT(Call, repeat, 84) && AT(Call, keeps_form, 88), "Call, as in Rust");

// The rows of constants: two words of -1/N mod 2^64, two unused, then N, R mod N and a power of two
// from which squarings lead to R^2 mod N.
enum { HEADER_WORDS = 4 };
DEVICE const u32* modulus_in(const u32* row) { return row + HEADER_WORDS; }
DEVICE const u32* one_in(const u32* row) { return row + HEADER_WORDS + WORDS; }
DEVICE const u32* seed_in(const u32* row) { return row + HEADER_WORDS + 2 * WORDS; }
