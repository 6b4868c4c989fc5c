//! The way up a tree: products, and sums of fractions.

use super::steps::Steps;
use modmill_core::{Batch, BatchView, Error};

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
            followed(&joined, level.slice(pairs..half), width * count.div_ceil(half), half)
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
        let (half, pairs) = halves(level.len());
        sums = steps.run(|engine| {
            let left = engine.mul(sums.slice(0..pairs), level.slice(half..level.len()))?;
            let right = engine.mul(sums.slice(half..level.len()), level.slice(0..pairs))?;
            let joined = engine.add(&left, &right)?;
            followed(&joined, sums.slice(pairs..half), above.stride() + 1, half)
        })?;
    }
    Ok(sums)
}

/// The number of nodes of the level above one of `len` nodes, and how many of them have two children.
pub(super) fn halves(len: usize) -> (usize, usize) {
    let half = len.next_power_of_two() / 2;
    (half, len - half)
}

/// A level of `len` nodes of `stride` limbs, which their values fit: those of `joined`, and then those of
/// `alone`.
fn followed(joined: &Batch, alone: BatchView<'_>, stride: usize, len: usize) -> Result<Batch, Error> {
    let mut level = Batch::try_zeros(64 * stride, len)?;
    let rows = level.as_limbs_mut().chunks_exact_mut(stride);
    for (row, value) in rows.zip(joined.iter().chain(alone.iter())) {
        let used = value.len().min(stride);
        row[..used].copy_from_slice(&value[..used]);
    }
    Ok(level)
}
