// Arithmetic modulo p = 2^64 - 2^32 + 1, in two forms.
//
// A residue in memory is a word of 64 bits, any of those that are congruent to it. In registers, between the
// levels of a short transform, it is a signed number of 96 bits (`Lazy`), which is added and subtracted
// without a thought of p, and brought back to 64 bits once at the end.
//
// 2^64 = 2^32 - 1 and 2^96 = -1 modulo p; roots of unity up to order 192 are powers of two.
#pragma once

constexpr u64 PRIME = 0xffffffff00000001;
constexpr u32 EPSILON = 0xffffffff; // 2^64 mod p

struct Lazy {
    u32 w[3]; // two's complement
};

DEVICE Lazy lazy(u64 x) { return Lazy{{low_of(x), high_of(x), 0}}; }

DEVICE Lazy operator+(const Lazy& a, const Lazy& b) {
    Lazy sum;
    sum.w[0] = add_cc(a.w[0], b.w[0]);
    sum.w[1] = addc_cc(a.w[1], b.w[1]);
    sum.w[2] = addc(a.w[2], b.w[2]);
    return sum;
}

DEVICE Lazy operator-(const Lazy& a, const Lazy& b) {
    Lazy difference;
    difference.w[0] = sub_cc(a.w[0], b.w[0]);
    difference.w[1] = subc_cc(a.w[1], b.w[1]);
    difference.w[2] = subc(a.w[2], b.w[2]);
    return difference;
}

// x 2^shift for a shift below 96, the same in all threads and known to the compiler. |x| < 2^67 gives less
// than 2^66: with b = x 2^(shift mod 32), whose words are b0, b1 and the signed b2,
//
//     b          = (b1 + b2) 2^32 + (b0 - b2)
//     b 2^32     = (b0 + b1) 2^32 - (b1 + b2)
//     b 2^64     = (b0 - b2) 2^32 - (b0 + b1)
DEVICE Lazy shifted(const Lazy& x, u32 shift) {
    u32 r = shift % 32, b0 = x.w[0], b1 = x.w[1], b2 = x.w[2];
    if (shift == 0) return x;
    if (r != 0) {
        b2 = (u32)(pair_of(x.w[1], x.w[2]) >> (32 - r));
        b1 = (u32)(pair_of(x.w[0], x.w[1]) >> (32 - r));
        b0 = x.w[0] << r;
    }
    u32 sign = (u32)((int)b2 >> 31);
    Lazy y;
    if (shift < 32) {
        u32 middle = add_cc(b1, b2), top = addc(sign, 0);
        y.w[0] = sub_cc(b0, b2);
        y.w[1] = subc_cc(middle, sign);
        y.w[2] = subc(top, sign);
    } else if (shift < 64) {
        u32 middle = add_cc(b0, b1), top = addc(0, 0);
        u32 low = add_cc(b1, b2), high = addc(sign, 0);
        y.w[0] = sub_cc(0, low);
        y.w[1] = subc_cc(middle, high);
        y.w[2] = subc(top, (u32)((int)high >> 31));
    } else {
        u64 product = (u64)b0 * EPSILON;
        y.w[0] = sub_cc(low_of(product), b1);
        y.w[1] = subc_cc(high_of(product), b2);
        y.w[2] = subc(0, sign);
    }
    return y;
}

// A multiple of p, 2^8 p, that makes anything above -2^71 positive.
DEVICE Lazy raised(const Lazy& x) { return x + Lazy{{0x100, 0xffffff00, 0xff}}; }

// Reduces 0 <= x < 2^96 to 64 bits: x = top 2^64 + rest is top (2^32 - 1) + rest. If that overflows, what is
// left is at most 2^64 - 2^33, and 2^64 is added once more as 2^32 - 1.
DEVICE u64 folded(const Lazy& x) {
    u64 sum = mad_wide_cc(x.w[2], EPSILON, pair_of(x.w[0], x.w[1]));
    return (u64)addc(0, 0) * EPSILON + sum;
}

// a b, of any two words.
DEVICE u64 product(u64 a, u64 b) {
    u64 low = (u64)low_of(a) * low_of(b), high = (u64)high_of(a) * high_of(b);
    u64 middle = mad_wide_cc(high_of(a), low_of(b), (u64)low_of(a) * high_of(b));
    u32 r3 = addc(high_of(high), 0);
    u32 r1 = add_cc(high_of(low), low_of(middle));
    u32 r2 = addc_cc(low_of(high), high_of(middle));
    r3 = addc(r3, 0);
    // (r1 r0) - r3, which is above 2^64 - 2^32 if it wraps around and has 2^32 - 1 taken from it.
    u32 t0 = sub_cc(low_of(low), r3);
    u32 t1 = subc_cc(r1, 0);
    u32 wrapped = subc(0, 0);
    t0 = sub_cc(t0, wrapped);
    t1 = subc(t1, 0);
    // Adds r2 (2^32 - 1), which is at most 2^64 - 2^33 + 1, so that adding 2^32 - 1 for a carry does not
    // carry again.
    u64 sum = mad_wide_cc(r2, EPSILON, pair_of(t0, t1));
    return (u64)addc(0, 0) * EPSILON + sum;
}

// a b for a short a, not folded.
DEVICE Lazy short_product(u32 a, u64 b) {
    u64 low = (u64)a * low_of(b), high = (u64)a * high_of(b) + high_of(low);
    return Lazy{{low_of(low), low_of(high), high_of(high)}};
}

// The residue itself, below p.
DEVICE u64 canonical(u64 x) {
    u32 low = sub_cc(low_of(x), low_of(PRIME)), high = subc_cc(high_of(x), high_of(PRIME));
    u32 below = subc(0, 0);
    return pair_of(blend(below, low, low_of(x)), blend(below, high, high_of(x)));
}

// a + b, of any two words.
DEVICE u64 sum(u64 a, u64 b) { return folded(lazy(a) + lazy(b)); }
