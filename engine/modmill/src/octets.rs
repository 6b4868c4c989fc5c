//! Operations of RSA as a whole, for GPUs that have them as one sequence of kernels.

use crate::Engine;
use crate::callers::small::Turn;
use modmill_core::{Blocks, CrtJob, Error, Op, PublicJob};

/// The outcome of an operation that was offered to the GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offloaded {
    /// GPUs computed all items; the caller took every block.
    Done,
    /// No GPU has the operation, or the CPU finishes first. No block was asked for.
    NotHere,
    /// A GPU failed on the way, and the CPU may finish. Blocks that the caller took do not count.
    /// [`Engine::faults`] says why.
    Failed,
}

impl Engine {
    /// `c^d mod n` by the Chinese remainder theorem, checked with the public exponent, from bytes to bytes on
    /// GPUs.
    ///
    /// This is arithmetic for `modmill-rsa`: nothing is padded, and keys are not checked. Small calls of
    /// several threads are computed together.
    pub fn crt_pow(&self, job: &CrtJob<'_>, blocks: &mut (dyn Blocks + Send)) -> Result<Offloaded, Error> {
        let call = self.backends().private_under_way(job.bits, job.count);
        let under_way = CrtJob { count: job.count.max(call.of_all()), ..*job };
        let Some((cuda, plan)) = self.backends().plan_crt(&under_way) else { return Ok(Offloaded::NotHere) };
        let _running = match self.backends().turn_of_private(cuda, job, &call, blocks) {
            Turn::Joined(mut answer) => {
                blocks.take(0..job.count, &mut answer.blocks, &answer.wrong);
                return Ok(Offloaded::Done);
            }
            Turn::Alone(running) => running,
        };
        let run = cuda.crt_pow(&plan, job, blocks);
        let is_done = self.backends().octets_outcome(Op::Pow, job.count, run)?;
        Ok(if is_done { Offloaded::Done } else { Offloaded::Failed })
    }

    /// `x^e mod n` with a short public exponent, from bytes to bytes on GPUs.
    pub fn public_pow(
        &self,
        job: &PublicJob<'_>,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<Offloaded, Error> {
        let Some((cuda, plan)) = self.backends().plan_public(job) else { return Ok(Offloaded::NotHere) };
        let run = cuda.public_pow(&plan, job, blocks);
        let is_done = self.backends().octets_outcome(Op::PowVartime, job.count, run)?;
        Ok(if is_done { Offloaded::Done } else { Offloaded::Failed })
    }

    /// Counts `count` private operations of RSA with moduli of `bits` bits as under way until the value is
    /// dropped. [`Engine::crt_pow`] plans for all that is under way; who computes such operations by other
    /// calls says so here.
    #[must_use]
    pub fn private_under_way(&self, bits: usize, count: usize) -> impl Sized + '_ {
        self.backends().private_under_way(bits, count)
    }

    /// Seconds that kernels of GPUs have computed for this engine so far.
    #[must_use]
    pub fn kernel_seconds(&self) -> f64 {
        self.backends().kernel_seconds()
    }
}
