//! Reconstruction of a number from its residues modulo the three primes.
//!
//! With `P = p_0 p_1 p_2`, a number X below P is `sum y_i P / p_i - k P`. Here y_i is X times the inverse of
//! `P / p_i` modulo p_i, and k is the integral part of `sum y_i / p_i`. The fraction of that sum is `X / P`.
//! It stays below 1 by a margin (`plan`), so a rounded sum gives the right k.
//!
//! Coefficients modulo `y^len + 1` are signed. [`OFFSET`] is added before they are reconstructed and
//! subtracted afterwards.

use super::arithmetic::Arithmetic;
use super::scale::factor_of;
use super::weights::Weights;
use crate::fft::carry::{DigitWriter, Join};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{COUNT, PRIMES, ShoupFactor};
use crate::fft::shape::{BlockShape, Ring};
use std::sync::Arc;

/// `2^OFFSET` exceeds the magnitude of signed coefficients and is at most half of `63/64 P`.
pub(crate) const OFFSET: u32 = 148;

/// The constants that reconstruct the products of blocks of one shape.
pub(crate) struct Crt<A: Arithmetic> {
    shape: BlockShape,
    /// The factors of residues, and their negatives.
    factors: [[ShoupFactor; COUNT]; 2],
    /// The weights, if the transform is weighted.
    weights: Option<Arc<Weights>>,
    token: A::Token,
}

impl<A: Arithmetic> Crt<A> {
    /// For products of blocks of this shape.
    pub(super) fn new(token: A::Token, shape: BlockShape) -> Self {
        let plain: [u64; COUNT] = std::array::from_fn(|i| factor_of::<A>(i, shape.grid.points()));
        let negative = std::array::from_fn(|i| PRIMES[i] - plain[i]);
        let factors = [plain, negative]
            .map(|factors| std::array::from_fn(|i| ShoupFactor::new(A::FORM, factors[i], PRIMES[i])));
        Self { shape, factors, weights: None, token }
    }

    /// For products of weighted blocks, modulo the primes of weighted transforms.
    pub(super) fn weighted(token: A::Token, shape: BlockShape, weights: Arc<Weights>) -> Self {
        Self { weights: Some(weights), ..Self::new(token, shape) }
    }

    #[inline(always)]
    fn carry_points<const WHOLE: bool>(
        &self,
        residues: [&[Point]; COUNT],
        first: usize,
        mut out: DigitWriter<'_, WHOLE>,
    ) -> i128 {
        let is_signed = self.shape.ring == Ring::Negacyclic;
        // The excess of the last word of a number.
        let excess = if is_signed { 1 << (OFFSET - 128) } else { 0 };
        let c = A::new(self.token, PRIMES[0]);
        let mut place = self.shape.grid.place(first);
        let mut words = [Point::ZERO; 3];
        for point in first.. {
            if out.is_full() {
                break;
            }
            let factors = &self.factors[usize::from(self.shape.is_negated(point))];
            for vector in 0..A::VECTORS {
                let residues = residues.map(|points| c.load(&points[place.index()], vector));
                let factors = factors.each_ref().map(|factor| c.splat(factor));
                A::join(self.token, 0, is_signed, residues, factors, (&mut words, vector));
            }
            let [low, middle, high] = words;
            for lane in 0..LANES {
                out.add(low.0[lane], middle.0[lane], high.0[lane] as i64 - excess);
            }
            place.advance();
        }
        out.carry()
    }

    /// Resolves the carries of weighted blocks, whose digits have two lengths.
    #[inline(always)]
    fn carry_weighted(&self, residues: [&[Point]; COUNT], weights: &Weights, out: &mut [u64]) -> i128 {
        let c = A::new(self.token, PRIMES[COUNT]);
        let mut out = DigitWriter::<false>::new(out, 1);
        let mut place = self.shape.grid.place(0);
        let mut words = [Point::ZERO; 3];
        for point in 0..self.shape.grid.points() {
            for vector in 0..A::VECTORS {
                let residues = residues.map(|points| c.load(&points[place.index()], vector));
                let factors = std::array::from_fn(|field| weights.back(&c, field, point, vector));
                A::join(self.token, COUNT, false, residues, factors, (&mut words, vector));
            }
            let [low, middle, high] = words;
            for (lane, bits) in weights.lengths(point).into_iter().enumerate() {
                out.set_bits(bits);
                out.add(low.0[lane], middle.0[lane], high.0[lane] as i64);
            }
            place.advance();
        }
        out.flush();
        out.carry()
    }
}

impl<A: Arithmetic> Join<COUNT> for Crt<A> {
    fn carry(&self, residues: [&[Point]; COUNT], digit_bits: u32, first: usize, out: &mut [u64]) -> i128 {
        match (&self.weights, digit_bits) {
            (Some(weights), _) => A::run(
                self.token,
                #[inline(always)]
                || self.carry_weighted(residues, weights, out),
            ),
            (None, 64) => A::run(
                self.token,
                #[inline(always)]
                || self.carry_points(residues, first, DigitWriter::<true>::new(out, 64)),
            ),
            (None, bits) => A::run(
                self.token,
                #[inline(always)]
                || self.carry_points(residues, first, DigitWriter::<false>::new(out, bits)),
            ),
        }
    }

    fn is_divisible(&self) -> bool {
        self.weights.is_none()
    }
}
