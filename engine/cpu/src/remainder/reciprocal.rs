//! Reciprocals of a normalised divisor by Newton's iteration, without tables and without division.
//!
//! For `d` in [1/2, 1), let `e = 1 - d`, and let v be the fraction of a lower estimate `1 + v <= 1/d`. Its
//! defect `f = 1 - d (1 + v) = e + e v - v` is non-negative, and
//!
//! * `(1 + v)(1 + f) = (1 - f^2) / d`,
//! * `(1 + v)(1 + f + f^2) = (1 - f^3) / d`
//!
//! are lower estimates again. Rounding down keeps a lower estimate, and a lower estimate for a rounded-down
//! `e` is one for `e`. So no step needs a correction, and no result reaches 2.

/// The coefficients of `3264 e + 4864 e^2 - 4096 e^3 + 16384 e^4` over 3364, in units of 2^-64. The last
/// three are divided by eight.
///
/// With T the fifth Chebyshev polynomial, the defect of this estimate is `(1 - T(1 - 4e)) / 3364`, which is
/// between 0 and 1/1682 for e up to 1/2.
const START: [u64; 4] = [over_3364(3264), over_3364(4864 / 8), over_3364(4096 / 8) + 1, over_3364(16384 / 8)];

const fn over_3364(numerator: u128) -> u64 {
    ((numerator << 64) / 3364) as u64
}

/// The high limb of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// `a b / 2^64`, for a result below 2^128.
#[inline(always)]
fn scaled(a: u128, b: u64) -> u128 {
    let low = u128::from(high(a as u64, b));
    (a >> 64) * u128::from(b) + low
}

/// The reciprocal for `e <= 1/2` in units of 2^-64. Its defect is below 2^-61.
#[inline]
fn word(e: u64) -> u64 {
    let square = high(e, e);
    // The subtrahend is below 2^64 / 13 + 2, and the first term is above 2^64 / 6.
    let factor = START[1] + high(START[3], square) - high(START[2], e) - 1;
    let mut v = high(START[0], e) + (high(square, factor) << 3);
    // The defects are at most 1/1682, then 2^-32, then rounding errors only.
    for _ in 0..2 {
        let f = e + high(e, v) - v;
        let g = f + high(f, f);
        v += g + high(v, g);
    }
    v
}

/// The reciprocal for `e <= 1/2` in units of 2^-128. Its defect is below 2^-120.
#[inline]
pub(super) fn double(e: u128) -> u128 {
    let v = word((e >> 64) as u64);
    let long = u128::from(v) << 64;
    let f = e + scaled(e, v) - long;
    long + f + scaled(f, v)
}

/// Limbs of a full reciprocal.
pub(super) const LIMBS: usize = 5;

/// The reciprocal for a fraction `e <= 1/2` of five limbs, lowest first. Its defect is below `2^16` units of
/// the lowest limb.
#[inline]
pub(super) fn full(e: &[u64; LIMBS]) -> [u64; LIMBS] {
    let double = double(u128::from(e[4]) << 64 | u128::from(e[3]));
    let v = [double as u64, (double >> 64) as u64];
    // f = e + e v - v is below 2^-120, so its fifth limb is zero and its fourth is below 2^8.
    let [p0, p1, p2, p3, _] = shifted_product::<5, 2, 7>(e, &v);
    let f = add(&[e[0], e[1], e[2], e[3]], &[p0, p1, p2, p3]);
    let f = [f[0], f[1], f[2], f[3].wrapping_sub(v[0])];
    // f^2, without the bits below the lowest limb and without the two lower limbs of f.
    let (f2, f3) = (u128::from(f[2]), u128::from(f[3]));
    let square = ((f3 * f3) << 64) + ((f3 * f2) << 1) + ((f2 * f2) >> 64);
    let g = add(&f, &[square as u64, (square >> 64) as u64, 0, 0]);
    let [p0, p1, p2, p3] = shifted_product::<4, 2, 6>(&g, &v);
    let sum = add(&[g[0], g[1], g[2], g[3], 0], &[p0, p1, p2, p3, 0]);
    add(&sum, &[0, 0, 0, v[0], v[1]])
}

