//! Sharing the answers of a call among the threads.

use crate::backend::Cpu;
use rayon::prelude::*;

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
        if self.threads() == 1 || limbs.len() <= grain * size {
            // There is no work to share: waking another thread costs more than it brings.
            let mut own = workspace();
            limbs.chunks_mut(size).enumerate().for_each(|(index, chunk)| work(&mut own, index, chunk));
        } else {
            self.install(|| {
                let chunks = limbs.par_chunks_mut(size).enumerate().with_min_len(grain);
                chunks.for_each_init(workspace, |own, (index, chunk)| work(own, index, chunk));
            });
        }
    }
}
