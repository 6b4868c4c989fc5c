// Numbers as digits of SAMPLE_BITS bits ("samples"), held by groups of threads: what the families that
// multiply in floating point have in common. THREADS neighbouring threads of a warp hold a number,
// DIGITS digits each, the lowest in the first thread.
#pragma once

enum {
    SAMPLES = THREADS * DIGITS,
    ROWS = RADIX_BITS / SAMPLE_BITS, // digits of a factor that take part; those beyond are zero
    GROUPS = BLOCK / THREADS,
};
static_assert(THREADS >= 1 && THREADS <= 32 && (THREADS & (THREADS - 1)) == 0, "groups divide a warp");
static_assert(BLOCK % 32 == 0, "warps are whole");
static_assert(RADIX_BITS % SAMPLE_BITS == 0 && ROWS <= SAMPLES, "R is a power of 2^SAMPLE_BITS that the digits hold");
static_assert(RADIX_BITS % (1 << SQUARINGS) == 0, "squarings lead from the seed to R^2");
// Range, after Orup and Walter. A row holds less than R/4, and N < R/4 as well. A product x y / R + N of
// values below R/2 is below R/4 + R/4, so that all values stay below R/2 and are never corrected. If x is
// a row and y below 2N, or both are below 2N, it is below 3N/2; with y = 1 it is at most N.
static_assert(RADIX_BITS >= 32 * WORDS + 2, "R is at least four times what a row holds");

constexpr u64 SAMPLE_MASK = (1ull << SAMPLE_BITS) - 1;

// The threads that hold a number together, seen by one of them.
struct Group {
    u32 rank;
    u64* shared; // places for digits; those of the block's groups alternate

    DEVICE void open() {
        SHARED_POOL(u64, pool);
        rank = threadIdx.x % THREADS;
        shared = pool + threadIdx.x / THREADS;
    }

    // Digits of the number that the group shares, from `index` on, GROUPS apart: all threads of a group
    // read the same word, and groups read neighbouring ones. Digits at a constant distance are found from
    // here, so that one address serves many.
    DEVICE u64* shared_digits(u32 index) const { return shared + index * GROUPS; }
    DEVICE u64& shared_digit(u32 index) const { return *shared_digits(index); }

    // This thread's digit j of that number. What is written here is for the group between two calls
    // of `meet`.
    DEVICE u64& own_digit(u32 j) const { return shared_digits(rank * DIGITS)[j * GROUPS]; }
    DEVICE void meet() const {
        if (THREADS > 1) warp_barrier();
    }

    // `value` of the group's first thread.
    template <typename Value> DEVICE Value from_first(Value value) const {
        return THREADS > 1 ? from_thread(value, 0, THREADS) : value;
    }
    // `value` of the thread below; the first thread sees the last one's.
    template <typename Value> DEVICE Value from_below(Value value) const {
        return THREADS > 1 ? from_thread(value, rank + THREADS - 1, THREADS) : value;
    }
    // `value` of the thread above; the last thread sees the first one's.
    template <typename Value> DEVICE Value from_above(Value value) const {
        return THREADS > 1 ? from_thread(value, rank + 1, THREADS) : value;
    }

    // Carry look-ahead: a thread says whether its digits carry, and whether they would if they were
    // carried into, which exclude each other. Bit t of the answer is the carry into thread t, bit
    // THREADS the one that leaves the group. Added to the second set of bits, a carry runs through it
    // as it runs through the threads.
    DEVICE u64 carries(bool generates, bool passes) const {
        u32 first = threadIdx.x % 32 - rank;
        u64 members = (1ull << THREADS) - 1;
        u64 from = (u64)(warp_bits(generates) >> first) & members;
        u64 through = (u64)(warp_bits(passes) >> first) & members;
        return (through + (from << 1)) ^ through;
    }

    // Digits of at most 2^SAMPLE_BITS, of a number below R, brought below that.
    DEVICE void normalize(u64* digits) const {
        u64 carry = 0, full = SAMPLE_MASK;
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            carry += digits[j];
            digits[j] = carry & SAMPLE_MASK;
            full &= digits[j];
            carry >>= SAMPLE_BITS;
        }
        carry = carries(carry != 0, full == SAMPLE_MASK) >> rank & 1;
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            carry += digits[j];
            digits[j] = carry & SAMPLE_MASK;
            carry >>= SAMPLE_BITS;
        }
    }

    // digits -= modulus if that is not negative, by masks; both have digits below 2^SAMPLE_BITS.
    DEVICE void subtract_if_greater(u64* digits, const u64* modulus) const {
        u64 difference[DIGITS], borrow = 0, any = 0;
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            difference[j] = digits[j] - modulus[j] - borrow;
            borrow = difference[j] >> 63;
            difference[j] &= SAMPLE_MASK;
            any |= difference[j];
        }
        u64 all = carries(borrow != 0, any == 0);
        borrow = all >> rank & 1;
        u64 unchanged = 0 - (all >> THREADS & 1);
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            difference[j] -= borrow;
            borrow = difference[j] >> 63;
            difference[j] &= SAMPLE_MASK;
            digits[j] = difference[j] ^ (unchanged & (difference[j] ^ digits[j]));
        }
    }

    // This thread's digits of the integer in a row: words are moved to where the first digit begins, so
    // that digits are cut out at constant places.
    DEVICE void read(const u32* row, u32 length, u64* digits) const {
        enum { TAKEN = (DIGITS * SAMPLE_BITS + 31) / 32 };
        u32 from = rank * DIGITS * SAMPLE_BITS, at = from / 32, shift = from % 32;
        u32 words[TAKEN + 2], word = at < length ? row[at] : 0;
#pragma unroll
        for (int i = 0; i < TAKEN; i++) {
            u32 next = at + i + 1 < length ? row[at + i + 1] : 0;
            words[i] = (u32)(((u64)next << 32 | word) >> shift);
            word = next;
        }
        words[TAKEN] = words[TAKEN + 1] = 0;
#pragma unroll
        for (int j = 0; j < DIGITS; j++) {
            int first = j * SAMPLE_BITS / 32, offset = j * SAMPLE_BITS % 32;
            u64 digit = ((u64)words[first + 1] << 32 | words[first]) >> offset;
            if (offset + SAMPLE_BITS > 64) digit |= (u64)words[first + 2] << (64 - offset);
            digits[j] = digit & SAMPLE_MASK;
        }
    }

    // Writes a number of digits below 2^SAMPLE_BITS to a row of words.
    DEVICE void write(const u64* digits, u32* row, u32 length) const {
        meet();
#pragma unroll
        for (int j = 0; j < DIGITS; j++) own_digit(j) = digits[j];
        meet();
        for (u32 at = rank; at < length; at += THREADS) {
            u32 first = at * 32 / SAMPLE_BITS, offset = at * 32 % SAMPLE_BITS;
            u64 bits = first < SAMPLES ? shared_digit(first) >> offset : 0;
#pragma unroll
            for (u32 k = 1; k <= (30 + SAMPLE_BITS) / SAMPLE_BITS; k++) {
                if (first + k < SAMPLES) bits |= shared_digit(first + k) << (k * SAMPLE_BITS - offset);
            }
            row[at] = (u32)bits;
        }
    }
};
