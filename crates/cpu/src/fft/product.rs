//! Products by transforms.

use super::carry::{self, Join};
use super::memory::Points;
use super::point::Point;
use super::transform::{self, Transform};
use modmill_core::transform::{Digits, Plan, Shape};
use rayon::prelude::*;

/// One prime field of a road: what products ask of it beside transforms.
pub(crate) trait Field: Transform {
    /// Fills a block with the residues of digits, columns transformed.
    fn fill(&self, block: &mut [Point], digits: &Digits<'_>, shape: Shape);
    /// Undoes the transforms of columns, but for a factor of their length.
    fn inverse_columns(&self, block: &mut [Point], shape: Shape);
    /// `a <- a b` in row `row`, up to a factor that is the same everywhere.
    fn multiply(&self, a: &mut [Point], b: &[Point], row: usize, shape: Shape);
    /// `a <- a^2`, likewise.
    fn square(&self, a: &mut [Point], row: usize, shape: Shape);
}

/// A way to multiply exactly: F prime fields, digits small enough for them, and the way back.
pub(crate) trait Road<const F: usize>: Sync {
    type Field: Field;
    type Join: Join<F>;
    /// The fields, for blocks of a shape.
    fn fields(&self, shape: Shape) -> [Self::Field; F];
    fn join(&self, shape: Shape) -> Self::Join;
    /// How to multiply numbers of these many limbs.
    fn plan(&self, a: usize, b: usize) -> Plan;
}

/// The transform of a number over all fields of a road.
pub(crate) struct Transformed(Vec<Points>);

fn forward(field: &impl Field, number: &[u64], plan: &Plan) -> Points {
    let mut block = Points::zeros(plan.shape.points());
    field.fill(&mut block, &Digits { limbs: number, bits: plan.digit_bits }, plan.shape);
    each_row(&mut block, plan.shape, |_, row| transform::forward(field, row, 0));
    block
}

/// Multiplies by another block, or by itself, and goes back.
fn finish(field: &impl Field, block: &mut [Point], other: Option<&[Point]>, shape: Shape) {
    each_row(block, shape, |index, row| {
        match other {
            Some(other) => {
                field.multiply(row, &other[index * shape.columns..][..shape.columns], index, shape)
            }
            None => field.square(row, index, shape),
        }
        transform::inverse(field, row, 0);
    });
    field.inverse_columns(block, shape);
}

fn each_row(block: &mut [Point], shape: Shape, work: impl Fn(usize, &mut [Point]) + Sync) {
    block.par_chunks_mut(shape.columns).enumerate().for_each(|(index, row)| work(index, row));
}

fn resolve<const F: usize>(road: &impl Road<F>, blocks: &[Points], plan: &Plan, out: &mut [u64]) {
    let residues: [&[Point]; F] = std::array::from_fn(|field| &blocks[field][..]);
    carry::resolve(&road.join(plan.shape), residues, plan.shape, plan.digit_bits, out);
}

/// `out <- a b`, or `a^2` if there is no b.
pub(crate) fn multiply<const F: usize>(road: &impl Road<F>, a: &[u64], b: Option<&[u64]>, out: &mut [u64]) {
    let plan = road.plan(a.len(), b.map_or(a.len(), <[u64]>::len));
    let fields = road.fields(plan.shape);
    let product = |field: &_| {
        let mut block = forward(field, a, &plan);
        let other = b.map(|b| forward(field, b, &plan));
        finish(field, &mut block, other.as_deref(), plan.shape);
        block
    };
    let blocks: Vec<Points> = fields.par_iter().map(product).collect();
    resolve(road, &blocks, &plan, out);
}

/// The transform of a number, for products by a plan.
pub(crate) fn transform<const F: usize>(road: &impl Road<F>, number: &[u64], plan: &Plan) -> Transformed {
    Transformed(road.fields(plan.shape).par_iter().map(|field| forward(field, number, plan)).collect())
}

/// `out <- a b`, where b is transformed already.
pub(crate) fn multiply_transformed<const F: usize>(
    road: &impl Road<F>,
    a: &[u64],
    b: &Transformed,
    plan: &Plan,
    out: &mut [u64],
) {
    let product = |(field, b): (&_, &Points)| {
        let mut block = forward(field, a, plan);
        finish(field, &mut block, Some(b), plan.shape);
        block
    };
    let blocks: Vec<Points> = road.fields(plan.shape).par_iter().zip(&b.0).map(product).collect();
    resolve(road, &blocks, plan, out);
}
