//! Products by transforms.

use super::carry;
use super::convolution::{Place, Term, TermFactor, add_products, by_part};
use super::memory::Points;
use super::point::Point;
use super::scheme::{NttScheme, PrimeField};
use super::shape::{BlockShape, DigitLayout};
use super::transform;
use modmill_core::transform::Digits;
use rayon::prelude::*;

/// The transforms of a number over all fields of a scheme.
pub(crate) struct Transformed(Vec<Points>);

/// The second factor of a product.
#[derive(Clone, Copy)]
pub(crate) enum SecondFactor<'a> {
    /// The first factor again.
    Same,
    Number(&'a [u64]),
    Transformed(&'a Transformed),
}

/// The block of a number's digits, with its columns transformed.
fn filled(field: &impl PrimeField, number: &[u64], layout: &DigitLayout) -> Points {
    let shape = layout.shape;
    let mut block = Points::zeros(shape.grid.points());
    let digits = Digits { limbs: number, bits: layout.digit_bits };
    each_share(&mut block, shape, |first, rows| field.fill(rows, first, &digits, shape));
    block
}

fn forward(field: &impl PrimeField, number: &[u64], layout: &DigitLayout) -> Points {
    let shape = layout.shape;
    let mut block = filled(field, number, layout);
    block.par_chunks_mut(shape.grid.columns).for_each(|row| transform::forward(field, row, shape.node()));
    block
}

/// The number of columns that one thread takes at a time: a power of two, like the number of all columns.
fn share(shape: BlockShape) -> usize {
    let columns = shape.grid.columns;
    match rayon::current_num_threads() {
        1 => columns,
        threads => (columns / (4 * threads).next_power_of_two()).max(SHARE).min(columns),
    }
}

/// The least number of columns that one thread takes.
const SHARE: usize = 1 << 10;

/// Runs `work` on each share of columns. Its arguments are the first column and these columns of every row.
fn each_share(block: &mut [Point], shape: BlockShape, work: impl Fn(usize, &mut [&mut [Point]]) + Sync) {
    let (columns, share) = (shape.grid.columns, share(shape));
    let mut shares: Vec<Vec<&mut [Point]>> = (0..columns / share).map(|_| Vec::new()).collect();
    for row in block.chunks_exact_mut(columns) {
        for (rows, part) in shares.iter_mut().zip(row.chunks_exact_mut(share)) {
            rows.push(part);
        }
    }
    shares.par_iter_mut().enumerate().for_each(|(index, rows)| work(index * share, rows));
}

/// The transform of a number, for products with this layout.
pub(crate) fn transform<const F: usize>(
    scheme: &impl NttScheme<F>,
    number: &[u64],
    layout: &DigitLayout,
) -> Transformed {
    let fields = scheme.fields(layout.shape);
    Transformed(fields.par_iter().map(|field| forward(field, number, layout)).collect())
}

/// Fills `out` with the low limbs of a sum of products and returns the part above them. The sum is computed
/// in the ring of the layout, so it is exact if the ring is longer than the sum.
pub(crate) fn sum_of_products<const F: usize>(
    scheme: &impl NttScheme<F>,
    terms: &[(&[u64], SecondFactor<'_>)],
    layout: &DigitLayout,
    out: &mut [u64],
) -> i128 {
    let blocks = |index: usize, field: &_, term: usize| {
        let (a, b) = terms[term];
        let b = match b {
            SecondFactor::Same => SecondBlock::Same,
            SecondFactor::Number(b) => SecondBlock::Plain(filled(field, b, layout)),
            SecondFactor::Transformed(b) => SecondBlock::Transformed(&b.0[index]),
        };
        Blocks { a: filled(field, a, layout), is_transformed: false, b }
    };
    sum(scheme, terms.len(), layout, blocks, out)
}

/// The same as [`sum_of_products`], for factors that are all transformed already.
pub(crate) fn sum_of_transformed<const F: usize>(
    scheme: &impl NttScheme<F>,
    terms: &[(&Transformed, &Transformed)],
    layout: &DigitLayout,
    out: &mut [u64],
) -> i128 {
    let blocks = |index: usize, _: &_, term: usize| {
        let (a, b) = terms[term];
        let mut block = Points::zeros(a.0[index].len());
        block.copy_from_slice(&a.0[index]);
        Blocks { a: block, is_transformed: true, b: SecondBlock::Transformed(&b.0[index]) }
    };
    sum(scheme, terms.len(), layout, blocks, out)
}

/// The factors of a product over one field.
struct Blocks<'a> {
    a: Points,
    is_transformed: bool,
    b: SecondBlock<'a>,
}

enum SecondBlock<'a> {
    Same,
    Plain(Points),
    Transformed(&'a [Point]),
}

impl Blocks<'_> {
    fn term(&mut self) -> Term<'_> {
        let b = match &mut self.b {
            SecondBlock::Same => TermFactor::Same,
            SecondBlock::Plain(b) => TermFactor::Plain(b),
            SecondBlock::Transformed(b) => TermFactor::Transformed(b),
        };
        Term { a: &mut self.a, is_transformed: self.is_transformed, b }
    }
}

/// Adds `terms` products over each field, transforms back and resolves the carries.
fn sum<'a, const F: usize, R: NttScheme<F>>(
    scheme: &R,
    terms: usize,
    layout: &DigitLayout,
    blocks: impl Fn(usize, &R::Field, usize) -> Blocks<'a> + Sync,
    out: &mut [u64],
) -> i128 {
    let shape = layout.shape;
    let sum = |(index, field): (usize, &R::Field)| {
        let mut terms: Vec<Blocks<'_>> = (0..terms).map(|term| blocks(index, field, term)).collect();
        let mut rows = by_part(terms.iter_mut().map(Blocks::term), shape.grid.columns);
        rows.par_iter_mut().enumerate().for_each(|(row, terms)| {
            add_products(field, terms, Place { row, first: 0, node: shape.node() }, shape);
        });
        drop(rows);
        let mut sum = terms.swap_remove(0).a;
        if shape.grid.rows > 1 {
            each_share(&mut sum, shape, |_, rows| field.inverse_columns(rows, shape));
        }
        sum
    };
    let blocks: Vec<Points> = scheme.fields(shape).par_iter().enumerate().map(sum).collect();
    let residues: [&[Point]; F] = std::array::from_fn(|field| &blocks[field][..]);
    let above = carry::resolve(&scheme.join(shape), residues, layout, out);
    // Clearing costs as much as a pass, so threads share it.
    blocks.into_par_iter().for_each(drop);
    above
}
