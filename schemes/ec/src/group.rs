//! Groups of points: what all curves have in common, and the multiples of points, written once over a group.

mod digits;
mod edwards;
mod ladder;
mod multiples;
mod table;
#[cfg(test)]
mod tests;
mod weierstrass;

pub(crate) use edwards::{Decoded, Ed25519};
pub(crate) use ladder::multiple as ladder_multiple;
pub(crate) use multiples::{multiple, multiples_vartime, sum_of_multiples_vartime};
pub(crate) use table::Table;
pub(crate) use weierstrass::{
    Nist256, Nist384, Nist521, Points, Secp256k1, Weierstrass, decompress, is_on_curve,
};

use crate::field::Field;
use zeroize::Zeroize;

/// A group of points with complete formulas: no case of an addition is special.
pub(crate) trait Group: Send + Sync + Sized + 'static {
    /// Coordinates.
    type Base: Field;
    /// Numbers modulo the order of the generator.
    type Scalar: Field;
    /// A sum.
    type Point: Coordinates<Self::Base>;
    /// A point of a table, with affine coordinates.
    type Entry: Coordinates<Self::Base>;
    /// A point of a short table, with projective coordinates.
    type Cached: Coordinates<Self::Base>;

    fn identity() -> Self::Point;

    fn double(point: &Self::Point) -> Self::Point;

    fn add(point: &Self::Point, other: &Self::Cached) -> Self::Point;

    fn add_entry(point: &Self::Point, entry: &Self::Entry) -> Self::Point;

    fn cache(point: &Self::Point) -> Self::Cached;

    /// Entries of points other than the identity, with one inversion for all.
    fn entries(points: &[Self::Point]) -> Vec<Self::Entry>;

    fn negate_cached(cached: &Self::Cached) -> Self::Cached;

    fn negate_entry(entry: &Self::Entry) -> Self::Entry;

    /// Whether two public points are the same.
    fn equal(a: &Self::Point, b: &Self::Point) -> bool {
        Self::is_identity(&Self::add(a, &Self::negate_cached(&Self::cache(b)))) != 0
    }

    /// All ones for the identity.
    fn is_identity(point: &Self::Point) -> u64;

    /// The generator.
    fn generator() -> Self::Point;

    /// The table of the generator, made when it is needed first.
    fn generator_table() -> &'static Table<Self>;
}

/// Coordinates, which masks select as a whole.
pub(crate) trait Coordinates<F: Field>:
    Copy + Send + Sync + AsRef<[F]> + AsMut<[F]> + Zeroize
{
    const ZEROS: Self;

    /// `a` if the mask is all ones, `b` if it is zero.
    #[inline(always)]
    fn select(mask: u64, a: &Self, b: &Self) -> Self {
        let mut selected = *b;
        for (b, &a) in selected.as_mut().iter_mut().zip(a.as_ref()) {
            *b = F::select(mask, a, *b);
        }
        selected
    }

    /// Adds the bits of `other` if the mask is all ones.
    #[inline(always)]
    fn or_masked(&mut self, mask: u64, other: &Self) {
        for (own, &other) in self.as_mut().iter_mut().zip(other.as_ref()) {
            *own = own.or_masked(mask, other);
        }
    }
}

impl<F: Field, const N: usize> Coordinates<F> for [F; N] {
    const ZEROS: Self = [F::ZERO; N];
}
