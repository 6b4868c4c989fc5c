//! Operations of RSA as a whole, for GPUs that have them as one sequence of kernels.

use crate::Engine;
use crate::backends::Shape;
use modmill_core::{Blocks, CrtJob, Error, Op, PublicJob, limbs};

impl Engine {
    /// `c^d mod n` by the Chinese remainder theorem, checked with the public exponent, from octets to octets on
    /// GPUs. False if it has to be done step by step: no GPU has it or is done before the CPU, or one failed and
    /// the CPU may finish, as [`Engine::faults`] says; blocks may have been taken then.
    ///
    /// This is arithmetic for `modmill-rsa`; nothing is padded and keys are not looked at.
    pub fn crt_pow(&self, job: &CrtJob<'_>, blocks: &mut dyn Blocks) -> Result<bool, Error> {
        let shape = Shape {
            op: if job.blinded { Op::PowVartime } else { Op::Pow },
            bits: 64 * job.prime_limbs,
            count: 2 * job.count,
            exponent_bits: job.exponent_bits,
        };
        Ok(self.backends.on_gpus(shape, |cuda| done(cuda.crt_pow(job, blocks)))?.unwrap_or(false))
    }

    /// `x^e mod n` with a short public exponent, likewise.
    pub fn public_pow(&self, job: &PublicJob<'_>, blocks: &mut dyn Blocks) -> Result<bool, Error> {
        let exponent_bits = limbs::bit_length(job.exponent);
        let shape = Shape { op: Op::PowVartime, bits: job.bits, count: job.count, exponent_bits };
        Ok(self.backends.on_gpus(shape, |cuda| done(cuda.public_pow(job, blocks)))?.unwrap_or(false))
    }

    /// Seconds that kernels have computed for this engine so far.
    #[must_use]
    pub fn kernel_seconds(&self) -> f64 {
        self.backends.kernel_seconds()
    }
}

/// Whether it was done; that there is no kernel for it is no failure.
fn done(seconds: modmill_cuda::Result<f64>) -> modmill_cuda::Result<(bool, f64)> {
    match seconds {
        Err(modmill_cuda::Error::NoKernel { .. }) => Ok((false, 0.0)),
        seconds => seconds.map(|seconds| (true, seconds)),
    }
}
