//! The prime field of the thesis on FHE accelerators (section 3.3.1): `p = 2^64 - 2^32 + 1`.
//!
//! `2^96 = -1` and `2^64 = 2^32 - 1` modulo p, so that a product of two words is reduced by a few
//! additions; `p - 1` is a multiple of `2^32 * 15`, so that there are roots of unity of every order
//! `2^k {1, 3, 5, 15}`; and 2 has order 192: roots of order up to 64 are powers of 8.
//!
//! Elements are canonical, `0 <= x < p`, and nothing looks at them.

/// `2^64 - 2^32 + 1`.
pub const PRIME: u64 = 0xffff_ffff_0000_0001;

/// `2^64 mod p`.
const EPSILON: u64 = 0xffff_ffff;

/// A generator of the units.
const GENERATOR: u64 = 7;

/// The root of order `3 * 2^32` whose power `2^26` is 2.
const ROOT: u64 = 0xe965_3c8d_efa8_60a9;

/// `a - b` and a mask of all ones if that is negative. Written as the upper word of a wide
/// difference: of a comparison the compiler makes a branch.
#[inline(always)]
const fn sub_borrowing(a: u64, b: u64) -> (u64, u64) {
    let difference = (a as u128).wrapping_sub(b as u128);
    (difference as u64, (difference >> 64) as u64)
}

/// `x mod p`.
#[must_use]
#[inline(always)]
pub const fn reduce(x: u64) -> u64 {
    sub(x, PRIME)
}

/// `a + b`.
#[must_use]
#[inline(always)]
pub const fn add(a: u64, b: u64) -> u64 {
    sub(a, PRIME - b)
}

/// `a - b`, for `b <= p`.
#[must_use]
#[inline(always)]
pub const fn sub(a: u64, b: u64) -> u64 {
    let (difference, borrow) = sub_borrowing(a, b);
    // Plus p, which is minus EPSILON modulo 2^64.
    difference.wrapping_sub(borrow & EPSILON)
}

/// `x mod p` for any x.
#[must_use]
#[inline(always)]
pub const fn reduce_wide(x: u128) -> u64 {
    // x = a 2^96 + b 2^64 + low = low - a + b (2^32 - 1).
    let (low, high) = (x as u64, (x >> 64) as u64);
    let (difference, borrow) = sub_borrowing(low, high >> 32);
    // A borrow leaves more than 2^64 - 2^32, from which EPSILON can be taken.
    let difference = difference.wrapping_sub(borrow & EPSILON);
    // Plus b (2^32 - 1) is minus (p - that), which is not negative, and then p if there is a borrow.
    let rest = PRIME - (high & EPSILON) * EPSILON;
    let (sum, borrow) = sub_borrowing(difference, rest);
    reduce(sum.wrapping_sub(borrow & EPSILON))
}

/// `a b`.
#[must_use]
#[inline(always)]
pub const fn mul(a: u64, b: u64) -> u64 {
    reduce_wide(a as u128 * b as u128)
}

/// `base^exponent`, by a public exponent.
#[must_use]
pub const fn pow(base: u64, mut exponent: u64) -> u64 {
    let (mut power, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul(power, square);
        }
        square = mul(square, square);
        exponent >>= 1;
    }
    power
}

/// `x^-1`, and zero for zero.
#[must_use]
pub const fn inverse(x: u64) -> u64 {
    pow(x, PRIME - 2)
}

/// A root of unity of order n, for n that divides `3 * 2^32`, or five times such a number. Without the
/// five, roots are powers of each other, `root(n) = root(n k)^k`, and that of order 192 is 2.
#[must_use]
pub const fn root_of_unity(order: u64) -> u64 {
    assert!((PRIME - 1).is_multiple_of(order), "no root of this order");
    match order.is_multiple_of(5) {
        true => mul(root_of_unity(order / 5), pow(GENERATOR, (PRIME - 1) / 5)),
        false => pow(ROOT, (3 << 32) / order),
    }
}

/// Most bits of a digit such that a convolution of `count` products of digits stays below p:
/// `count (2^bits - 1)^2 < p`.
#[must_use]
pub const fn digit_bits(count: usize) -> u32 {
    let mut bits = 31;
    while bits > 1 && count as u128 * ((1u128 << bits) - 1) * ((1 << bits) - 1) >= PRIME as u128 {
        bits -= 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_agrees_with_wide_integers() {
        let p = u128::from(PRIME);
        let hard = [0, 1, 2, EPSILON - 1, EPSILON, EPSILON + 1, 1 << 63, PRIME - 2, PRIME - 1];
        let random = (1..40u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % PRIME);
        let values: Vec<u64> = hard.into_iter().chain(random).collect();
        for &a in &values {
            for &b in &values {
                let (wide_a, wide_b) = (u128::from(a), u128::from(b));
                assert_eq!(u128::from(add(a, b)), (wide_a + wide_b) % p);
                assert_eq!(u128::from(sub(a, b)), (wide_a + p - wide_b) % p);
                assert_eq!(u128::from(mul(a, b)), wide_a * wide_b % p);
                let wide = wide_a << 64 | wide_b;
                assert_eq!(u128::from(reduce_wide(wide)), wide % p);
            }
            assert_eq!(mul(a, inverse(a)), u64::from(a != 0));
        }
        for x in [PRIME, PRIME + 1, u64::MAX] {
            assert_eq!(reduce(x), x % PRIME);
        }
        for x in [u128::MAX, u128::MAX - u128::from(u64::MAX), u128::from(u64::MAX)] {
            assert_eq!(u128::from(reduce_wide(x)), x % p);
        }
    }

    #[test]
    fn roots_have_their_order_and_the_known_values() {
        for order in [2, 3, 4, 5, 15, 64, 192, 1 << 20, 3 << 20, 5 << 20, 15 << 20, 1 << 32, 15 << 32] {
            let root = root_of_unity(order);
            assert_eq!(pow(root, order), 1);
            for factor in [2, 3, 5] {
                assert!(order % factor != 0 || pow(root, order / factor) != 1, "{order}");
            }
        }
        assert_eq!([192, 64, 16].map(root_of_unity), [2, 8, 4096]);
        assert_eq!([65536, 1024].map(root_of_unity), [0xdc92_18a8_6d10_f3a3, 0x3da0_5fee_70c4_f2ba]);
    }

    #[test]
    fn digits_are_as_long_as_the_bound_allows() {
        // Digits of 24 bits overflow above 65536 of them.
        for (count, bits) in
            [(1, 31), (16_384 / 2, 25), (65_536, 24), (65_537, 23), (1 << 18, 23), (1 << 20, 22)]
        {
            assert_eq!(digit_bits(count), bits, "{count}");
        }
    }
}
