//! The NTT schemes over three primes.

use super::arithmetic::Arithmetic;
use super::crt::{Crt, OFFSET};
use super::field::VectorField;
use super::weights::Weights;
use crate::fft::point::Point;
use crate::fft::primes::{COUNT, PRIMES};
use crate::fft::scheme;
use crate::fft::shape::BlockShape;
use modmill_core::transform::{DigitPlan, Digits};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Plain transforms over the three primes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreePrimes<A: Arithmetic>(pub(crate) A::Token);

/// The largest number of digits of the shorter factor for digits of `bits` bits. This number times
/// `(2^bits - 1)^2` is below P, by more than the error of the reconstruction.
const fn most_digits(bits: u32) -> u128 {
    let two = (PRIMES[0] as u128 * PRIMES[1] as u128) >> (2 * bits - 64);
    ((two * PRIMES[2] as u128) >> 64) / 64 * 63
}

/// Digits of 64 bits serve factors of up to 2^21 limbs, and digits of 62 bits serve longer factors.
const WIDE: u32 = 64;
const NARROW: u32 = 62;

const _: () = assert!(most_digits(WIDE) >= 1 << 21 && most_digits(NARROW) >= 1 << 25);
const _: () = assert!(most_digits(64) >= 2 << (OFFSET - 128));

impl<A: Arithmetic> scheme::NttScheme<COUNT> for ThreePrimes<A> {
    type Field = VectorField<A>;
    type Join = Crt<A>;

    fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        A::run(self.0, work)
    }

    fn fields(&self, shape: BlockShape) -> [VectorField<A>; COUNT] {
        std::array::from_fn(|index| VectorField::new(self.0, index, shape.nodes()))
    }

    fn join(&self, shape: BlockShape) -> Crt<A> {
        Crt::new(self.0, shape)
    }

    fn plan(&self, a: usize, b: usize) -> DigitPlan {
        let bits = if a.min(b) as u128 <= most_digits(WIDE) { WIDE } else { NARROW };
        DigitPlan::new(a + b, bits)
    }

    fn plan_sums(&self, a: usize, b: usize, products: usize) -> Option<DigitPlan> {
        let digits = |bits: u32| (64 * a.min(b)).div_ceil(bits as usize) as u128;
        let fits = |bits: &u32| products as u128 * digits(*bits) <= most_digits(*bits);
        // A sum of fewer than 2^64 products is at most a limb longer than a product.
        Some(DigitPlan::new(a + b + 1, (40..=WIDE).rev().step_by(2).find(fits)?))
    }

    fn ring_digit_bits(&self, digits: usize) -> Option<u32> {
        // Two products of `digits` digits are below 2^OFFSET in magnitude.
        [WIDE, NARROW].into_iter().find(|bits| (digits as u128) < 1 << (OFFSET - 1 - 2 * bits))
    }
}

impl<A: Arithmetic> scheme::PrimeField for VectorField<A> {
    fn fill(&self, rows: &mut [&mut [Point]], first: usize, digits: &Digits<'_>, shape: BlockShape) {
        self.fill_columns(rows, first, digits, shape);
    }

    fn inverse_columns(&self, rows: &mut [&mut [Point]], _: BlockShape) {
        self.invert_columns(rows);
    }

    fn multiply(&self, a: &mut [Point], b: Option<&[Point]>, row: usize, first: usize, shape: BlockShape) {
        self.multiply_row(a, b, shape.first_leaf() + first, self.row_twiddle(row, shape.grid.rows));
    }

    fn add(&self, a: &mut [Point], b: &[Point]) {
        self.add_points(a, b);
    }

    fn reduce(&self, a: &mut [Point]) {
        self.reduce_points(a);
    }

    fn add_up(&self, out: &mut [Point], transforms: &[&[Point]], chosen: &[u32], first: usize) {
        self.add_up_points(out, transforms, chosen, first);
    }
}

/// Weighted transforms over the three primes in which 2 has roots, modulo one `2^q - 1`.
pub(crate) struct WeightedThreePrimes<A: Arithmetic> {
    token: A::Token,
    weights: Arc<Weights>,
}

impl<A: Arithmetic> WeightedThreePrimes<A> {
    pub(crate) fn new(token: A::Token, weights: Arc<Weights>) -> Self {
        Self { token, weights }
    }

    /// The digits of a number, one per limb.
    pub(crate) fn digits(&self, number: &[u64]) -> Zeroizing<Vec<u64>> {
        self.weights.digits(number)
    }
}

impl<A: Arithmetic> scheme::NttScheme<COUNT> for WeightedThreePrimes<A> {
    type Field = VectorField<A>;
    type Join = Crt<A>;

    fn fields(&self, shape: BlockShape) -> [VectorField<A>; COUNT] {
        std::array::from_fn(|index| VectorField {
            weights: Some(self.weights.clone()),
            ..VectorField::new(self.token, COUNT + index, shape.nodes())
        })
    }

    fn join(&self, shape: BlockShape) -> Crt<A> {
        Crt::weighted(self.token, shape, self.weights.clone())
    }

    fn plan(&self, _: usize, _: usize) -> DigitPlan {
        self.weights.plan()
    }

    fn plan_sums(&self, _: usize, _: usize, _: usize) -> Option<DigitPlan> {
        None
    }

    fn ring_digit_bits(&self, _: usize) -> Option<u32> {
        None
    }
}
