// Residue number systems: arithmetic in the channels, and how a warp holds numbers.
//
// Two bases of CHANNELS primes each, A and B. Every prime is h 2^16 - 1 and at most 0.33 2^32; residues
// are lazy, any number below 2^32 that is right modulo its prime. docs/algorithms/rns.md has the bounds.
#pragma once

// The constants of a channel of base A or B.
struct alignas(16) Channel {
    u32 h;       // the prime is h 2^16 - 1
    u32 weight;  // A: the prime's share of a quotient. B: -A 2^16 modulo the prime, for even GROUPS.
    u32 factor;  // A: the factor of squares, if not MERGED
    u32 unused;

    DEVICE u32 prime() const { return (h << 16) - 1; }
};

// Words of the two numbers that a thread has a part of.
struct alignas(8) Pair {
    u32 row[2];
};

// P 2^-32 modulo the prime h 2^16 - 1, at most P / 2^32 + prime + 1: two steps of 16 bits, each of which
// adds the multiple of the prime that clears the lowest, (P mod 2^16) h 2^16 - P mod 2^16. The usual step of
// 32 bits has fewer instructions, but its wide product waits for the tensor cores, which these do not.
DEVICE u32 reduced(u64 P, const Channel& channel) {
    u32 low = low_of(P), rest = (low >> 16) + (low & 0xffff) * channel.h;
    return high_of(P) + (rest >> 16) + (rest & 0xffff) * channel.h;
}
DEVICE u32 reduced_product(u32 a, u32 b, const Channel& channel) { return reduced((u64)a * b, channel); }

// Reduces a residue that is below twice its prime to one below the prime.
DEVICE u32 reduced_once(u32 residue, const Channel& channel) { return smaller(residue, residue - channel.prime()); }

// Column sums c0 + 2^8 c1 + 2^16 high = T to T 2^-16 modulo the prime h 2^16 - 1: with m = T mod 2^16,
// T + m prime = T - m + m h 2^16. One short product, which is why the primes are what they are. c0 + 2^8 c1
// fits a word if NARROW_FOLD; everything else does by the bound on the matrix's columns.
DEVICE u32 fold(u32 c0, u32 c1, u32 high, const Channel& channel) {
    u32 low = c0 + (c1 << 8);
    u32 carry = NARROW_FOLD ? low >> 16 : ((c0 >> 8) + c1) >> 8;
    return carry + high + (low & 0xffff) * channel.h;
}

// x^-1 modulo the prime, by Fermat's theorem, for x below the prime and the result in Montgomery form (times
// 2^32); 0 if there is none. The prime is public. Without the reductions a run of squares would pass 2^32.
DEVICE u32 inverse(u32 x, const Channel& channel) {
    u32 power = x, exponent = channel.prime() - 2;
    int top = 31;
    while (!(exponent >> top)) top--;
    for (int bit = top - 1; bit >= 0; bit--) {
        power = reduced_once(reduced_product(power, power, channel), channel);
        if (exponent >> bit & 1) power = reduced_once(reduced_product(power, x, channel), channel);
    }
    return power;
}

// A warp holds a tile of 16 numbers, as the tensor cores want them: lane 4 g + t has the words of
// channels 4 m + t, for every group m, of the numbers g and g + 8. Pairs of a tile lie group by group,
// the pairs of the 32 lanes next to each other.
enum { GROUPS = CHANNELS / 4, TILE_ITEMS = 16, SIDE_PAIRS = GROUPS * 32 };

// The word of a number's channel in a side of its tile.
DEVICE u32& word_of(Pair* tile, u32 item, u32 channel) {
    u32 lane = item % 8 * 4 + channel % 4;
    return tile[channel / 4 * 32 + lane].row[item % TILE_ITEMS / 8];
}

// A product step takes 32 bytes, two groups. An odd group leaves room for the quotient in the last step.
enum { STEPS = (GROUPS + 1) / 2, QUOTIENT_IN_MATRIX = GROUPS & 1 };
