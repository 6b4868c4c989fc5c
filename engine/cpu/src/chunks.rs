//! Sharing the answers of a call among the threads.

use crate::backend::Cpu;
use crate::threads::Share;
use rayon::prelude::*;

/// Limbs of a number that threads may share: transforms do.
pub(crate) const LONG: usize = 1 << 13;

impl Cpu {
    /// Calls `work` for every chunk of `size` limbs, on all threads. Its arguments are a workspace of the
    /// thread, the index of the chunk and its limbs. A thread takes at least `grain` chunks at a time.
    ///
    /// This is compiled once for each type of workspace, not once for each kernel and operation: calling
    /// `work` by its address costs nanoseconds, and a chunk has microseconds of work.
    pub(crate) fn each_chunk<W>(
        &self,
        limbs: &mut [u64],
        (size, grain): (usize, usize),
        workspace: &(dyn Fn() -> W + Sync),
        work: &(dyn Fn(&mut W, usize, &mut [u64]) + Sync),
    ) {
        self.install_if(limbs.len() > grain * size || size >= LONG, || {
            let chunks = limbs.par_chunks_mut(size).enumerate().with_min_len(grain);
            chunks.each_with(workspace, |own, (index, chunk)| work(own, index, chunk));
        });
    }
}
