//! Weighted transforms: products modulo `2^q - 1` for any q (Crandall and Fagin, "Discrete weighted transforms and
//! large-integer arithmetic", 1994), in fields where 2 has roots.
//!
//! With L digits, digit j stands at `s_j = ceil(j q / L)`, and is multiplied by `2^(s_j - j q / L)`, a power of the root
//! of 2 of order L. A cyclic product of length L is then one modulo `2^q - 1`: coefficient `j + k` lacks
//! `s_j + s_k - s_(j+k)`, which is 0 or 1, so that coefficients are at most `2 L (2^b - 1)^2` with digits of b bits at
//! most.
#![allow(unsafe_code)]

use super::carry::factor_of;
use super::{Crt, Field, V, load};
use crate::fft::frame::{Frame, Layout, Ring};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, COUNT, Factor, PRIMES, ROOTS_OF_TWO};
use crate::fft::product;
use crate::isa::Ifma as Token;
use modmill_core::transform::{Plan, Shape};
use std::arch::x86_64::*;
use std::sync::Arc;

/// Bits of the longest digits.
const DIGIT: usize = 62;

/// Coefficients of the longest blocks are below 63/64 P: `2^1 L 2^(2 DIGIT)`, and P is more than `2^148`.
const _: () = assert!(1 + (ROOTS_OF_TWO + 2) + 2 * DIGIT as u32 <= 147);

/// Factors and their quotients, a word for each digit.
struct Table {
    values: Vec<Point>,
    quotients: Vec<Point>,
}

impl Table {
    fn new(p: u64, points: usize, factor: impl Fn(usize) -> u64) -> Self {
        let factors = |point: usize| -> [Factor; LANES] {
            std::array::from_fn(|lane| Factor::new(factor(LANES * point + lane), p))
        };
        Self {
            values: (0..points).map(|point| Point(factors(point).map(|factor| factor.value))).collect(),
            quotients: (0..points).map(|point| Point(factors(point).map(|factor| factor.quotient))).collect(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn at(&self, point: usize) -> [V; 2] {
        [load(&self.values[point]), load(&self.quotients[point])]
    }
}

/// The weights of one modulus `2^q - 1`.
pub(crate) struct Weights {
    bits: usize,
    shape: Shape,
    /// Where digits start, and where the last one ends.
    starts: Vec<u64>,
    forward: [Table; COUNT],
    /// One over the weights, times what residues are joined by.
    back: [Table; COUNT],
}

impl Weights {
    /// The weights for `2^bits - 1`, if digits are short enough and not too many.
    pub(crate) fn new(bits: usize) -> Option<Self> {
        let points = bits.div_ceil(LANES * DIGIT);
        let fitting =
            |rows: usize| Shape { rows, columns: points.div_ceil(rows).next_power_of_two().max(16) };
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
                (root, scale) = (primes::inverse(root, p), factor_of(field, shape.points()));
            }
            let weight = |digit: usize| {
                let exponent = start(digit) * digits - digit * bits;
                primes::mul(primes::pow(root, exponent as u64, p), scale, p)
            };
            Table::new(p, shape.points(), weight)
        };
        Some(Self {
            bits,
            shape,
            starts: (0..=digits).map(|digit| start(digit) as u64).collect(),
            forward: std::array::from_fn(|field| table(COUNT + field, false)),
            back: std::array::from_fn(|field| table(COUNT + field, true)),
        })
    }

    /// Limbs of the numbers that are multiplied: one more than their bits fill.
    pub(crate) fn limbs(&self) -> usize {
        self.bits / 64 + 2
    }

    /// How blocks lie.
    pub(crate) fn layout(&self) -> Layout {
        Layout::new(Plan { digit_bits: DIGIT as u32, shape: self.shape }, Ring::Minus)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn forward(&self, field: usize, point: usize) -> [V; 2] {
        self.forward[field - COUNT].at(point)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn back(&self, field: usize, point: usize) -> [V; 2] {
        self.back[field].at(point)
    }

    /// The bits of each digit of a point.
    #[inline(always)]
    pub(super) fn lengths(&self, point: usize) -> [u32; LANES] {
        let starts = &self.starts[LANES * point..][..=LANES];
        std::array::from_fn(|lane| (starts[lane + 1] - starts[lane]) as u32)
    }

    /// The digits of a point, of a number as long as [`Self::limbs`].
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn digits(&self, number: &[u64], point: usize) -> V {
        assert!(number.len() == self.limbs());
        let starts = &self.starts[LANES * point..][..=LANES];
        // SAFETY: nine starts are there.
        let (start, end) = unsafe {
            (_mm512_loadu_si512(starts.as_ptr().cast()), _mm512_loadu_si512(starts[1..].as_ptr().cast()))
        };
        let word = _mm512_srli_epi64::<6>(start);
        // SAFETY: a digit starts below `bits`, in limb `bits / 64` at most, and there is one more.
        let (low, high) = unsafe {
            (
                _mm512_i64gather_epi64::<8>(word, number.as_ptr().cast()),
                _mm512_i64gather_epi64::<8>(word, number[1..].as_ptr().cast()),
            )
        };
        let shift = _mm512_and_si512(start, _mm512_set1_epi64(63));
        // A shift by 64 leaves nothing.
        let above = _mm512_sllv_epi64(high, _mm512_sub_epi64(_mm512_set1_epi64(64), shift));
        let bits = _mm512_or_si512(_mm512_srlv_epi64(low, shift), above);
        let unused = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_sub_epi64(end, start));
        _mm512_and_si512(bits, _mm512_srlv_epi64(_mm512_set1_epi64(-1), unused))
    }
}

/// The way through the three primes in which 2 has roots, modulo one `2^q - 1`.
pub(crate) struct RootsOfTwo {
    token: Token,
    weights: Arc<Weights>,
}

impl RootsOfTwo {
    pub(crate) fn new(token: Token, weights: Arc<Weights>) -> Self {
        Self { token, weights }
    }
}

impl product::Road<COUNT> for RootsOfTwo {
    type Field = Field;
    type Join = Crt;

    fn fields(&self, frame: Frame) -> [Field; COUNT] {
        std::array::from_fn(|index| Field {
            weights: Some(self.weights.clone()),
            ..Field::new(self.token, COUNT + index, frame.nodes())
        })
    }

    fn join(&self, frame: Frame) -> Crt {
        Crt::weighted(self.token, frame, self.weights.clone())
    }

    fn plan(&self, _: usize, _: usize) -> Plan {
        Plan { digit_bits: DIGIT as u32, shape: self.weights.shape }
    }

    fn ring_digit_bits(&self, _: usize) -> Option<u32> {
        None
    }
}
