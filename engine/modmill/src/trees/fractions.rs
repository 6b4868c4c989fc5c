//! The way down a tree: remainders, as fractions.
//!
//! A node with the product P has the fraction `(x mod P) / P`, cut off 64 bits below the width of its level.
//! A child's fraction is the fractional part of its parent's times its sibling's product. A cut errs by less
//! than `2^-64 / P`, because the width of P's level is at least the length of P: it loses what is below, or,
//! in a ring modulo `2^s - 1`, adds a carry of what wraps around to there. The siblings on the way from there
//! to a leaf N multiply to `P / N`, so that the error at the leaf is below `2^-64 / N`. The fraction times N
//! is an integer modulo N: with at most 64 levels, the error is below `2^-57`, and the nearest integer is the
//! remainder, or N itself instead of zero.

use super::levels::halves;
use super::rows::filled;
use super::steps::Steps;
use crate::Engine;
use modmill_core::{Batch, Error, Modulus, Operand, limbs};
use modmill_cpu::long::reciprocal;

/// A number modulo every leaf of a tree.
pub(super) fn remainders(steps: &Steps<'_>, levels: &[Batch], number: Operand<'_>) -> Result<Batch, Error> {
    let [root, below @ ..] = levels else { return Batch::try_zeros(1, 0) };
    let mut fractions = steps.run(|engine| fraction(engine, root, number))?;
    for level in below {
        fractions = steps.run(|engine| children(engine, &fractions, level))?;
    }
    let leaves = levels.last().unwrap_or(root);
    steps.run(|engine| nearest(engine, &engine.mul(&fractions, leaves)?, leaves))
}

/// The fraction `(x mod Z) / Z` of a number x, for the product Z at the root.
fn fraction(engine: &Engine, root: &Batch, number: Operand<'_>) -> Result<Batch, Error> {
    let z = root.get(0);
    let z = &z[..limbs::bit_length(z).div_ceil(64)];
    let reduced;
    // A number that is longer by a limb at most needs no reduction: its whole part is cut off.
    let number = match limbs::bit_length(number.limbs(0)) > 64 * z.len() + 64 {
        true => {
            reduced = engine.reduce(number, &Modulus::new(z)?)?;
            reduced.shared(0)
        }
        false => number,
    };
    // With Z 2^s = D / B^3 for a D of m = n + 3 limbs whose top bit is set, and I = floor((B^2m - 1) / D), x
    // / Z is x 2^s I / B^(2m - 3). It is too small by less than 2 x 2^s / B^(2m - 3) <= 2 B^(-n - 1), which
    // is below 2^-63 / Z.
    let shift = z[z.len() - 1].leading_zeros() as usize;
    let mut divisor = vec![0; z.len() + 3];
    limbs::shift_left(z, shift, &mut divisor[3..]);
    let inverse = engine.install(|| reciprocal(&engine.multiplier(), &divisor));
    let inverse = Batch::from_values([&inverse[..]]);
    let product = engine.mul(&engine.shift_left(number, shift)?, &inverse)?;
    filled(engine, root.stride() + 1, 1, |_, row| window(product.get(0), 2 * divisor.len() - 3, row))
}

/// The fractions of a level, from those of the level above.
fn children(engine: &Engine, above: &Batch, level: &Batch) -> Result<Batch, Error> {
    let (half, pairs) = halves(level.len());
    let (end, stride) = (above.stride(), level.stride() + 1);
    let (parents, factors) = (above.slice(0..pairs), [level.slice(half..level.len()), level.slice(0..pairs)]);
    // A node without a partner is its parent.
    let plan = engine.ask().mul(parents, factors[0])?;
    let mut fractions = Batch::try_zeros(64 * stride, level.len())?;
    let (left, right) = fractions.as_limbs_mut().split_at_mut(half * stride);
    let (left, alone) = left.split_at_mut(pairs * stride);
    if engine.cpu().middle_products(&plan, parents, factors, end, [left, right])? {
        let rows = alone.chunks_exact_mut(stride).zip(pairs..);
        rows.for_each(|(row, node)| window(above.get(node), end, row));
        return Ok(fractions);
    }
    let [left, right] = [engine.mul(parents, factors[0])?, engine.mul(parents, factors[1])?];
    filled(engine, stride, level.len(), |node, row| {
        let number = match node {
            _ if node < pairs => left.get(node),
            _ if node < half => above.get(node),
            _ => right.get(node - half),
        };
        window(number, end, row);
    })
}

/// Copies the limbs of a number below limb `end` that fit a row. Where there are fewer, the first limbs of
/// the row stay as they are.
fn window(number: &[u64], end: usize, row: &mut [u64]) {
    let (below, first) = (row.len().saturating_sub(end), end.saturating_sub(row.len()));
    let limbs = number.get(first..end.min(number.len())).unwrap_or_default();
    row[below..below + limbs.len()].copy_from_slice(limbs);
}

/// The nearest integers to products of fractions and leaves, without those that are the leaf itself.
fn nearest(engine: &Engine, products: &Batch, leaves: &Batch) -> Result<Batch, Error> {
    let width = leaves.stride();
    filled(engine, width, leaves.len(), |item, row| {
        let product = products.get(item);
        row.copy_from_slice(&product[width + 1..2 * width + 1]);
        limbs::add_assign(row, &[product[width] >> 63]);
        if *row == *leaves.get(item) {
            row.fill(0);
        }
    })
}
