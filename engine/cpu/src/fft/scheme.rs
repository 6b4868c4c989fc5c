//! NTT schemes: the prime fields, digit lengths and reconstruction of an exact product.

use super::carry::Join;
use super::point::Point;
use super::shape::{BlockShape, DigitLayout, Ring};
use super::transform::Transform;
use modmill_core::transform::{DigitPlan, Digits};
use std::ops::RangeInclusive;

/// One prime field of a scheme: the operations of products other than the transforms.
///
/// Threads share a block by columns. Each thread has the same columns of all rows, starting with column
/// `first`.
pub(crate) trait PrimeField: Transform {
    /// Fills columns with the residues of digits and transforms each column.
    fn fill(&self, rows: &mut [&mut [Point]], first: usize, digits: &Digits<'_>, shape: BlockShape);
    /// Inverts the transforms of columns, up to a factor of their length.
    fn inverse_columns(&self, rows: &mut [&mut [Point]], shape: BlockShape);
    /// `a <- a b`, or `a^2` without b, in columns of one row, up to a constant factor.
    fn multiply(&self, a: &mut [Point], b: Option<&[Point]>, row: usize, first: usize, shape: BlockShape);
    /// `a <- a + b`, where both are products.
    fn add(&self, a: &mut [Point], b: &[Point]);
    /// Reduces the points of a transform, so that [`Self::add_up`] takes them.
    fn reduce(&self, a: &mut [Point]);
    /// `out <-` the sum of points of the chosen transforms, each from point `first` on. The sum is a factor
    /// of [`Self::multiply`].
    fn add_up(&self, out: &mut [Point], transforms: &[&[Point]], chosen: &[u32], first: usize);
}

/// A scheme for exact products: F prime fields, digits short enough for them, and the reconstruction.
pub(crate) trait NttScheme<const F: usize>: Sync {
    type Field: PrimeField;
    type Join: Join<F>;
    /// Calls a function that is compiled for the scheme's instruction set, if it is inlined.
    fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }
    /// The fields, for blocks of this shape.
    fn fields(&self, shape: BlockShape) -> [Self::Field; F];
    fn join(&self, shape: BlockShape) -> Self::Join;
    /// The digit lengths of the scheme in bits.
    fn digit_lengths(&self) -> RangeInclusive<u32>;
    /// The largest number of products of two digits of `digit_bits` bits whose sum a coefficient in `ring`
    /// holds exactly.
    fn most_terms(&self, digit_bits: u32, ring: Ring) -> u128;

    /// The digit length and the block shape for factors of a and b limbs. `None` if there is no digit length
    /// for them.
    fn plan(&self, a: usize, b: usize) -> Option<DigitPlan> {
        Some(DigitPlan::new(a + b, self.digit_bits(a.min(b), 1)?))
    }

    /// The digit length and the block shape for sums of `products` products of such factors.
    fn plan_sums(&self, a: usize, b: usize, products: usize) -> Option<DigitPlan> {
        // A sum of fewer than 2^64 products is at most a limb longer than a product.
        Some(DigitPlan::new(a + b + 1, self.digit_bits(a.min(b), products)?))
    }

    /// The longest digits for sums of `products` products, each with a factor of at most `limbs` limbs.
    /// Shorter digits are more digits, so the digits have to be short enough for their own number.
    fn digit_bits(&self, limbs: usize, products: usize) -> Option<u32> {
        let digits = |bits: u32| (64 * limbs).div_ceil(bits as usize) as u128;
        let fits = |bits: &u32| products as u128 * digits(*bits) <= self.most_terms(*bits, Ring::Cyclic);
        self.digit_lengths().rev().find(fits)
    }

    /// The longest digits such that blocks of `digits` digits hold the sum of two products in either ring.
    /// `None` if there is no such length.
    fn ring_digit_bits(&self, digits: usize) -> Option<u32> {
        let holds = |bits: u32, ring| 2 * digits as u128 <= self.most_terms(bits, ring);
        let fits = |bits: &u32| holds(*bits, Ring::Cyclic) && holds(*bits, Ring::Negacyclic);
        self.digit_lengths().rev().find(fits)
    }

    /// Stops a computation whose coefficients, sums of `terms` products of two digits, may exceed the fields'
    /// range.
    fn assert_exact(&self, layout: &DigitLayout, terms: u128) {
        let most = self.most_terms(layout.digit_bits, layout.shape.ring);
        assert!(terms <= most, "a sum of {terms} products of two digits exceeds the fields of {layout:?}");
    }
}
