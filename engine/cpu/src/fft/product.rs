//! Products by transforms.

use super::carry;
use super::convolution::{Term, TermFactor, TermsOfSum, add_products, add_transforms, by_part};
use super::grid::Grid;
use super::memory::Points;
use super::point::Point;
use super::scheme::{NttScheme, PrimeField};
use super::shape::DigitLayout;
use super::shares::Shares;
use super::transform;
use modmill_core::transform::Digits;

/// The transforms of a number over all fields of a scheme.
pub(crate) struct Transformed {
    /// One block for each field.
    blocks: Vec<Points>,
    /// The number of digits of the number.
    digits: usize,
}

/// The second factor of a product.
#[derive(Clone, Copy)]
pub(crate) enum SecondFactor<'a> {
    /// The first factor again.
    Same,
    Number(&'a [u64]),
    Transformed(&'a Transformed),
}

/// The transform of a number, for products with this layout.
pub(crate) fn transform<const F: usize>(
    scheme: &impl NttScheme<F>,
    number: &[u64],
    layout: &DigitLayout,
) -> Transformed {
    let (fields, grid) = (scheme.fields(layout.shape), Grid::new(layout.shape));
    let digits = Digits { limbs: number, bits: layout.digit_bits };
    let points = layout.shape.grid.points();
    let mut blocks: Vec<Points> = (0..F).map(|index| Points::new(points, index)).collect();
    let mut tasks = Vec::new();
    for (field, block) in fields.iter().zip(&mut blocks) {
        tasks.extend(grid.shares(block).into_iter().map(|share| (field, share)));
    }
    grid.each(tasks, |(field, mut share)| grid.enter(field, &mut share, &digits));
    let mut tasks = Vec::new();
    for (field, block) in fields.iter().zip(&mut blocks) {
        tasks.extend(block.chunks_exact_mut(grid.parts_of_task()).enumerate().map(|parts| (field, parts)));
    }
    grid.each(tasks, |(field, (index, parts))| {
        for (part, place) in parts.chunks_exact_mut(grid.part()).zip(grid.places(index)) {
            transform::forward(field, part, place.node);
        }
    });
    Transformed { blocks, digits: layout.digits(number) }
}

/// Fills `out` with the low limbs of a sum of products. The part above them goes to `fold`, which may add it
/// to the limbs again. The sum is computed in the ring of the layout, so it is exact if the ring is longer
/// than the sum.
pub(crate) fn sum_of_products<const F: usize, T>(
    scheme: &impl NttScheme<F>,
    terms: &[(&[u64], SecondFactor<'_>)],
    layout: &DigitLayout,
    out: &mut [u64],
    fold: impl FnOnce(&mut Shares<'_>, i128) -> T,
) -> T {
    let shorter = |&(a, b): &(&[u64], SecondFactor<'_>)| match b {
        SecondFactor::Same => layout.digits(a),
        SecondFactor::Number(b) => layout.digits(a).min(layout.digits(b)),
        SecondFactor::Transformed(b) => layout.digits(a).min(b.digits),
    };
    scheme.assert_exact(layout, terms.iter().map(|term| shorter(term) as u128).sum());
    let points = layout.shape.grid.points();
    let blocks = |index: usize, &(a, b): &_| {
        let b = match b {
            SecondFactor::Same => SecondBlock::Same,
            SecondFactor::Number(b) => SecondBlock::Plain(Points::new(points, index), b),
            SecondFactor::Transformed(b) => SecondBlock::Transformed(&b.blocks[index]),
        };
        Blocks { a: Points::new(points, index), number: Some(a), b }
    };
    sum(scheme, |index| terms.iter().map(|term| blocks(index, term)).collect(), layout, out, fold)
}

/// The sum that [`sum_of_products`] computes, for factors that are all transformed already.
pub(crate) fn sum_of_transformed<'a, const F: usize, T>(
    scheme: &impl NttScheme<F>,
    terms: &[(&'a Transformed, &'a Transformed)],
    layout: &DigitLayout,
    out: &mut [u64],
    fold: impl FnOnce(&mut Shares<'_>, i128) -> T,
) -> T {
    scheme.assert_exact(layout, terms.iter().map(|(a, b)| a.digits.min(b.digits) as u128).sum());
    let blocks = |index: usize, &(a, b): &(&'a Transformed, &'a Transformed)| {
        let mut block = Points::new(a.blocks[index].len(), index);
        block.copy_from_slice(&a.blocks[index]);
        Blocks { a: block, number: None, b: SecondBlock::Transformed(&b.blocks[index]) }
    };
    sum(scheme, |index| terms.iter().map(|term| blocks(index, term)).collect(), layout, out, fold)
}

/// The transform of a number, for sums of products with this layout.
pub(crate) fn transform_for_sums<const F: usize>(
    scheme: &impl NttScheme<F>,
    number: &[u64],
    layout: &DigitLayout,
) -> Transformed {
    let mut transformed = transform(scheme, number, layout);
    for (field, block) in scheme.fields(layout.shape).iter().zip(&mut transformed.blocks) {
        field.reduce(block);
    }
    transformed
}

/// Fills `out` with a sum of products of numbers that [`transform_for_sums`] transformed, on one thread. The
/// numbers are named by their indices.
pub(crate) fn sum_of_terms<const F: usize>(
    scheme: &impl NttScheme<F>,
    numbers: &[&Transformed],
    terms: &[(usize, &[u32])],
    layout: &DigitLayout,
    out: &mut [u64],
) {
    let products = |&(left, rights): &(usize, &[u32])| {
        let shorter = |&right: &u32| numbers[left].digits.min(numbers[right as usize].digits) as u128;
        rights.iter().map(shorter).sum::<u128>()
    };
    scheme.assert_exact(layout, terms.iter().map(products).sum());
    let (fields, grid) = (scheme.fields(layout.shape), Grid::on_one_thread(layout.shape));
    let mut sums = Vec::with_capacity(F);
    for (index, field) in fields.iter().enumerate() {
        let transforms: Vec<&[Point]> = numbers.iter().map(|number| &number.blocks[index][..]).collect();
        let mut block = Points::new(layout.shape.grid.points(), index);
        let sum = TermsOfSum { transforms: &transforms, terms };
        for (index, part) in block.chunks_exact_mut(grid.part()).enumerate() {
            let start = index * grid.part();
            add_transforms(field, part, sum, start, grid.place(index), layout.shape);
        }
        grid.shares(&mut block).into_iter().for_each(|mut share| grid.leave(field, &mut share));
        sums.push(block);
    }
    let residues: [&[Point]; F] = std::array::from_fn(|field| &sums[field][..]);
    let (shares, _) = carry::resolve(&scheme.join(layout.shape), residues, layout, out);
    shares.finish();
    Points::put_back(sums, |pieces, clear| grid.each(pieces, clear));
}

/// The factors of a product over one field.
struct Blocks<'a> {
    a: Points,
    /// The number whose digits fill the first block. Without it, the block is transformed already.
    number: Option<&'a [u64]>,
    b: SecondBlock<'a>,
}

enum SecondBlock<'a> {
    Same,
    /// A block that the digits of a number fill.
    Plain(Points, &'a [u64]),
    Transformed(&'a [Point]),
}

impl Blocks<'_> {
    /// The blocks that are not filled yet, with their numbers.
    fn unfilled(&mut self) -> impl Iterator<Item = (&mut Points, &[u64])> {
        let first = self.number.map(|number| (&mut self.a, number));
        let second = match &mut self.b {
            SecondBlock::Plain(block, number) => Some((block, *number)),
            SecondBlock::Same | SecondBlock::Transformed(_) => None,
        };
        first.into_iter().chain(second)
    }

    fn term(&mut self) -> Term<'_> {
        let b = match &mut self.b {
            SecondBlock::Same => TermFactor::Same,
            SecondBlock::Plain(b, _) => TermFactor::Plain(b),
            SecondBlock::Transformed(b) => TermFactor::Transformed(b),
        };
        Term { a: &mut self.a, is_transformed: self.number.is_none(), b }
    }
}

/// The block of the sum, and the other blocks of a field.
fn split_off_sum(terms: Vec<Blocks<'_>>) -> (Points, Vec<Points>) {
    let second = |b: SecondBlock<'_>| match b {
        SecondBlock::Plain(block, _) => Some(block),
        SecondBlock::Same | SecondBlock::Transformed(_) => None,
    };
    let mut blocks = terms.into_iter().flat_map(|term| [Some(term.a), second(term.b)]).flatten();
    (blocks.next().expect("there is something to add"), blocks.collect())
}

/// Adds products over each field, transforms back and resolves the carries. `blocks` are the terms of a
/// field.
fn sum<'a, const F: usize, T>(
    scheme: &impl NttScheme<F>,
    blocks: impl Fn(usize) -> Vec<Blocks<'a>>,
    layout: &DigitLayout,
    out: &mut [u64],
    fold: impl FnOnce(&mut Shares<'_>, i128) -> T,
) -> T {
    let (fields, grid) = (scheme.fields(layout.shape), Grid::new(layout.shape));
    let mut sums = Vec::with_capacity(F);
    for fields in fields.chunks(grid.fields_at_once(F)) {
        let mut blocks: Vec<_> = (sums.len()..F).take(fields.len()).map(&blocks).collect();
        convolve(fields, &mut blocks, layout, grid);
        // The other blocks serve the next field, while they are in a cache.
        let (first, others): (Vec<_>, Vec<_>) = blocks.into_iter().map(split_off_sum).unzip();
        sums.extend(first);
        Points::put_back(others.into_iter().flatten().collect(), |pieces, clear| grid.each(pieces, clear));
    }
    let residues: [&[Point]; F] = std::array::from_fn(|field| &sums[field][..]);
    let (mut shares, above) = carry::resolve(&scheme.join(layout.shape), residues, layout, out);
    let above = fold(&mut shares, above);
    shares.finish();
    // Each thread clears the blocks that it has in its cache.
    Points::put_back(sums, |pieces, clear| grid.each(pieces, clear));
    above
}

/// Replaces the first block of each field by the sum of the products, up to a constant factor.
fn convolve(fields: &[impl PrimeField], blocks: &mut [Vec<Blocks<'_>>], layout: &DigitLayout, grid: Grid) {
    let mut tasks = Vec::new();
    for (field, terms) in fields.iter().zip(&mut *blocks) {
        for (block, limbs) in terms.iter_mut().flat_map(Blocks::unfilled) {
            let digits = Digits { limbs, bits: layout.digit_bits };
            tasks.extend(grid.shares(block).into_iter().map(|share| (field, share, digits)));
        }
    }
    grid.each(tasks, |(field, mut share, digits)| grid.enter(field, &mut share, &digits));

    let mut tasks = Vec::new();
    for (field, terms) in fields.iter().zip(&mut *blocks) {
        let parts = by_part(terms.iter_mut().map(Blocks::term), grid.parts_of_task());
        tasks.extend(parts.into_iter().enumerate().map(|parts| (field, parts)));
    }
    grid.each(tasks, |(field, (index, terms))| {
        for (mut terms, place) in by_part(terms.into_iter(), grid.part()).into_iter().zip(grid.places(index))
        {
            add_products(field, &mut terms, place, layout.shape);
        }
    });

    let mut tasks = Vec::new();
    for (field, terms) in fields.iter().zip(&mut *blocks) {
        tasks.extend(grid.shares(&mut terms[0].a).into_iter().map(|share| (field, share)));
    }
    grid.each(tasks, |(field, mut share)| grid.leave(field, &mut share));
}
