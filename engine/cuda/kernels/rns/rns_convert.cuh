// Conversions between words and residues, and the constants of a modulus. All of it takes a fraction of a
// percent of a power's time, and is plain integer code.
#pragma once

// Constants of a channel for conversions. A number's remainder comes as x 2^-32, and a product divides by
// 2^32 once more, so that factors have 2^64 in them.
struct alignas(16) Conversion {
    u32 high;    // 2^48, the factor of the high halves of words
    u32 number;  // A: 2^64 / A_j, which leads to xi. B: 2^64.
    u32 modulus; // A: leads from N to the quotient's factor. B: -1 / B_i, from 1 / N to the squares' factor.
    u32 one;     // A: the entry of 1
    u32 state;   // A: 1 / A_j, xi of 1
    u32 unused[3];
};

// The argument of the kernels of this file.
struct ConversionCall {
    Numbers input;                  // moduli, or numbers
    const Channel* channels;        // those of A, then those of B
    const Conversion* conversions;  // those of A, then those of B
    const u32* powers;              // 2^(32 i) modulo every prime: for every word i the residues of all channels
    Numbers radix;                  // for moduli: B^2 mod N
    Pair* tiles;                    // results: tiles of MODULUS_SIDES sides, or of one
    u32* flags;                     // for moduli: whether N and B have a factor in common
    const u32* roots;               // for merged matrices: s_i 2^32; null if there are none
    u32 count;
};
static_assert(sizeof(ConversionCall) == 88 && AT(ConversionCall, input, 0) &&
              AT(ConversionCall, channels, 16) && AT(ConversionCall, conversions, 24) &&
              AT(ConversionCall, powers, 32) && AT(ConversionCall, radix, 40) &&
              AT(ConversionCall, tiles, 56) && AT(ConversionCall, flags, 64) &&
              AT(ConversionCall, roots, 72) && AT(ConversionCall, count, 80), "ConversionCall, as in Rust");

// x 2^-32 modulo a prime, as a number below 3 primes. Products of half words are below 2^(16 + 31), so that a
// sum of 2^9 of them has room.
DEVICE u32 remainder_of(const ConversionCall& call, const Numbers& input, u32 item, u32 channel) {
    const u32* row = row_of(input, item);
    u64 low = 0, high = 0;
    for (u32 i = 0; i < input.length; i++) {
        u32 word = row[i], power = call.powers[i * 2 * CHANNELS + channel];
        low += (u64)(word & 0xffff) * power;
        high += (u64)(word >> 16) * power;
    }
    Channel c = call.channels[channel];
    return reduced(low, c) + reduced_product(reduced(high, c), call.conversions[channel].high, c);
}

// The sides of a modulus's tile, one thread per channel of both bases.
KERNEL(residue_moduli, ConversionCall) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= call.count * 2 * CHANNELS) return;
    u32 item = index / (2 * CHANNELS), channel = index % (2 * CHANNELS), place = channel % CHANNELS;
    Channel c = call.channels[channel];
    Conversion conversion = call.conversions[channel];
    Pair* tile = call.tiles + (u64)(item / TILE_ITEMS) * MODULUS_SIDES * SIDE_PAIRS;
    u32 n = remainder_of(call, call.input, item, channel);
    u32 radix = reduced_product(remainder_of(call, call.radix, item, channel), conversion.number, c);
    u32* words[MODULUS_SIDES];
    for (u32 side = 0; side < MODULUS_SIDES; side++) words[side] = &word_of(tile + side * SIDE_PAIRS, item, place);
    if (channel < CHANNELS) {
        *words[MODULUS_A] = reduced_once(reduced_product(n, conversion.modulus, c), c);
        // Merged matrices take the states of entries.
        *words[RADIX_ENTRY + 1] = reduced_once(call.roots ? radix : reduced_product(radix, c.factor, c), c);
        *words[ONE_ENTRY + 1] = call.roots ? conversion.state : conversion.one;
        *words[ONE_STATE] = conversion.state;
    } else {
        // n is N / 2^64 in Montgomery form; its inverse is 2^96 / N.
        u32 inverted = inverse(reduced_once(reduced_once(n, c), c), c);
        u32 factor = reduced_once(reduced_product(inverted, conversion.modulus, c), c);
        if (factor == 0) call.flags[item] = 1;
        *words[SQUARE_B] = factor;
        if (call.roots) {
            factor = call.roots[place];
            *words[SQUARE_B] = reduced_once(reduced_product(1, conversion.number, c), c);
        }
        *words[RADIX_ENTRY] = reduced_once(reduced_product(radix, factor, c), c);
        *words[ONE_ENTRY] = reduced_once(reduced_product(1, factor, c), c);
    }
}

