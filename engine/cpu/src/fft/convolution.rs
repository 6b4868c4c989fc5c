//! Convolution along a row: forward transforms, pointwise products and the inverse transform, part by part.
//!
//! A pass over a block leaves independent parts. So both factors take the first pass. Then each part is
//! transformed, multiplied and transformed back while it is in a cache, and the last pass joins the parts. A
//! long block is thus read from memory twice instead of four times.

use super::point::Point;
use super::scheme::PrimeField;
use super::shape::BlockShape;
use super::transform::{self, cut, in_columns, is_shared};
use crate::threads::Share;
use rayon::prelude::*;

/// The number of points up to which a block is transformed at once. Two such blocks fit in the first-level
/// cache.
pub(super) const LEAF: usize = 1 << 8;

/// One product of a sum of products.
pub(crate) struct Term<'a> {
    /// The first factor, which the product replaces.
    pub(crate) a: &'a mut [Point],
    pub(crate) is_transformed: bool,
    pub(crate) b: TermFactor<'a>,
}

/// The second factor of a term.
pub(crate) enum TermFactor<'a> {
    /// The first factor again.
    Same,
    Plain(&'a mut [Point]),
    Transformed(&'a [Point]),
}

/// The position of a block: its row, its first column in the order of transformed rows, and its node of the
/// transform tree.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) row: usize,
    pub(crate) first: usize,
    pub(crate) node: usize,
}

impl<'a> Term<'a> {
    /// Splits the term into parts of `len` points.
    fn into_parts(self, len: usize) -> Vec<Self> {
        let is_transformed = self.is_transformed;
        let parts = self.a.chunks_exact_mut(len).map(|a| Term { a, is_transformed, b: TermFactor::Same });
        match self.b {
            TermFactor::Same => parts.collect(),
            TermFactor::Plain(b) => {
                let factors = b.chunks_exact_mut(len).map(TermFactor::Plain);
                parts.zip(factors).map(|(part, b)| Term { b, ..part }).collect()
            }
            TermFactor::Transformed(b) => {
                let factors = b.chunks_exact(len).map(TermFactor::Transformed);
                parts.zip(factors).map(|(part, b)| Term { b, ..part }).collect()
            }
        }
    }

    fn reborrow(&mut self) -> Term<'_> {
        let b = match &mut self.b {
            TermFactor::Same => TermFactor::Same,
            TermFactor::Plain(b) => TermFactor::Plain(b),
            TermFactor::Transformed(b) => TermFactor::Transformed(b),
        };
        Term { a: self.a, is_transformed: self.is_transformed, b }
    }
}

/// Splits all terms into parts of `len` points and groups them by part.
pub(crate) fn by_part<'a>(terms: impl Iterator<Item = Term<'a>>, len: usize) -> Vec<Vec<Term<'a>>> {
    let mut parts = Vec::new();
    for term in terms {
        let pieces = term.into_parts(len);
        parts.resize_with(pieces.len(), Vec::new);
        parts.iter_mut().zip(pieces).for_each(|(terms, piece)| terms.push(piece));
    }
    parts
}

/// Replaces the first factor of the first term by the sum of the products, up to a constant factor.
pub(crate) fn add_products(field: &impl PrimeField, terms: &mut [Term<'_>], place: Place, shape: BlockShape) {
    if terms[0].a.len() <= LEAF {
        at_once(field, terms, place, shape);
    } else {
        by_parts(field, terms, place, shape);
    }
}

fn at_once(
    field: &impl PrimeField,
    terms: &mut [Term<'_>],
    Place { row, first, node }: Place,
    shape: BlockShape,
) {
    for Term { a, is_transformed, b } in terms.iter_mut() {
        if !*is_transformed {
            transform::forward(field, a, node);
        }
        let b = match b {
            TermFactor::Same => None,
            TermFactor::Plain(b) => {
                transform::forward(field, b, node);
                Some(&**b)
            }
            TermFactor::Transformed(b) => Some(*b),
        };
        field.multiply(a, b, row, first, shape);
    }
    let (sum, rest) = terms.split_first_mut().expect("there is something to add");
    for term in rest {
        field.add(sum.a, term.a);
    }
    transform::inverse(field, sum.a, node);
}

fn by_parts(field: &impl PrimeField, terms: &mut [Term<'_>], place: Place, shape: BlockShape) {
    const PARTS: usize = 16;
    const { assert!(LEAF >= 1 << 7) }; // shorter blocks are cut differently
    let len = terms[0].a.len() / PARTS;
    let is_shared = is_shared(terms[0].a);
    let forward = |block: &mut [Point]| {
        in_columns(cut(block), is_shared, &|parts| field.forward16(parts, place.node));
    };
    for term in terms.iter_mut() {
        if !term.is_transformed {
            forward(term.a);
        }
        if let TermFactor::Plain(b) = &mut term.b {
            forward(b);
        }
    }
    let mut parts = by_part(terms.iter_mut().map(Term::reborrow), len);
    let work = |(index, terms): (usize, &mut Vec<Term<'_>>)| {
        let place =
            Place { first: place.first + index * len, node: PARTS * place.node + index, row: place.row };
        add_products(field, terms, place, shape);
    };
    if is_shared {
        parts.par_iter_mut().enumerate().each(work);
    } else {
        parts.iter_mut().enumerate().for_each(work);
    }
    drop(parts);
    in_columns(cut(terms[0].a), is_shared, &|parts| field.inverse16(parts, place.node));
}

/// One sum of products of transforms: for each term, its left factor and the right factors that are added.
#[derive(Clone, Copy)]
pub(crate) struct TermsOfSum<'a> {
    /// The blocks of the transforms over one field.
    pub(crate) transforms: &'a [&'a [Point]],
    pub(crate) terms: &'a [(usize, &'a [u32])],
}

/// The number of points whose products are added at a time: those of a few dozen transforms stay in the
/// first-level cache.
const ADDED: usize = 16;

/// Fills a block with a sum of products of transforms from point `start` on, transformed back, up to a
/// constant factor.
pub(crate) fn add_transforms(
    field: &impl PrimeField,
    out: &mut [Point],
    sum: TermsOfSum<'_>,
    start: usize,
    place: Place,
    shape: BlockShape,
) {
    const PARTS: usize = 16;
    let len = out.len();
    if len > LEAF {
        let len = len / PARTS;
        for (index, part) in out.chunks_exact_mut(len).enumerate() {
            let (first, node) = (place.first + index * len, PARTS * place.node + index);
            add_transforms(field, part, sum, start + index * len, Place { first, node, ..place }, shape);
        }
        return in_columns(cut(out), false, &|parts| field.inverse16(parts, place.node));
    }
    for (index, points) in out.chunks_mut(ADDED).enumerate() {
        let from = start + index * ADDED;
        let mut product = [Point::ZERO; ADDED];
        let product = &mut product[..points.len()];
        points.fill(Point::ZERO);
        for &(left, rights) in sum.terms {
            field.add_up(product, sum.transforms, rights, from);
            let left = &sum.transforms[left][from..][..points.len()];
            field.multiply(product, Some(left), place.row, place.first + index * ADDED, shape);
            field.add(points, product);
        }
    }
    transform::inverse(field, out, place.node);
}
