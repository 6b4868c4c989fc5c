//! Forward and inverse transforms of a block, built from the passes of a field.
//!
//! The forward transform is decimation in frequency, from natural to bit-reversed order. The inverse
//! transform is decimation in time, from bit-reversed to natural order. So no reordering is needed. Blocks
//! are split depth first, so that all passes except the first find a long block in a cache.

use super::point::Point;
use crate::threads::{self, Share};
use rayon::prelude::*;

/// The passes of a field. A forward pass splits a block, node j of the tree, into R equal parts, nodes `R j`
/// to `R j + R - 1`. An inverse pass joins them.
pub(crate) trait Transform: Sync {
    fn forward2(&self, parts: &mut [&mut [Point]; 2], node: usize);
    fn forward4(&self, parts: &mut [&mut [Point]; 4], node: usize);
    fn forward8(&self, parts: &mut [&mut [Point]; 8], node: usize);
    fn forward16(&self, parts: &mut [&mut [Point]; 16], node: usize);
    fn inverse2(&self, parts: &mut [&mut [Point]; 2], node: usize);
    fn inverse4(&self, parts: &mut [&mut [Point]; 4], node: usize);
    fn inverse8(&self, parts: &mut [&mut [Point]; 8], node: usize);
    fn inverse16(&self, parts: &mut [&mut [Point]; 16], node: usize);
}

/// The number of points from which threads share a block; a quarter of a megabyte.
const PARALLEL: usize = 1 << 12;

/// The number of parts into which a block of `2^bits` points is cut. It is sixteen, except for the short
/// blocks that fit in the first-level cache.
fn radix(bits: u32) -> usize {
    match bits {
        0..=4 => 1 << bits,
        5..=7 => 1 << (bits - 4),
        _ => 16,
    }
}

/// Evaluates a polynomial modulo `y^len - r` at all roots, where r is the square of the node's root.
pub(crate) fn forward<T: Transform>(field: &T, block: &mut [Point], node: usize) {
    match radix(block.len().ilog2()) {
        1 => {}
        2 => forward_by(field, block, node, T::forward2),
        4 => forward_by(field, block, node, T::forward4),
        8 => forward_by(field, block, node, T::forward8),
        _ => forward_by(field, block, node, T::forward16),
    }
}

/// Interpolates: inverts [`forward`], up to a factor of the length of the block.
pub(crate) fn inverse<T: Transform>(field: &T, block: &mut [Point], node: usize) {
    match radix(block.len().ilog2()) {
        1 => {}
        2 => inverse_by(field, block, node, T::inverse2),
        4 => inverse_by(field, block, node, T::inverse4),
        8 => inverse_by(field, block, node, T::inverse8),
        _ => inverse_by(field, block, node, T::inverse16),
    }
}

pub(super) type Parts<'a, const R: usize> = [&'a mut [Point]; R];
type Pass<T, const R: usize> = fn(&T, &mut Parts<'_, R>, usize);

fn forward_by<T: Transform, const R: usize>(field: &T, block: &mut [Point], node: usize, pass: Pass<T, R>) {
    let is_shared = is_shared(block);
    in_columns(cut(block), is_shared, &|parts| pass(field, parts, node));
    if block.len() > R {
        each_part(cut::<R>(block), is_shared, &|index, part| forward(field, part, R * node + index));
    }
}

fn inverse_by<T: Transform, const R: usize>(field: &T, block: &mut [Point], node: usize, pass: Pass<T, R>) {
    let is_shared = is_shared(block);
    if block.len() > R {
        each_part(cut::<R>(block), is_shared, &|index, part| inverse(field, part, R * node + index));
    }
    in_columns(cut(block), is_shared, &|parts| pass(field, parts, node));
}

/// Whether threads share a block.
pub(super) fn is_shared(block: &[Point]) -> bool {
    block.len() >= PARALLEL && threads::count() > 1
}

/// Cuts a block into R parts.
pub(super) fn cut<const R: usize>(block: &mut [Point]) -> Parts<'_, R> {
    let mut parts = block.chunks_exact_mut(block.len() / R);
    std::array::from_fn(|_| parts.next().expect("a block has R parts"))
}

/// Runs a pass on all columns. Threads share the columns if `is_shared`.
pub(super) fn in_columns<const R: usize>(
    mut parts: Parts<'_, R>,
    is_shared: bool,
    pass: &(dyn Fn(&mut Parts<'_, R>) + Sync),
) {
    let len = parts[0].len();
    if !is_shared || len * R < PARALLEL || len == 1 {
        return pass(&mut parts);
    }
    let halves = parts.map(|part| part.split_at_mut(len / 2));
    let mut right = Vec::with_capacity(R);
    let left = halves.map(|(low, high)| {
        right.push(high);
        low
    });
    let mut right = right.into_iter();
    let right = std::array::from_fn(|_| right.next().expect("as many as on the left"));
    threads::join(|| in_columns(left, true, pass), || in_columns::<R>(right, true, pass));
}

/// Runs `work` on every part. Threads share the parts if `is_shared`.
fn each_part<const R: usize>(
    parts: Parts<'_, R>,
    is_shared: bool,
    work: &(dyn Fn(usize, &mut [Point]) + Sync),
) {
    if is_shared {
        parts.into_par_iter().enumerate().each(|(index, part)| work(index, part));
    } else {
        parts.into_iter().enumerate().for_each(|(index, part)| work(index, part));
    }
}
