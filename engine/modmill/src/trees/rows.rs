//! Batches that are filled row by row, on the threads of an engine.

use crate::Engine;
use modmill_core::{Batch, Error};
use modmill_cpu::threads::Share;
use rayon::prelude::*;

/// A batch of `count` numbers of `stride` limbs. `fill` is given each of them, which is zero.
pub(super) fn filled(
    engine: &Engine,
    stride: usize,
    count: usize,
    fill: impl Fn(usize, &mut [u64]) + Send + Sync,
) -> Result<Batch, Error> {
    let mut batch = Batch::try_zeros(64 * stride, count)?;
    let rows = batch.as_limbs_mut().par_chunks_exact_mut(stride).enumerate();
    engine.install(|| rows.each(|(index, row)| fill(index, row)));
    Ok(batch)
}

/// Copies the low limbs of a number that fit a row, which are all that are not zero.
pub(super) fn copy(number: &[u64], row: &mut [u64]) {
    let used = number.len().min(row.len());
    row[..used].copy_from_slice(&number[..used]);
}
