//! Two answers for each item, on all threads.

use crate::backend::{Cpu, LONG};
use crate::schoolbook::divide::Rows;
use crate::threads::Share;
use modmill_core::{Batch, Error, Plan, Watch, watched};
use rayon::prelude::*;
use std::ops::Range;

impl Cpu {
    /// Two batches of the widths `widths`, whose rows `compute` writes for `size` items at a time, or for
    /// fewer at the end.
    pub(crate) fn pairs<W>(
        &self,
        (plan, widths): (&Plan, [usize; 2]),
        size: usize,
        watch: Option<&Watch>,
        workspace: impl Fn() -> W + Sync + Send,
        compute: impl Fn(&mut W, Range<usize>, [Rows<'_>; 2]) + Sync + Send,
    ) -> Result<[Batch; 2], Error> {
        let count = plan.request.count;
        let [mut first, mut second] =
            [Batch::try_zeros(widths[0], count)?, Batch::try_zeros(widths[1], count)?];
        // A thread takes some microseconds of work at least.
        let limbs = plan.request.bits.div_ceil(64);
        let items = (256 / (limbs * limbs).max(1)).max(1).next_multiple_of(size);
        let strides = [first.stride(), second.stride()];
        let chunks = count.div_ceil(items);
        let parts = parts(first.as_limbs_mut(), items * strides[0], chunks).zip(parts(
            second.as_limbs_mut(),
            items * strides[1],
            chunks,
        ));
        let parts: Vec<_> = parts.collect();
        self.install_if(chunks > 1 || limbs >= LONG, || {
            let parts = parts.into_par_iter().enumerate();
            parts.each_with(workspace, |space, (index, (first, second))| {
                let mut first = Rows { limbs: first, stride: strides[0] };
                let mut second = Rows { limbs: second, stride: strides[1] };
                let end = ((index + 1) * items).min(count);
                for start in (index * items..end).step_by(size) {
                    let some = start..(start + size).min(end);
                    let rows = [first.take(some.len()), second.take(some.len())];
                    watched(watch, some.len(), || compute(space, some, rows));
                }
            });
        });
        if watch.is_some_and(Watch::is_stopped) { Err(Error::Interrupted) } else { Ok([first, second]) }
    }
}

/// Cuts limbs into `count` parts of `size` limbs, of which the last may be shorter.
fn parts(limbs: &mut [u64], size: usize, count: usize) -> impl Iterator<Item = &mut [u64]> {
    let mut rest = limbs;
    (0..count).map(move |_| {
        let part;
        let size = size.min(rest.len());
        (part, rest) = std::mem::take(&mut rest).split_at_mut(size);
        part
    })
}
