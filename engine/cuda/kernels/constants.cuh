// The constants of a modulus for Montgomery arithmetic, and the reduction of long numbers: plain integer
// code with one thread per number, the same for every family.
//
// Everything is one step, t <- (t 2^b + d) mod N with b <= 28: a quotient estimated in floating point from
// the top words and one multiply-subtract. What it leaves is below 3N, and two masked corrections at the end
// bring it below N.
#pragma once

// The argument of the kernels of this file.
struct Preparation {
    Numbers input;    // moduli, or numbers to reduce
    Numbers constants; // for `reduce`: rows of constants; a stride of 0 means one for all
    u32* rows;        // results: rows of constants, or of WORDS words
    u32 count;
    u32 limbs;        // 64-bit limbs that every modulus of the batch needs
};
static_assert(sizeof(Preparation) == 48 && AT(Preparation, input, 0) && AT(Preparation, constants, 16) &&
              AT(Preparation, rows, 32) && AT(Preparation, count, 40) && AT(Preparation, limbs, 44),
              "Preparation, as in Rust");

enum { STEP_BITS = 28 };

// Short numbers live in registers; long ones in local memory, where unrolling is only slow to compile.
#if WORDS <= 32
#define FOR_WORDS _Pragma("unroll")
#else
#define FOR_WORDS _Pragma("unroll 1")
#endif

// t modulo N, and N's leading words as a number.
struct Remainder {
    u32 t[WORDS + 1]; // below 3 N; `settle` brings it below N
    u32 n[WORDS];
    u32 top; // index of the highest word that a modulus may use
    double reciprocal; // one over N's leading words: a division would branch on numbers that may be secret
    double unit; // weight of a unit of the inserted digit against the leading words

    // Words top - 2 .. top + 1 as one number, of `count` words; the index is the same for all threads.
    DEVICE double leading(const u32* words, int count) const {
        double sum = 0;
#if WORDS <= 32
#pragma unroll
        for (int i = 0; i < count; i++) {
            if (i == (int)top + 1) sum += words[i] * 79228162514264337593543950336.0;
            if (i == (int)top) sum += words[i] * 18446744073709551616.0;
            if (i + 1 == (int)top) sum += words[i] * 4294967296.0;
            if (i + 2 == (int)top) sum += words[i];
        }
#else
        for (int i = smaller(top + 2, count); i-- > (int)top - 2;) sum = sum * 4294967296.0 + words[i];
#endif
        return sum;
    }

    DEVICE void open(const u32* modulus, u32 length, u32 limbs) {
        top = 2 * limbs - 1;
FOR_WORDS
        for (int i = 0; i < WORDS; i++) n[i] = i < (int)length ? modulus[i] : 0;
        reciprocal = 1 / leading(n, WORDS);
        // 2^(-32 (top - 2)), which vanishes for long moduli, where a digit cannot move the quotient.
        unit = top <= 17 ? double_of((u64)(1023 - 32 * ((int)top - 2)) << 52) : 0;
    }

    // Bound: N has a word at top or top - 1, so its leading words are at least 2^32 (or all of N, when it is
    // one limb). Cutting off what follows moves the quotient, below 3 2^28, by less than a quarter up or a
    // sixteenth down, and rounding by less than 2^-20: the estimate less one leaves a remainder above zero
    // and below 3N.
    DEVICE void step(u32 bits, u32 digit) {
        subtract((leading(t, WORDS + 1) * (double)(1u << bits) + digit * unit) * reciprocal, bits, digit);
    }

    // t mod N, for t below 2^28 N, whose highest word may be the one above N's.
    DEVICE void bring_below() {
        step(0, 0);
        settle();
    }

