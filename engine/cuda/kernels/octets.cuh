// Conversions between bytes, most significant first, and words, least significant first. A number of either
// kind has as many words as the other.
#pragma once

DEVICE u32 reversed(u32 word) { return word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24; }

// The argument of `words_of_octets`.
struct WordsOfOctets {
    const u32* octets;
    u32* numbers;
    u32 words; // words of a number
    u32 count;
};
static_assert(sizeof(WordsOfOctets) == 24 && AT(WordsOfOctets, octets, 0) && AT(WordsOfOctets, numbers, 8) &&
              AT(WordsOfOctets, words, 16) && AT(WordsOfOctets, count, 20), "WordsOfOctets, as in Rust");

// One thread per word.
KERNEL(words_of_octets, WordsOfOctets) {
    u32 index = blockIdx.x * BLOCK + threadIdx.x;
    if (index >= call.count * call.words) return;
    u32 place = index % call.words;
    call.numbers[index] = reversed(call.octets[index - place + call.words - 1 - place]);
}

// The argument of `release`.
struct Release {
    const u32* numbers;
    const u32* found;    // what is compared ...
    const u32* expected; // ... with which bytes; null if nothing is
    u32* octets;
    u32* wrong;          // whether they differ, by item
    u32 words;           // words of a number
    u32 count;
};
static_assert(sizeof(Release) == 48 && AT(Release, numbers, 0) && AT(Release, found, 8) &&
              AT(Release, expected, 16) && AT(Release, octets, 24) && AT(Release, wrong, 32) &&
              AT(Release, words, 40) && AT(Release, count, 44), "Release, as in Rust");

// Writes answers as bytes, one warp per answer. An answer that failed its check becomes zero, and its flag is
// set.
KERNEL(release, Release) {
    u32 item = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    bool exists = item < call.count;
    u64 start = (u64)smaller(item, call.count - 1) * call.words;
    u32 difference = 0;
    if (call.expected) {
        for (u32 i = lane; i < call.words; i += 32)
            difference |= call.found[start + i] ^ reversed(call.expected[start + call.words - 1 - i]);
    }
    u32 wrong = warp_bits(difference != 0) != 0;
    if (!exists) return;
    for (u32 i = lane; i < call.words; i += 32)
        call.octets[start + call.words - 1 - i] = reversed(call.numbers[start + i] & mask_of(1 - wrong));
    if (lane == 0) call.wrong[item] = wrong;
}
