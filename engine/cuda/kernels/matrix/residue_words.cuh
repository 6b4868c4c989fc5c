// Residues modulo words, the units of matrices, and ChaCha20.
#pragma once

struct WordModulus {
    u32 modulus;
    u32 last;   // the greatest word whose remainder is uniform
    u64 factor; // floor(2^64 / modulus)
};
static_assert(sizeof(WordModulus) == 16 && AT(WordModulus, modulus, 0) && AT(WordModulus, last, 4) &&
              AT(WordModulus, factor, 8), "WordModulus, as in Rust");

// x modulo a word. The quotient is the true one or one less: x / m - x f / 2^64 = x (2^64 / m - f) / 2^64
// < 1.
DEVICE u32 reduce(const WordModulus& modulus, u64 x) {
    u64 rest = x - high_product(x, modulus.factor) * modulus.modulus;
    u64 less = rest - modulus.modulus;
    // The highest bit of the difference tells which it is; no branch.
    return (u32)less + (mask_of((u32)(less >> 63)) & modulus.modulus);
}

// Adds the sum of 2^(8 s) totals[s] to a residue. Totals are below 2^34: the low part is below 2^34 (1 +
// 2^8 + 2^16 + 2^24)
// < 2^59, the high one below 2^51.
DEVICE void add_answer(u32* answer, const WordModulus& modulus, const u64* totals) {
    u64 low = totals[0] + (totals[1] << 8) + (totals[2] << 16) + (totals[3] << 24);
    u64 high = totals[4] + (totals[5] << 8) + (totals[6] << 16);
    u64 upper = reduce(modulus, (u64)reduce(modulus, high) << 32);
    *answer = reduce(modulus, low + upper + *answer);
}

enum { UNIT_WORDS = 512, UNIT_ROWS = 32, GROUP_WORDS = 16 };

// Byte `plane` of four words, the first word's lowest.
DEVICE u32 bytes_of(u32 a, u32 b, u32 c, u32 d, u32 plane) {
    u32 at = 8 * plane;
    return (a >> at & 255) | (b >> at & 255) << 8 | (c >> at & 255) << 16 | (d >> at & 255) << 24;
}

// Four bits as four bytes.
DEVICE u32 bytes_of_bits(u32 bits) { return (bits & 15) * 0x204081 & 0x01010101; }

DEVICE u32 rotated(u32 word, u32 bits) { return word << bits | word >> (32 - bits); }

DEVICE void quarter_round(u32& a, u32& b, u32& c, u32& d) {
    a += b; d = rotated(d ^ a, 16);
    c += d; b = rotated(b ^ c, 12);
    a += b; d = rotated(d ^ a, 8);
    c += d; b = rotated(b ^ c, 7);
}

struct ChaChaKey {
    u32 word[8];
};

// A block of ChaCha20 with a 64-bit counter and a 64-bit stream number.
DEVICE void chacha_block(const ChaChaKey& key, u64 counter, u64 stream, u32* out) {
    u32 start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key.word[0], key.word[1], key.word[2], key.word[3],
                     key.word[4], key.word[5], key.word[6], key.word[7], low_of(counter), high_of(counter), low_of(stream), high_of(stream)};
    u32 x[16];
#pragma unroll
    for (u32 i = 0; i < 16; i++) x[i] = start[i];
#pragma unroll 2
    for (u32 round = 0; round < 10; round++) {
        quarter_round(x[0], x[4], x[8], x[12]);
        quarter_round(x[1], x[5], x[9], x[13]);
        quarter_round(x[2], x[6], x[10], x[14]);
        quarter_round(x[3], x[7], x[11], x[15]);
        quarter_round(x[0], x[5], x[10], x[15]);
        quarter_round(x[1], x[6], x[11], x[12]);
        quarter_round(x[2], x[7], x[8], x[13]);
        quarter_round(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (u32 i = 0; i < 16; i++) out[i] = x[i] + start[i];
}

// The first word `place` of a block that is not above `last`, from stream 1 on. Rare for the greatest moduli.
DEVICE_CALLED u32 retried(ChaChaKey key, u64 counter, u32 place, u32 last) {
    for (u64 stream = 1;; stream++) {
        u32 words[16];
        chacha_block(key, counter, stream, words);
        u32 found = 0;
#pragma unroll
        for (u32 i = 0; i < 16; i++) found = i == place ? words[i] : found;
        if (found <= last) return found;
    }
}
