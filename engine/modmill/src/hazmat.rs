//! Operations of RSA without padding and without checks of the keys, for schemes that are built on them:
//! powers as one sequence of kernels, from bytes to bytes, where GPUs have them.

use crate::Engine;
use crate::callers::small::Turn;
use crate::gpu::{CrtPlan, Cuda, PublicPlan};
use modmill_core::{Error, Op, Plan, Request};

pub use modmill_core::{Blocks, CrtJob, CrtKey, PerItem, PublicJob};

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

/// `c^d mod n` by the Chinese remainder theorem, checked with the public exponent, from bytes to bytes on
/// GPUs.
///
/// This is arithmetic for `modmill-rsa`: nothing is padded, and keys are not checked. Small calls of
/// several threads are computed together.
pub fn crt_pow(
    engine: &Engine,
    job: &CrtJob<'_>,
    blocks: &mut (dyn Blocks + Send),
) -> Result<Offloaded, Error> {
    let call = engine.backends().private_under_way(job.bits, job.count);
    let under_way = CrtJob { count: job.count.max(call.of_all()), ..*job };
    let found = engine.backends().gpus_for(&Request::of_crt(&under_way));
    let Some((cuda, plan)) = found.and_then(with_recipe::<CrtPlan>) else {
        return Ok(Offloaded::NotHere);
    };
    let _running = match engine.backends().turn_of_private(cuda, job, &call, blocks) {
        Turn::Joined(mut answer) => {
            blocks.take(0..job.count, &mut answer.blocks, &answer.wrong);
            return Ok(Offloaded::Done);
        }
        Turn::Alone(running) => running,
    };
    let run = cuda.crt_pow(&plan, job, blocks);
    let is_done = engine.backends().octets_outcome(Op::Pow, job.count, run)?;
    Ok(if is_done { Offloaded::Done } else { Offloaded::Failed })
}

/// `x^e mod n` with a short public exponent, from bytes to bytes on GPUs.
pub fn public_pow(
    engine: &Engine,
    job: &PublicJob<'_>,
    blocks: &mut (dyn Blocks + Send),
) -> Result<Offloaded, Error> {
    let found = engine.backends().gpus_for(&Request::of_public(job));
    let Some((cuda, plan)) = found.and_then(with_recipe::<PublicPlan>) else {
        return Ok(Offloaded::NotHere);
    };
    let run = cuda.public_pow(&plan, job, blocks);
    let is_done = engine.backends().octets_outcome(Op::PowVartime, job.count, run)?;
    Ok(if is_done { Offloaded::Done } else { Offloaded::Failed })
}

/// Counts `count` private operations of RSA with moduli of `bits` bits as under way until the value is
/// dropped. [`crt_pow`] plans for all that is under way; who computes such operations by other
/// calls says so here.
#[must_use]
pub fn private_under_way(engine: &Engine, bits: usize, count: usize) -> impl Sized + '_ {
    engine.backends().private_under_way(bits, count)
}

/// The GPUs with the recipe of their plan.
fn with_recipe<T: Copy + 'static>((cuda, plan): (&Cuda, Plan)) -> Option<(&Cuda, T)> {
    Some((cuda, *plan.recipe.get()?))
}
