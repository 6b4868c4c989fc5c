//! The way up a tree: products, and sums of fractions.

use super::rows::{copy, filled};
use super::steps::Steps;
use crate::Engine;
use modmill_core::{Batch, BatchView, Error, limbs};

/// The levels of a tree, from the root to the leaves.
///
/// A level of n nodes is followed, towards the root, by the largest power of two below n: node j joins the
/// nodes j and j + half of the level below, so that both factors of all products are consecutive rows. The
/// last nodes of a level that is no power of two have no partner. A node has the leaves `j, j + n, j + 2n,
/// ..` and is as wide as the most of them are together, which is what node 0 has.
pub(super) fn products(steps: &Steps<'_>, leaves: Batch) -> Result<Vec<Batch>, Error> {
    let (count, width) = (leaves.len(), leaves.stride());
    if count == 0 {
        let mut one = Batch::try_zeros(64, 1)?;
        one.get_mut(0)[0] = 1;
        return Ok(vec![one, leaves]);
    }
    let mut levels = vec![leaves];
    while let Some(level) = levels.last().filter(|level| level.len() > 1) {
        let (half, pairs) = halves(level.len());
        let next = steps.run(|engine| {
            let joined = engine.mul(level.slice(0..pairs), level.slice(half..level.len()))?;
            followed(engine, joined, level.slice(pairs..half), width * count.div_ceil(half), half)
        })?;
        levels.push(next);
    }
    levels.reverse();
    Ok(levels)
}

/// The sum of `a_i Z / N_i` over the leaves N with the product Z, for the numerators a, as a batch of one
/// number. A numerator is below its leaf, or both are one.
///
/// The sum of a node with the children l and r is `S_l P_r + S_r P_l`. It is at most as many times its
/// product as it has leaves, so that one limb more than the product's is enough.
pub(super) fn sums(steps: &Steps<'_>, levels: &[Batch], numerators: Batch) -> Result<Batch, Error> {
    let mut sums = numerators;
    for pair in levels.windows(2).rev() {
        let [above, level] = pair else { continue };
        sums = steps.run(|engine| match shared_transforms(engine, &sums, level, above.stride() + 1)? {
            Some(sums) => Ok(sums),
            None => sum_of_products(engine, &sums, level, above.stride() + 1),
        })?;
    }
    Ok(sums)
}

/// The sums of a level of `stride` limbs from those of the level below.
fn sum_of_products(engine: &Engine, sums: &Batch, level: &Batch, stride: usize) -> Result<Batch, Error> {
    let (half, pairs) = halves(level.len());
    let left = engine.mul(sums.slice(0..pairs), level.slice(half..level.len()))?;
    let right = engine.mul(sums.slice(half..level.len()), level.slice(0..pairs))?;
    filled(engine, stride, half, |node, row| match node < pairs {
        true => {
            copy(left.get(node), row);
            let right = right.get(node);
            limbs::add_assign(row, &right[..right.len().min(row.len())]);
        }
        false => copy(sums.get(node), row),
    })
}

/// Sums of products that share the way back from their transforms, or `None` if the CPU does not compute
/// products of these lengths by transforms.
fn shared_transforms(
    engine: &Engine,
    sums: &Batch,
    level: &Batch,
    stride: usize,
) -> Result<Option<Batch>, Error> {
    let (half, pairs) = halves(level.len());
    let plan = engine.ask().mul(sums.slice(0..pairs), level.slice(half..level.len()))?;
    let mut above = Batch::try_zeros(64 * stride, half)?;
    let (joined, alone) = above.as_limbs_mut().split_at_mut(pairs * stride);
    let left = [sums.slice(0..pairs), level.slice(half..level.len())];
    let right = [sums.slice(half..level.len()), level.slice(0..pairs)];
    if !engine.cpu().sums_of_two_products(&plan, left, right, joined)? {
        return Ok(None);
    }
    alone.chunks_exact_mut(stride).zip(pairs..).for_each(|(row, node)| copy(sums.get(node), row));
    Ok(Some(above))
}

/// The number of nodes of the level above one of `len` nodes, and how many of them have two children.
pub(super) fn halves(len: usize) -> (usize, usize) {
    let half = len.next_power_of_two() / 2;
    (half, len - half)
}

/// A level of `len` nodes of `stride` limbs, which their values fit: those of `joined`, and then those of
/// `alone`.
fn followed(
    engine: &Engine,
    joined: Batch,
    alone: BatchView<'_>,
    stride: usize,
    len: usize,
) -> Result<Batch, Error> {
    match alone.is_empty() && joined.stride() == stride {
        true => joined.into_bits(64 * stride),
        false => filled(engine, stride, len, |node, row| {
            copy(if node < joined.len() { joined.get(node) } else { alone.get(node - joined.len()) }, row);
        }),
    }
}
