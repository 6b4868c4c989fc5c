//! Columns that a GPU computes in parts, some at a time: while it computes one part, others are checked and copied.

use crate::Error;
use modmill::{Batch, Engine};
use rayon::prelude::*;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

/// Items whose intermediate results are on a GPU at the same time: 4 GiB for n of 2048 bits.
pub(crate) const PART: usize = 1 << 20;

/// The fewest items that are computed in parts by lanes: a part is several waves of a large GPU.
pub(crate) const LEAST_OF_LANES: usize = 1 << 18;

/// How a column is cut.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// Parts that are computed at the same time.
    pub(crate) lanes: usize,
    /// Parts of a column that needs no more memory than [`PART`] items.
    pub(crate) parts: usize,
}

/// Items that a thread copies at a time.
const COPIED: usize = 4096;

/// Fills `answers` with what `part` computes of ranges of items. The batches that `part` returns are as wide as `answers`. The threads of
/// the engine copy them: pages that are written for the first time take longer than the GPU's answer.
pub(crate) fn in_lanes(
    engine: &Engine,
    Lanes { lanes, parts }: Lanes,
    answers: &mut Batch,
    part: impl Fn(Range<usize>) -> Result<Batch, Error> + Sync,
) -> Result<(), Error> {
    let stride = answers.stride();
    let size = answers.len().div_ceil(parts).clamp(1, PART / lanes);
    let parts = Mutex::new(answers.as_limbs_mut().chunks_mut(size * stride).enumerate());
    // A lane takes one part after the other, until there is none or one fails.
    let lane = || -> Result<(), Error> {
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((index, rows)) = next() {
            let first = index * size;
            let found = part(first..first + rows.len() / stride)?;
            let pieces =
                rows.par_chunks_mut(COPIED * stride).zip(found.as_limbs().par_chunks(COPIED * stride));
            engine.install(|| pieces.for_each(|(to, from)| to.copy_from_slice(from)));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