// The side of numbers, one thread per channel of base A.
KERNEL(residue_numbers, ConversionCall) {
    u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= call.count * CHANNELS) return;
    u32 item = index / CHANNELS, channel = index % CHANNELS;
    Pair* tile = call.tiles + (u64)(item / TILE_ITEMS) * SIDE_PAIRS;
    word_of(tile, item, channel) = reduced_product(remainder_of(call, call.input, item, channel),
                                                   call.conversions[channel].number, call.channels[channel]);
}

// The argument of `residue_radix`: a number, here B^2, as its leading words, which are below N, and
// digits of STEP_BITS bits, the first of which may be shorter.
struct RadixCall {
    Numbers moduli;
    const u32* leading;
    const u32* digits;
    u32* rows; // rows of WORDS words
    u32 digit_count;
    u32 first_bits;
    u32 count;
    u32 limbs; // limbs that every modulus needs
};
static_assert(sizeof(RadixCall) == 56 && AT(RadixCall, moduli, 0) && AT(RadixCall, leading, 16) &&
              AT(RadixCall, digits, 24) && AT(RadixCall, rows, 32) && AT(RadixCall, digit_count, 40) &&
              AT(RadixCall, first_bits, 44) && AT(RadixCall, count, 48) && AT(RadixCall, limbs, 52),
              "RadixCall, as in Rust");

// B^2 modulo every modulus, one thread per modulus.
KERNEL(residue_radix, RadixCall) {
    u32 item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= call.count) return;
    Remainder remainder;
    remainder.open(row_of(call.moduli, item), call.moduli.length, call.limbs);
FOR_WORDS
    for (int i = 0; i <= WORDS; i++) remainder.t[i] = i < 2 * ((int)call.limbs - 1) ? call.leading[i] : 0;
    for (u32 i = 0; i < call.digit_count; i++) remainder.step(i == 0 ? call.first_bits : STEP_BITS, call.digits[i]);
    remainder.write(call.rows + (u64)item * WORDS);
}

// The argument of `residue_words`.
struct WordsCall {
    const Pair* tiles;       // tiles of one side
    const Channel* channels; // channels of A
    const Quad* cofactors;   // A_j, then A: four words at a time, CHANNELS + 1 of each
    Numbers moduli;
    u32* results;
    u32 result_stride;
    u32 result_length;
    u32 count;
    u32 limbs; // limbs that every modulus needs
};
static_assert(sizeof(WordsCall) == 64 && AT(WordsCall, tiles, 0) && AT(WordsCall, channels, 8) &&
              AT(WordsCall, cofactors, 16) && AT(WordsCall, moduli, 24) && AT(WordsCall, results, 40) &&
              AT(WordsCall, result_stride, 48) && AT(WordsCall, result_length, 52) &&
              AT(WordsCall, count, 56) && AT(WordsCall, limbs, 60), "WordsCall, as in Rust");

// x = sum_j xi_j A_j - k A in words, one thread per number, and then modulo N. |x| is below 2^10 N; it may be
// negative with merged matrices, so that 2^11 N is added. Of the words above the modulus only one is
// computed.
KERNEL(residue_words, WordsCall) {
    u32 item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= call.count) return;
    Pair* tile = (Pair*)call.tiles + (u64)(item / TILE_ITEMS) * SIDE_PAIRS;
    u32 share = 1u << (QUOTIENT_SHIFT - 1);
    for (u32 j = 0; j < CHANNELS; j++) share += (word_of(tile, item, j) >> 16) * call.channels[j].weight;
    u32 quotient = share >> QUOTIENT_SHIFT;
    Remainder remainder;
    remainder.open(row_of(call.moduli, item), call.moduli.length, call.limbs);
    long long carry = 0;
    const Quad* row = call.cofactors;
    for (u32 i = 0; i <= WORDS; i += 4, row += CHANNELS + 1) {
        // Sums of at most 2^9 halves of products, less one.
        long long low[4], high[4];
        for (u32 k = 0; k < 4; k++) {
            u64 part = (u64)quotient * row[CHANNELS].word[k];
            low[k] = -(long long)low_of(part);
            high[k] = -(long long)high_of(part);
        }
#pragma unroll 4
        for (u32 j = 0; j < CHANNELS; j++) {
            u32 xi = word_of(tile, item, j);
            Quad quad = row[j];
            for (u32 k = 0; k < 4; k++) {
                u64 product = (u64)xi * quad.word[k];
                low[k] += low_of(product);
                high[k] += high_of(product);
            }
        }
        for (u32 k = 0; k < 4; k++) {
            if (i + k > WORDS) break;
            carry += low[k] + (i + k < WORDS ? (long long)remainder.n[i + k] << 11 : 0);
            remainder.t[i + k] = (u32)carry;
            carry = (carry >> 32) + high[k];
        }
    }
    remainder.bring_below();
    u32* result = call.results + (u64)item * call.result_stride;
    for (u32 i = 0; i < call.result_length; i++) result[i] = i < WORDS ? remainder.t[i] : 0;
}
