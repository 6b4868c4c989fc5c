//! The way down a tree: remainders, as fractions.
//!
//! A node with the product P has the fraction `(x mod P) / P`, cut off 64 bits below the width of its level.
//! A child's fraction is the fractional part of its parent's times its sibling's product. A cut loses less
//! than `2^-64 / P`, because the width of P's level is at least the length of P. The siblings on the way from
//! there to a leaf N multiply to `P / N`, so that less than `2^-64 / N` is lost at the leaf. The fraction
//! times N is an integer: with at most 64 levels, less than `2^-57` is lost of it, and the nearest integer is
//! the remainder, or N itself instead of zero.

use super::levels::halves;
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
    steps.run(|engine| nearest(&engine.mul(&fractions, leaves)?, leaves))
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
    window(&product, 2 * divisor.len() - 3, root.stride() + 1)
}

/// The fractions of a level, from those of the level above.
fn children(engine: &Engine, above: &Batch, level: &Batch) -> Result<Batch, Error> {
    let (half, pairs) = halves(level.len());
    let (end, stride) = (above.stride(), level.stride() + 1);
    let parents = above.slice(0..pairs);
    let left = window(&engine.mul(parents, level.slice(half..level.len()))?, end, stride)?;
    let right = window(&engine.mul(parents, level.slice(0..pairs))?, end, stride)?;
    let mut fractions = Batch::try_zeros(64 * stride, level.len())?;
    // A node without a partner is its parent.
    let alone = above.slice(pairs..half);
    let alone = alone.iter().map(|row| &row[end - stride..]);
    let rows = fractions.as_limbs_mut().chunks_exact_mut(stride);
    rows.zip(left.iter().chain(alone).chain(right.iter()))
        .for_each(|(row, value)| row.copy_from_slice(value));
    Ok(fractions)
}

/// The `stride` limbs below limb `end` of every number, and zeros where a number has none.
fn window(numbers: &Batch, end: usize, stride: usize) -> Result<Batch, Error> {
    let mut cut = Batch::try_zeros(64 * stride, numbers.len())?;
    // The first limbs of a row are below the numbers, where there are fewer than `stride` limbs below `end`.
    let (below, first) = (stride.saturating_sub(end), end.saturating_sub(stride));
    for (row, number) in cut.as_limbs_mut().chunks_exact_mut(stride).zip(numbers.iter()) {
        let limbs = number.get(first..end.min(number.len())).unwrap_or_default();
        row[below..below + limbs.len()].copy_from_slice(limbs);
    }
    Ok(cut)
}

/// The nearest integers to products of fractions and leaves, without those that are the leaf itself.
fn nearest(products: &Batch, leaves: &Batch) -> Result<Batch, Error> {
    let width = leaves.stride();
    let mut remainders = Batch::try_zeros(leaves.bits(), leaves.len())?;
    for ((row, product), leaf) in
        remainders.as_limbs_mut().chunks_exact_mut(width).zip(products.iter()).zip(leaves.iter())
    {
        row.copy_from_slice(&product[width + 1..2 * width + 1]);
        limbs::add_assign(row, &[product[width] >> 63]);
        if *row == *leaf {
            row.fill(0);
        }
    }
    Ok(remainders)
}
