//! The NTT schemes over three primes.

use super::arithmetic::Arithmetic;
use super::crt::{Crt, OFFSET};
use super::field::VectorField;
use super::weights::{self, Weights};
use crate::fft::point::Point;
use crate::fft::primes::{COUNT, PRIMES, TWO_POWER};
use crate::fft::scheme;
use crate::fft::shape::{BlockShape, Ring};
use modmill_core::TRANSFORM_MAX_BITS;
use modmill_core::transform::{Digits, LANES};
use std::ops::RangeInclusive;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Plain transforms over the three primes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreePrimes<A: Arithmetic>(pub(crate) A::Token);

/// The digit lengths of plain transforms in bits. The shortest serve sums of very many products, and rings of
/// some lengths.
const LENGTHS: RangeInclusive<u32> = 32..=64;

/// The largest number of products of two digits of `bits` bits whose sum is below `63/64 P`, so that the
/// reconstruction is exact.
const fn most_terms(bits: u32) -> u128 {
    // P is below 2^150, so P / 2^24, rounded down, is below 2^126.
    let product = ((PRIMES[0] as u128 * PRIMES[1] as u128) >> 24) * PRIMES[2] as u128;
    (product / 64 * 63) >> (2 * bits - 24)
}

/// The largest number of products whose signed sum is below `2^OFFSET` in magnitude.
const fn most_signed_terms(bits: u32) -> u128 {
    1 << (OFFSET - 2 * bits)
}

// `2^OFFSET` is at most half of `63/64 P`.
const _: () = assert!(most_terms(64) >= 2 << (OFFSET - 128));
// Digits of 60 bits serve products of up to `2^34` bits, and digits of 59 bits serve rings of as many bits.
const _: () = assert!(60 * most_terms(60) >= TRANSFORM_MAX_BITS as u128);
const _: () = assert!(59 * most_signed_terms(59) >= 2 * TRANSFORM_MAX_BITS as u128);
// Such blocks have at most `5 * 2^23` points, in rows of at most `2^25`; rows modulo `y^len + 1` need roots
// of order `2 len`.
const _: () = assert!((59 * LANES * 5) << (TWO_POWER - 3) >= TRANSFORM_MAX_BITS);

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

    fn digit_lengths(&self) -> RangeInclusive<u32> {
        LENGTHS
    }

    fn most_terms(&self, digit_bits: u32, ring: Ring) -> u128 {
        match ring {
            Ring::Cyclic => most_terms(digit_bits),
            Ring::Negacyclic => most_signed_terms(digit_bits),
        }
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

    fn digit_lengths(&self) -> RangeInclusive<u32> {
        weights::DIGIT..=weights::DIGIT
    }

    fn most_terms(&self, _: u32, _: Ring) -> u128 {
        weights::MOST_TERMS
    }
}
