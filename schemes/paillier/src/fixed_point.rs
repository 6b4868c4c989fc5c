//! Floating-point numbers as integers times powers of 16, and back.

use crate::rows::CHUNK;
use crate::{Error, Integers};
use modmill::threads::Share;
use modmill::{Batch, number};
use rayon::prelude::*;

/// The base of fixed-point numbers is 16, as in python-paillier. Its logarithm to base 2.
pub(crate) const BASE_BITS: usize = 4;

/// The bits of a floating-point number's mantissa.
const MANTISSA_BITS: i32 = 53;

/// The exponents of a column of fixed-point numbers: an item is its integer times 16 to the power of its
/// exponent. They are not encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exponents {
    /// One exponent for all items, which shows nothing about any of them.
    Shared(i32),
    /// An exponent for each item, as python-paillier chooses them. It shows how large the item is, about.
    Each(Vec<i32>),
}

impl Exponents {
    /// The exponent of item `index`.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn get(&self, index: usize) -> i32 {
        match self {
            Self::Shared(exponent) => *exponent,
            Self::Each(exponents) => exponents[index],
        }
    }

    /// The least exponent, which all items can be brought to. An empty column has 0.
    #[must_use]
    pub fn least(&self) -> i32 {
        match self {
            Self::Shared(exponent) => *exponent,
            Self::Each(exponents) => exponents.iter().copied().min().unwrap_or(0),
        }
    }

    /// Refuses another number of exponents than of items.
    pub(crate) fn check(&self, items: usize) -> Result<(), Error> {
        match self {
            Self::Each(exponents) if exponents.len() != items => {
                Err(Error::LengthMismatch { what: "the exponents", expected: items, found: exponents.len() })
            }
            _ => Ok(()),
        }
    }

    /// The sums of the exponents of two columns of `count` items.
    pub(crate) fn plus(&self, other: &Self, count: usize) -> Result<Self, Error> {
        let sum =
            |a: i32, b: i32| a.checked_add(b).ok_or_else(|| Error::Exponent(i64::from(a) + i64::from(b)));
        match (self, other) {
            (Self::Shared(a), Self::Shared(b)) => Ok(Self::Shared(sum(*a, *b)?)),
            _ => {
                let sums: Result<_, _> =
                    (0..count).map(|index| sum(self.get(index), other.get(index))).collect();
                Ok(Self::Each(sums?))
            }
        }
    }
}

/// The exponent that keeps all bits of a number, as python-paillier chooses it: the mantissa has 53 bits, and
/// the power of two of its lowest is rounded down to a power of 16. It is -14 for zero.
pub(crate) fn exact_exponent(value: f64) -> i32 {
    let length = match parts(value) {
        (0, _) => 0,
        (mantissa, power) => power + (64 - mantissa.leading_zeros() as i32),
    };
    (length - MANTISSA_BITS).div_euclid(BASE_BITS as i32)
}

/// The magnitude of a finite number as `mantissa 2^power`, with a mantissa below 2^53.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    // Numbers of the least exponent have no hidden bit.
    match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, field - 1075),
    }
}

/// `value / 16^exponent`, rounded to the nearest integer, and to the even one of two. An integer that has
/// more than `limit` bits, or a value that is not finite, is refused. `exponent` gives the exponent of an
/// item. The declared width of the integers is the length of the longest, rounded up to a multiple of 64
/// bits.
///
/// The time depends on that width and on the first item that is refused. It does not depend on the values.
/// Long columns are converted by the threads of rayon's current pool.
pub(crate) fn integers(
    values: &[f64],
    exponent: impl Fn(usize) -> i32 + Sync,
    limit: usize,
) -> Result<Integers, Error> {
    // The integer of an item is `mantissa 2^left`.
    let integer = |index: usize| {
        let (mantissa, power) = parts(values[index]);
        let shift = i64::from(power) - BASE_BITS as i64 * i64::from(exponent(index));
        // A shift to the right comes first; it leaves a mantissa of at most 53 bits.
        let mantissa = rounded(mantissa, (-shift).clamp(0, 63) as u32);
        (mantissa, shift.clamp(0, i64::from(u32::MAX)) as usize)
    };
    let length = |index: usize| {
        if !values[index].is_finite() {
            return Err(Error::NotFinite { index });
        }
        match integer(index) {
            (0, _) => Ok(0),
            (mantissa, left) => match left + (64 - mantissa.leading_zeros()) as usize {
                length if length > limit => Err(Error::TooLarge { index, limit }),
                length => Ok(length),
            },
        }
    };
    // The first of two errors, or the greater of two lengths.
    let greater = |a: Result<usize, Error>, b: Result<usize, Error>| Ok(a?.max(b?));
    let lengths = (0..values.len()).into_par_iter().with_min_len(CHUNK).map(length);
    let longest = lengths.sum_by(|| Ok(0), greater, greater)?;

    let mut magnitudes = Batch::try_zeros(longest.max(1).next_multiple_of(64).min(limit), values.len())?;
    let stride = magnitudes.stride();
    let rows = magnitudes.as_limbs_mut().par_chunks_exact_mut(stride).enumerate().with_min_len(CHUNK);
    rows.each(|(index, row)| {
        let (mantissa, left) = integer(index);
        place(mantissa, left, row);
    });
    Integers::new(magnitudes, values.iter().map(|value| value.is_sign_negative()).collect())
}

/// `mantissa / 2^shift` for a mantissa below 2^54, rounded to nearest and even, for a shift of 0 to 63.
fn rounded(mantissa: u64, shift: u32) -> u64 {
    let quotient = mantissa >> shift;
    let rest = mantissa & !(u64::MAX << shift);
    // Twice the rest is above one half of the divisor, or equal to it and the quotient is odd. It is below
    // 2^64: the mantissa is below 2^54.
    let (twice, divisor) = (2 * rest, 1u64 << shift);
    quotient + u64::from((twice > divisor) | ((twice == divisor) & (quotient & 1 == 1)))
}

