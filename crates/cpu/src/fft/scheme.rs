//! Ways to multiply exactly by transforms, and what products ask of their fields.

use super::carry::Join;
use super::point::Point;
use super::shape::BlockShape;
use super::transform::Transform;
use modmill_core::transform::{Digits, Plan};

/// One prime field of a scheme: what products ask of it beside transforms.
///
/// Threads share a block by columns: each has the same columns of all rows, from the `first` on.
pub(crate) trait PrimeField: Transform {
    /// Fills columns with the residues of digits, transformed down each.
    fn fill(&self, rows: &mut [&mut [Point]], first: usize, digits: &Digits<'_>, shape: BlockShape);
    /// Undoes the transforms of columns, but for a factor of their length.
    fn inverse_columns(&self, rows: &mut [&mut [Point]], shape: BlockShape);
    /// `a <- a b`, or `a^2` if there is no b, in columns of one row, up to a factor that is the same everywhere.
    fn multiply(&self, a: &mut [Point], b: Option<&[Point]>, row: usize, first: usize, shape: BlockShape);
    /// `a <- a + b`, both products.
    fn add(&self, a: &mut [Point], b: &[Point]);
}

/// A way to multiply exactly: F prime fields, digits small enough for them, and the way back.
pub(crate) trait NttScheme<const F: usize>: Sync {
    type Field: PrimeField;
    type Join: Join<F>;
    /// The fields, for blocks of a shape.
    fn fields(&self, shape: BlockShape) -> [Self::Field; F];
    fn join(&self, shape: BlockShape) -> Self::Join;
    /// How to multiply numbers of these many limbs.
    fn plan(&self, a: usize, b: usize) -> Plan;
    /// Most bits of a digit such that blocks of `digits` digits hold the sum of two products in either ring; if
    /// there are any such digits.
    fn ring_digit_bits(&self, digits: usize) -> Option<u32>;
}
