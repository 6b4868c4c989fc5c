//! NTT schemes: the prime fields, digit lengths and reconstruction of an exact product.

use super::carry::Join;
use super::point::Point;
use super::shape::BlockShape;
use super::transform::Transform;
use modmill_core::transform::{DigitPlan, Digits};

/// One prime field of a scheme: the operations of products beside the transforms.
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
    /// `out <-` the sum of points of the chosen transforms, each from point `first` on. The sum is a factor of
    /// [`Self::multiply`].
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
    /// The digit length and the block shape for factors of a and b limbs.
    fn plan(&self, a: usize, b: usize) -> DigitPlan;
    /// The same for sums of `products` products of such factors. `None` if there is no digit length for them.
    fn plan_sums(&self, a: usize, b: usize, products: usize) -> Option<DigitPlan>;
    /// The largest number of bits of a digit such that blocks of `digits` digits hold the sum of two products
    /// in either ring. `None` if there is no such length.
    fn ring_digit_bits(&self, digits: usize) -> Option<u32>;
}