/// Writes `mantissa 2^shift` to a row of zeros, without an address that depends on the shift.
fn place(mantissa: u64, shift: usize, row: &mut [u64]) {
    let (word, bit) = ((shift / 64) as u64, shift % 64);
    // Two shifts: for bit = 0 a single one would be by 64 bits, which overflows.
    let (low, high) = (mantissa << bit, mantissa >> 1 >> (63 - bit));
    for (index, limb) in row.iter_mut().enumerate() {
        let index = index as u64;
        *limb =
            low & number::mask::equal(index, word) | high & number::mask::equal(index, word.wrapping_add(1));
    }
}

/// The floating-point number nearest to `magnitude 16^exponent`, or `None` if it is too large for one. The
/// time depends on the number.
///
/// ```
/// use modmill_paillier::nearest_f64;
///
/// assert_eq!(nearest_f64(&[40], -1), Some(2.5));
/// assert_eq!(nearest_f64(&[1], 256), None);
/// ```
pub fn nearest_f64(magnitude: &[u64], exponent: i32) -> Option<f64> {
    let length = number::bit_length(magnitude);
    // The highest 64 bits, with the lowest of them set if a lower one is: 64 bits are enough to round right.
    let dropped = length.saturating_sub(64);
    let mut top = [0; 1];
    number::shift_right(magnitude, dropped, &mut top);
    let mut low = vec![0; magnitude.len()];
    number::shift_left(&top, dropped, &mut low);
    let is_exact = number::equal(&low, magnitude);
    let power = dropped as i64 + BASE_BITS as i64 * i64::from(exponent);
    let value = scaled(top[0] | u64::from(!is_exact), power);
    value.is_finite().then_some(value)
}

/// `top 2^power`, rounded once.
fn scaled(top: u64, power: i64) -> f64 {
    let length = i64::from(64 - top.leading_zeros());
    if top == 0 || length + power < -1100 {
        return 0.0;
    }
    if length + power > 1100 {
        return f64::INFINITY;
    }
    // Below 2^-1022 a number is a multiple of 2^-1074. It is rounded to one here, and not a second time by a
    // product.
    let unused = (-1074 - power).clamp(0, 127) as u32;
    if unused > 0 && length + power <= -1022 {
        let kept = u128::from(top) >> unused;
        let rest = u128::from(top) & !(u128::MAX << unused);
        let (twice, divisor) = (2 * rest, 1u128 << unused);
        let is_up = twice > divisor || (twice == divisor && kept & 1 == 1);
        // The bits of such a number are the multiple itself.
        return f64::from_bits(kept as u64 + u64::from(is_up));
    }
    // The product by a power of two is exact: it is done in steps that each are in range.
    let (mut value, mut power) = (top as f64, power);
    while power != 0 {
        let step = power.clamp(-1000, 1000);
        value *= 2f64.powi(step as i32);
        power -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARD: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        -0.1,
        1.5,
        3.0,
        15.999_999_999_999_998,
        16.0,
        1e-300,
        1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        2.225_073_858_507_201e-308,
        9_007_199_254_740_993.0,
        0.333_333_333_333_333_3,
        -123.456,
        4.5e15,
    ];

    /// With its own exponent no number loses a bit.
    #[test]
    fn numbers_come_back() {
        for value in HARD {
            let exponent = exact_exponent(value);
            let integers = integers(&[value], |_| exponent, 64).unwrap();
            let back = nearest_f64(integers.magnitudes().get(0), exponent).unwrap();
            assert_eq!(back, value.abs(), "{value}");
        }
        // The exponents of python-paillier.
        let expected = [(0.0, -14), (1.0, -13), (0.1, -14), (16.0, -12), (1e300, 236), (5e-324, -282)];
        for (value, exponent) in expected {
            assert_eq!(exact_exponent(value), exponent, "{value}");
        }
    }

    #[test]
    fn wide_shifts_and_rounding() {
        // 2^100 / 16^-10 = 2^140.
        let wide = integers(&[2f64.powi(100)], |_| -10, 141).unwrap();
        assert_eq!(wide.magnitudes().get(0), [0, 0, 1 << 12]);
        assert!(matches!(
            integers(&[1.0, 2f64.powi(100)], |_| -10, 140),
            Err(Error::TooLarge { index: 1, limit: 140 })
        ));
        assert!(matches!(integers(&[f64::NAN], |_| 0, 64), Err(Error::NotFinite { index: 0 })));
        // Halves go to the even number.
        let halves = integers(&[0.5, 1.5, 2.5, -3.5, 0.500_000_001, 1e-200], |_| 0, 64).unwrap();
        let found: Vec<i128> = (0..6).map(|index| halves.to_i128(index).unwrap()).collect();
        assert_eq!(found, [0, 2, 2, -4, 1, 0]);
    }

    #[test]
    fn long_integers_are_rounded_once() {
        // 2^117 + 2^64 is half-way between two neighbours; one bit more makes the upper one nearer.
        for (low, expected) in [(0, 2f64.powi(117)), (1, 2f64.powi(117) + 2f64.powi(65))] {
            assert_eq!(nearest_f64(&[low, 1 << 53 | 1], 0), Some(expected));
        }
        assert_eq!(nearest_f64(&[1], 256), None);
        assert_eq!(nearest_f64(&[1], -300), Some(0.0));
        assert_eq!(nearest_f64(&[3], -269), Some(3.0 * 2f64.powi(-1000) * 2f64.powi(-76)));
        assert_eq!(nearest_f64(&[0, 0], 1000), Some(0.0));
    }
}
