//! Products by transforms.

use super::carry::{self, Join};
use super::frame::{Frame, Layout};
use super::memory::Points;
use super::point::Point;
use super::transform::{self, Transform};
use modmill_core::transform::{Digits, Plan};
use rayon::prelude::*;

/// One prime field of a road: what products ask of it beside transforms.
pub(crate) trait Field: Transform {
    /// Fills a block with the residues of digits, columns transformed.
    fn fill(&self, block: &mut [Point], digits: &Digits<'_>, frame: Frame);
    /// Undoes the transforms of columns, but for a factor of their length.
    fn inverse_columns(&self, block: &mut [Point], frame: Frame);
    /// `a <- a b` in row `row`, up to a factor that is the same everywhere.
    fn multiply(&self, a: &mut [Point], b: &[Point], row: usize, frame: Frame);
    /// `a <- a^2`, likewise.
    fn square(&self, a: &mut [Point], row: usize, frame: Frame);
    /// `a <- a + b`, both products.
    fn add(&self, a: &mut [Point], b: &[Point]);
}

/// A way to multiply exactly: F prime fields, digits small enough for them, and the way back.
pub(crate) trait Road<const F: usize>: Sync {
    type Field: Field;
    type Join: Join<F>;
    /// The fields, for blocks of a frame.
    fn fields(&self, frame: Frame) -> [Self::Field; F];
    fn join(&self, frame: Frame) -> Self::Join;
    /// How to multiply numbers of these many limbs.
    fn plan(&self, a: usize, b: usize) -> Plan;
    /// Most bits of a digit such that blocks of `digits` digits hold the sum of two products in either ring; if
    /// there are any such digits.
    fn ring_digit_bits(&self, digits: usize) -> Option<u32>;
}

/// The transform of a number over all fields of a road.
pub(crate) struct Transformed(Vec<Points>);

/// The second factor of a product.
#[derive(Clone, Copy)]
pub(crate) enum Other<'a> {
    /// The first one again.
    Same,
    Number(&'a [u64]),
    Transformed(&'a Transformed),
}

fn forward(field: &impl Field, number: &[u64], layout: &Layout) -> Points {
    let frame = layout.frame;
    let mut block = Points::zeros(frame.shape.points());
    field.fill(&mut block, &Digits { limbs: number, bits: layout.digit_bits }, frame);
    each_row(&mut block, frame, |_, row| transform::forward(field, row, frame.node()));
    block
}

/// Multiplies by another block, or by itself.
fn multiply_points(field: &impl Field, block: &mut [Point], other: Option<&[Point]>, frame: Frame) {
    let columns = frame.shape.columns;
    each_row(block, frame, |index, row| match other {
        Some(other) => field.multiply(row, &other[index * columns..][..columns], index, frame),
        None => field.square(row, index, frame),
    });
}

fn backward(field: &impl Field, block: &mut [Point], frame: Frame) {
    each_row(block, frame, |_, row| transform::inverse(field, row, frame.node()));
    field.inverse_columns(block, frame);
}

fn each_row(block: &mut [Point], frame: Frame, work: impl Fn(usize, &mut [Point]) + Sync) {
    block.par_chunks_mut(frame.shape.columns).enumerate().for_each(|(index, row)| work(index, row));
}

/// The transform of a number, for products by a layout.
pub(crate) fn transform<const F: usize>(road: &impl Road<F>, number: &[u64], layout: &Layout) -> Transformed {
    let fields = road.fields(layout.frame);
    Transformed(fields.par_iter().map(|field| forward(field, number, layout)).collect())
}

/// Fills `out` with the low limbs of a sum of products, and returns what is above them. The sum is one in the ring
/// of the layout: exact where that is longer than the sum.
pub(crate) fn sum_of_products<const F: usize, R: Road<F>>(
    road: &R,
    terms: &[(&[u64], Other<'_>)],
    layout: &Layout,
    out: &mut [u64],
) -> i128 {
    let frame = layout.frame;
    let product = |index: usize, field: &R::Field, &(a, b): &(&[u64], Other<'_>)| {
        let mut block = forward(field, a, layout);
        match b {
            Other::Same => multiply_points(field, &mut block, None, frame),
            Other::Number(b) => multiply_points(field, &mut block, Some(&forward(field, b, layout)), frame),
            Other::Transformed(b) => multiply_points(field, &mut block, Some(&b.0[index]), frame),
        }
        block
    };
    sum(road, terms, layout, product, out)
}

/// The same where all factors are transformed already.
pub(crate) fn sum_of_transformed<const F: usize, R: Road<F>>(
    road: &R,
    terms: &[(&Transformed, &Transformed)],
    layout: &Layout,
    out: &mut [u64],
) -> i128 {
    let product = |index: usize, field: &R::Field, &(a, b): &(&Transformed, &Transformed)| {
        let mut block = Points::zeros(a.0[index].len());
        block.copy_from_slice(&a.0[index]);
        multiply_points(field, &mut block, Some(&b.0[index]), layout.frame);
        block
    };
    sum(road, terms, layout, product, out)
}

/// Adds products over each field, goes back, and resolves the carries.
fn sum<const F: usize, R: Road<F>, T: Sync>(
    road: &R,
    terms: &[T],
    layout: &Layout,
    product: impl Fn(usize, &R::Field, &T) -> Points + Sync,
    out: &mut [u64],
) -> i128 {
    let frame = layout.frame;
    let sum = |(index, field): (usize, &R::Field)| {
        let (first, rest) = terms.split_first().expect("there is something to add");
        let mut block = product(index, field, first);
        for term in rest {
            field.add(&mut block, &product(index, field, term));
        }
        backward(field, &mut block, frame);
        block
    };
    let blocks: Vec<Points> = road.fields(frame).par_iter().enumerate().map(sum).collect();
    let residues: [&[Point]; F] = std::array::from_fn(|field| &blocks[field][..]);
    carry::resolve(&road.join(frame), residues, layout, out)
}
