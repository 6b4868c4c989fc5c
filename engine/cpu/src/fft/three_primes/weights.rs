//! Weighted transforms: products modulo `2^q - 1` for any q (Crandall and Fagin, "Discrete weighted
//! transforms and large-integer arithmetic", 1994), in fields where 2 has roots.
//!
//! With L digits, digit j starts at bit `s_j = ceil(j q / L)`. It is multiplied by the weight
//! `2^(s_j - j q / L)`, a power of the root of 2 of order L. A cyclic product of length L is then a product
//! modulo `2^q - 1`. Coefficient `j + k` lacks the factor `2^(s_j + s_k - s_(j+k))`, whose exponent is 0 or
//! 1. So coefficients are at most `2 L (2^b - 1)^2` for digits of at most b bits.

use super::arithmetic::Arithmetic;
use super::scale::factor_of;
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, COUNT, FactorForm, PRIMES, ROOTS_OF_TWO, ShoupFactor};
use crate::fft::shape::{DigitLayout, Ring};
use modmill_core::limbs::bits_at;
use modmill_core::transform::{DigitPlan, PointShape};
use zeroize::Zeroizing;

/// Bits of the longest digits.
pub(super) const DIGIT: u32 = 62;

/// The largest number of products of two digits whose sum a coefficient holds. Twice as many are below
/// `2^147`, which is below 63/64 P, since P is above `2^148`.
pub(super) const MOST_TERMS: u128 = 1 << (146 - 2 * DIGIT);

const _: () = assert!(MOST_TERMS >= 3 << ROOTS_OF_TWO);

/// Shoup factors with their quotients, one word per digit.
struct Table {
    values: Vec<Point>,
    quotients: Vec<Point>,
}

impl Table {
    fn new(form: FactorForm, p: u64, points: usize, factor: impl Fn(usize) -> u64) -> Self {
        let factors = |point: usize| -> [ShoupFactor; LANES] {
            std::array::from_fn(|lane| ShoupFactor::new(form, factor(LANES * point + lane), p))
        };
        Self {
            values: (0..points).map(|point| Point(factors(point).map(|factor| factor.value))).collect(),
            quotients: (0..points).map(|point| Point(factors(point).map(|factor| factor.quotient))).collect(),
        }
    }

    #[inline(always)]
    fn at<A: Arithmetic>(&self, c: &A, point: usize, vector: usize) -> [A::Vector; 2] {
        [c.load(&self.values[point], vector), c.load(&self.quotients[point], vector)]
    }
}

/// The weights of one modulus `2^q - 1`.
pub(crate) struct Weights {
    shape: PointShape,
    /// The first bit of every digit, and the end of the last digit.
    starts: Vec<u64>,
    forward: [Table; COUNT],
    /// The inverses of the weights, times the factors of the reconstruction.
    back: [Table; COUNT],
}

impl Weights {
    /// The weights for `2^bits - 1`. `None` if the digits would be too long or too many.
    pub(crate) fn new<A: Arithmetic>(bits: usize) -> Option<Self> {
        let points = bits.div_ceil(LANES * DIGIT as usize);
        let fitting =
            |rows: usize| PointShape { rows, columns: points.div_ceil(rows).next_power_of_two().max(16) };
        let shape = [1, 3].map(fitting).into_iter().min_by_key(|shape| shape.points())?;
        let digits = shape.points() * LANES;
        if shape.columns * LANES > 1 << ROOTS_OF_TWO || digits > bits {
            return None;
        }
        let start = |digit: usize| (digit * bits).div_ceil(digits);
        let table = |field: usize, is_back: bool| {
            let p = PRIMES[field];
            let mut root = primes::root_of_two(field, digits as u64);
            let mut scale = 1;
            if is_back {
                (root, scale) = (primes::inverse(root, p), factor_of::<A>(field, shape.points()));
            }
            let weight = |digit: usize| {
                let exponent = start(digit) * digits - digit * bits;
                primes::mul(primes::pow(root, exponent as u64, p), scale, p)
            };
            Table::new(A::FORM, p, shape.points(), weight)
        };
        Some(Self {
            shape,
            starts: (0..=digits).map(|digit| start(digit) as u64).collect(),
            forward: std::array::from_fn(|field| table(COUNT + field, false)),
            back: std::array::from_fn(|field| table(COUNT + field, true)),
        })
    }

    /// The layout of [`Self::digits`]: one limb per digit.
    pub(crate) fn layout(&self) -> DigitLayout {
        DigitLayout::new(self.plan(), Ring::Cyclic)
    }

    fn plan(&self) -> DigitPlan {
        DigitPlan { digit_bits: 64, shape: self.shape }
    }

    #[inline(always)]
    pub(super) fn forward<A: Arithmetic>(
        &self,
        c: &A,
        field: usize,
        point: usize,
        vector: usize,
    ) -> [A::Vector; 2] {
        self.forward[field - COUNT].at(c, point, vector)
    }

    #[inline(always)]
    pub(super) fn back<A: Arithmetic>(
        &self,
        c: &A,
        field: usize,
        point: usize,
        vector: usize,
    ) -> [A::Vector; 2] {
        self.back[field].at(c, point, vector)
    }

    /// The bits of each digit of a point.
    #[inline(always)]
    pub(super) fn lengths(&self, point: usize) -> [u32; LANES] {
        let starts = &self.starts[LANES * point..][..=LANES];
        std::array::from_fn(|lane| (starts[lane + 1] - starts[lane]) as u32)
    }

    /// The digits of a number, one per limb.
    pub(super) fn digits(&self, number: &[u64]) -> Zeroizing<Vec<u64>> {
        let digit = |ends: &[u64]| bits_at(number, ends[0] as usize, (ends[1] - ends[0]) as u32);
        Zeroizing::new(self.starts.windows(2).map(digit).collect())
    }
}