/// Limbs of a long reciprocal.
pub(super) const LONG: usize = 9;

/// The reciprocal for a fraction `e <= 1/2` of nine limbs, lowest first. Its defect is below `2^4` units of
/// the lowest limb.
#[inline]
pub(super) fn long(e: &[u64; LONG]) -> [u64; LONG] {
    let v = full(&[e[4], e[5], e[6], e[7], e[8]]);
    // f = e + e v - v is below 2^-303, so it has five limbs.
    let product = shifted_product::<LONG, LIMBS, { LONG + LIMBS }>(e, &v);
    let f = add(e, &product);
    let f = [f[0], f[1], f[2], f[3], f[4].wrapping_sub(v[0])];
    let product = shifted_product::<LIMBS, LIMBS, { 2 * LIMBS }>(&f, &v);
    let widened = |limbs: &[u64; LIMBS]| [limbs[0], limbs[1], limbs[2], limbs[3], limbs[4], 0, 0, 0, 0];
    let sum = add(&widened(&f), &widened(&product));
    add(&sum, &[0, 0, 0, 0, v[0], v[1], v[2], v[3], v[4]])
}

/// `a b / 2^(64 M)`, where S = N + M.
#[inline(always)]
fn shifted_product<const N: usize, const M: usize, const S: usize>(a: &[u64; N], b: &[u64; M]) -> [u64; N] {
    let mut sum = [0; S];
    for (place, &b) in b.iter().enumerate() {
        let mut carry = 0;
        for (limb, &a) in sum[place..].iter_mut().zip(a) {
            // The sum is at most (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1.
            let step = u128::from(a) * u128::from(b) + u128::from(*limb) + u128::from(carry);
            *limb = step as u64;
            carry = (step >> 64) as u64;
        }
        sum[place + N] = carry;
    }
    std::array::from_fn(|place| sum[place + M])
}

/// `a + b`, modulo their length.
#[inline(always)]
fn add<const N: usize>(a: &[u64; N], b: &[u64; N]) -> [u64; N] {
    let mut carry = false;
    std::array::from_fn(|place| {
        let (sum, first) = a[place].overflowing_add(b[place]);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        carry = first | second;
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    /// The defect of a reciprocal of n limbs, in units of 2^-(128 n).
    fn defect(e: &[u64], v: &[u64]) -> BigUint {
        let one = BigUint::from(1u8) << (64 * e.len());
        let d = &one - big(e);
        let product = d * (&one + big(v));
        let whole = &one * &one;
        assert!(product <= whole, "not a lower estimate: {e:x?} {v:x?}");
        whole - product
    }

    fn samples() -> Vec<[u64; LONG]> {
        let half = 1 << 63;
        let mut samples = vec![[0; LONG], [0; LONG], [0; LONG], [u64::MAX; LONG]];
        samples[1][0] = 1;
        samples[2][LONG - 1] = half;
        samples[3][LONG - 1] = half - 1;
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        for step in 0..20_000u64 {
            let mut limbs = [0; LONG];
            for limb in &mut limbs {
                let word = random.word();
                *limb = if word & 7 == 0 {
                    0
                } else if word & 7 == 1 {
                    u64::MAX
                } else {
                    word
                };
            }
            limbs[LONG - 1] =
                if step < 10_000 { limbs[LONG - 1] / 2 } else { (step - 10_000) * (half / 10_000) };
            samples.push(limbs);
        }
        samples
    }

    #[test]
    fn reciprocals_are_lower_estimates_and_close() {
        for long_e in samples() {
            assert!(defect(&long_e, &long(&long_e)).bits() <= 580, "{long_e:x?}");
            let e: [u64; LIMBS] = long_e[LONG - LIMBS..].try_into().unwrap();
            assert!(defect(&e[4..], &[word(e[4])]).bits() <= 67, "{e:x?}");
            let v = double(u128::from(e[4]) << 64 | u128::from(e[3]));
            assert!(defect(&e[3..], &[v as u64, (v >> 64) as u64]).bits() <= 136, "{e:x?}");
            assert!(defect(&e, &full(&e)).bits() <= 336, "{e:x?}");
        }
    }
}