    // t <- t 2^bits + digit - N times the estimated quotient less one.
    DEVICE void subtract(double estimate, u32 bits, u32 digit) {
        u32 quotient = (u32)estimate;
        quotient -= quotient != 0;
        u64 product = 0;
        u32 below = digit << (32 - bits), borrow = 0;
        if (bits == 0) below = 0;
FOR_WORDS
        for (int i = 0; i <= WORDS; i++) {
            u32 word = t[i];
            u32 shifted = bits == 0 ? word : word << bits | below >> (32 - bits);
            below = word;
            product += (u64)quotient * (i < WORDS ? n[i] : 0);
            u64 difference = (u64)shifted - (u32)product - borrow;
            t[i] = (u32)difference;
            borrow = (u32)(difference >> 63);
            product >>= 32;
        }
    }

    // t below N.
    DEVICE void settle() {
        correct();
        correct();
    }

    // t -= N if t >= N, by masks.
    DEVICE void correct() {
        u32 borrow = 0;
FOR_WORDS
        for (int i = 0; i <= WORDS; i++) {
            u64 difference = (u64)t[i] - (i < WORDS ? n[i] : 0) - borrow;
            borrow = (u32)(difference >> 63);
        }
        u32 mask = mask_of(1 - borrow);
        borrow = 0;
FOR_WORDS
        for (int i = 0; i <= WORDS; i++) {
            u64 difference = (u64)t[i] - (i < WORDS ? n[i] & mask : 0) - borrow;
            t[i] = (u32)difference;
            borrow = (u32)(difference >> 63);
        }
    }

    // t <- t 2^bits mod N.
    DEVICE void shift(u32 bits) {
        for (; bits > STEP_BITS; bits -= STEP_BITS) step(STEP_BITS, 0);
        step(bits, 0);
    }

    DEVICE void write(u32* row) {
        settle();
FOR_WORDS
        for (int i = 0; i < WORDS; i++) row[i] = t[i];
    }
};

#ifdef HAS_PREPARATION
KERNEL(constants, Preparation) {
    u32 item = blockIdx.x * BLOCK + threadIdx.x;
    if (item >= call.count) return;
    Remainder remainder;
    remainder.open(row_of(call.input, item), call.input.length, call.limbs);
    u32* row = call.rows + (u64)item * (HEADER_WORDS + 3 * WORDS);
    // Newton's iteration: each step doubles the bits of 1/N mod 2^64, from the 3 that N itself has.
    u64 low = (WORDS > 1 ? (u64)remainder.n[WORDS > 1 ? 1 : 0] << 32 : 0) | remainder.n[0], inverse = low;
    for (int i = 0; i < 5; i++) inverse *= 2 - low * inverse;
    row[0] = (u32)(0 - inverse);
    row[1] = (u32)((0 - inverse) >> 32);
    row[2] = row[3] = 0;
    // 2^(64 (limbs - 1)) is below N: the modulus has a bit at or above it, and is odd.
FOR_WORDS
    for (int i = 0; i <= WORDS; i++) remainder.t[i] = i == 2 * ((int)call.limbs - 1) ? 1 : 0;
FOR_WORDS
    for (int i = 0; i < WORDS; i++) row[HEADER_WORDS + i] = remainder.n[i];
    remainder.shift(RADIX_BITS - 64 * (call.limbs - 1));
    remainder.write(row + HEADER_WORDS + WORDS);
    remainder.shift(RADIX_BITS >> SQUARINGS);
    remainder.write(row + HEADER_WORDS + 2 * WORDS);
}

// Reduces numbers that are longer than the modulus.
KERNEL(reduce, Preparation) {
    u32 item = blockIdx.x * BLOCK + threadIdx.x;
    if (item >= call.count) return;
    Remainder remainder;
    remainder.open(modulus_in(row_of(call.constants, item)), WORDS, call.limbs);
FOR_WORDS
    for (int i = 0; i <= WORDS; i++) remainder.t[i] = 0;
    const u32* row = row_of(call.input, item);
    for (u32 i = call.input.length; i-- > 0;) {
        remainder.step(16, row[i] >> 16);
        remainder.step(16, row[i] & 0xffff);
    }
    remainder.write(call.rows + (u64)item * WORDS);
}
#endif
