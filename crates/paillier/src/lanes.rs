//! Columns that a GPU computes in parts, two at a time: while it computes one part, the other is checked and copied.

use crate::Error;
use modmill::Batch;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

/// Items whose intermediate results are on a GPU at the same time: 4 GiB for n of 2048 bits.
pub(crate) const PART: usize = 1 << 20;

/// The fewest items that are computed in parts by lanes: a part is several waves of a large GPU.
pub(crate) const LEAST_OF_LANES: usize = 1 << 18;

/// Parts of a column that are computed at the same time.
const LANES: usize = 2;

/// Fills `answers` with what `part` computes of ranges of items. The batches that `part` returns are as wide as `answers`.
pub(crate) fn in_lanes(
    answers: &mut Batch,
    part: impl Fn(Range<usize>) -> Result<Batch, Error> + Sync,
) -> Result<(), Error> {
    let stride = answers.stride();
    let size = answers.len().div_ceil(2 * LANES).clamp(1, PART / LANES);
    let parts = Mutex::new(answers.as_limbs_mut().chunks_mut(size * stride).enumerate());
    // A lane takes one part after the other, until there is none or one fails.
    let lane = || -> Result<(), Error> {
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((index, rows)) = next() {
            let first = index * size;
            rows.copy_from_slice(part(first..first + rows.len() / stride)?.as_limbs());
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
