//! Operations of RSA as a whole, for GPUs that have them as one sequence of kernels.

use crate::Engine;
use modmill_core::{Blocks, CrtJob, Error, Op, PublicJob};

/// What became of an operation that was offered to the GPUs.
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
    /// `c^d mod n` by the Chinese remainder theorem, checked with the public exponent, from octets to octets on GPUs.
    ///
    /// This is arithmetic for `modmill-rsa`: nothing is padded, and keys are not checked.
    pub fn crt_pow(&self, job: &CrtJob<'_>, blocks: &mut (dyn Blocks + Send)) -> Result<Offloaded, Error> {
        let Some((cuda, plan)) = self.backends.plan_crt(job) else { return Ok(Offloaded::NotHere) };
        let run = cuda.crt_pow(&plan, job, blocks);
        let is_done = self.backends.octets_outcome(Op::Pow, job.count, run)?;
        Ok(if is_done { Offloaded::Done } else { Offloaded::Failed })
    }

    /// `x^e mod n` with a short public exponent, from octets to octets on GPUs.
    pub fn public_pow(
        &self,
        job: &PublicJob<'_>,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<Offloaded, Error> {
        let Some((cuda, plan)) = self.backends.plan_public(job) else { return Ok(Offloaded::NotHere) };
        let run = cuda.public_pow(&plan, job, blocks);
        let is_done = self.backends.octets_outcome(Op::PowVartime, job.count, run)?;
        Ok(if is_done { Offloaded::Done } else { Offloaded::Failed })
    }

    /// Seconds that kernels of GPUs have computed for this engine so far.
    #[must_use]
    pub fn kernel_seconds(&self) -> f64 {
        self.backends.kernel_seconds()
    }
}
