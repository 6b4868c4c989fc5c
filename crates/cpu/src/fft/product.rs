//! Products by transforms.

use super::carry;
use super::convolution::{Factor, Place, Term, add_products, by_part};
use super::frame::{Frame, Layout};
use super::memory::Points;
use super::point::Point;
use super::road::{Field, Road};
use super::transform;
use modmill_core::transform::Digits;
use rayon::prelude::*;

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

/// A block of digits, transformed down the columns.
fn filled(field: &impl Field, number: &[u64], layout: &Layout) -> Points {
    let frame = layout.frame;
    let mut block = Points::zeros(frame.shape.points());
    let digits = Digits { limbs: number, bits: layout.digit_bits };
    each_share(&mut block, frame, |first, rows| field.fill(rows, first, &digits, frame));
    block
}

fn forward(field: &impl Field, number: &[u64], layout: &Layout) -> Points {
    let frame = layout.frame;
    let mut block = filled(field, number, layout);
    block.par_chunks_mut(frame.shape.columns).for_each(|row| transform::forward(field, row, frame.node()));
    block
}

/// Columns that one thread takes at a time: a power of two, as all columns.
fn share(frame: Frame) -> usize {
    let columns = frame.shape.columns;
    match rayon::current_num_threads() {
        1 => columns,
        threads => (columns / (4 * threads).next_power_of_two()).max(SHARE).min(columns),
    }
}

/// Columns of a share, at least.
const SHARE: usize = 1 << 10;

/// Runs work on shares of columns: the first column, and its columns of every row.
fn each_share(block: &mut [Point], frame: Frame, work: impl Fn(usize, &mut [&mut [Point]]) + Sync) {
    let (columns, share) = (frame.shape.columns, share(frame));
    let mut shares: Vec<Vec<&mut [Point]>> = (0..columns / share).map(|_| Vec::new()).collect();
    for row in block.chunks_exact_mut(columns) {
        for (rows, part) in shares.iter_mut().zip(row.chunks_exact_mut(share)) {
            rows.push(part);
        }
    }
    shares.par_iter_mut().enumerate().for_each(|(index, rows)| work(index * share, rows));
}

/// The transform of a number, for products by a layout.
pub(crate) fn transform<const F: usize>(road: &impl Road<F>, number: &[u64], layout: &Layout) -> Transformed {
    let fields = road.fields(layout.frame);
    Transformed(fields.par_iter().map(|field| forward(field, number, layout)).collect())
}

/// Fills `out` with the low limbs of a sum of products, and returns what is above them. The sum is one in the ring
/// of the layout: exact where that is longer than the sum.
pub(crate) fn sum_of_products<const F: usize>(
    road: &impl Road<F>,
    terms: &[(&[u64], Other<'_>)],
    layout: &Layout,
    out: &mut [u64],
) -> i128 {
    let blocks = |index: usize, field: &_, term: usize| {
        let (a, b) = terms[term];
        let b = match b {
            Other::Same => Second::Same,
            Other::Number(b) => Second::Plain(filled(field, b, layout)),
            Other::Transformed(b) => Second::Transformed(&b.0[index]),
        };
        Blocks { a: filled(field, a, layout), is_transformed: false, b }
    };
    sum(road, terms.len(), layout, blocks, out)
}

/// The same where all factors are transformed already.
pub(crate) fn sum_of_transformed<const F: usize>(
    road: &impl Road<F>,
    terms: &[(&Transformed, &Transformed)],
    layout: &Layout,
    out: &mut [u64],
) -> i128 {
    let blocks = |index: usize, _: &_, term: usize| {
        let (a, b) = terms[term];
        let mut block = Points::zeros(a.0[index].len());
        block.copy_from_slice(&a.0[index]);
        Blocks { a: block, is_transformed: true, b: Second::Transformed(&b.0[index]) }
    };
    sum(road, terms.len(), layout, blocks, out)
}

/// The factors of a product over one field.
struct Blocks<'a> {
    a: Points,
    is_transformed: bool,
    b: Second<'a>,
}

enum Second<'a> {
    Same,
    Plain(Points),
    Transformed(&'a [Point]),
}

impl Blocks<'_> {
    fn term(&mut self) -> Term<'_> {
        let b = match &mut self.b {
            Second::Same => Factor::Same,
            Second::Plain(b) => Factor::Plain(b),
            Second::Transformed(b) => Factor::Transformed(b),
        };
        Term { a: &mut self.a, is_transformed: self.is_transformed, b }
    }
}

/// Adds so many products over each field, goes back, and resolves the carries.
fn sum<'a, const F: usize, R: Road<F>>(
    road: &R,
    terms: usize,
    layout: &Layout,
    blocks: impl Fn(usize, &R::Field, usize) -> Blocks<'a> + Sync,
    out: &mut [u64],
) -> i128 {
    let frame = layout.frame;
    let sum = |(index, field): (usize, &R::Field)| {
        let mut terms: Vec<Blocks<'_>> = (0..terms).map(|term| blocks(index, field, term)).collect();
        let mut rows = by_part(terms.iter_mut().map(Blocks::term), frame.shape.columns);
        rows.par_iter_mut().enumerate().for_each(|(row, terms)| {
            add_products(field, terms, Place { row, first: 0, node: frame.node() }, frame);
        });
        drop(rows);
        let mut sum = terms.swap_remove(0).a;
        if frame.shape.rows > 1 {
            each_share(&mut sum, frame, |_, rows| field.inverse_columns(rows, frame));
        }
        sum
    };
    let blocks: Vec<Points> = road.fields(frame).par_iter().enumerate().map(sum).collect();
    let residues: [&[Point]; F] = std::array::from_fn(|field| &blocks[field][..]);
    let above = carry::resolve(&road.join(frame), residues, layout, out);
    // Clearing takes as long as a pass.
    blocks.into_par_iter().for_each(drop);
    above
}
