//! Operations of RSA without padding and without checks of the keys, for schemes that are built on them:
//! powers as one sequence of kernels, from bytes to bytes, where GPUs have them.

use crate::Engine;
use crate::callers::small::Turn;
use crate::gpu::{CrtPlan, Cuda, PublicPlan};
use modmill_core::{Error, Op, Plan, Request};

pub use modmill_core::{Blocks, CrtJob, CrtKey, PerItem, PublicJob};

/// `c^d mod n` by the Chinese remainder theorem, checked with the public exponent, from bytes to bytes on
/// GPUs.
///
/// This is arithmetic for `modmill-rsa`: nothing is padded, and keys are not checked. Small calls of
/// several threads are computed together.
///
/// Returns whether GPUs computed all items. If the engine's plan is another, no block is asked for. If a GPU
/// fails on the way and the CPU may finish, blocks that the caller took do not count, and [`Engine::faults`]
/// says why.
pub fn crt_pow(engine: &Engine, job: &CrtJob<'_>, blocks: &mut (dyn Blocks + Send)) -> Result<bool, Error> {
    let call = engine.backends().private_under_way(job.bits, job.count);
    let under_way = CrtJob { count: job.count.max(call.of_all()), ..*job };
    let found = engine.backends().gpus_for(&Request::of_crt(&under_way));
    let Some((cuda, plan)) = found.and_then(with_recipe::<CrtPlan>) else {
        return Ok(false);
    };
    let _running = match engine.backends().turn_of_private(cuda, job, &call, blocks) {
        Turn::Joined(mut answer) => {
            blocks.take(0..job.count, &mut answer.blocks, &answer.wrong);
            return Ok(true);
        }
        Turn::Alone(running) => running,
    };
    let run = cuda.crt_pow(&plan, job, blocks);
    engine.backends().octets_outcome(Op::Pow, job.count, run)
}

/// `x^e mod n` with a short public exponent, from bytes to bytes on GPUs. Returns whether GPUs computed all
/// items, as [`crt_pow`] does.
pub fn public_pow(
    engine: &Engine,
    job: &PublicJob<'_>,
    blocks: &mut (dyn Blocks + Send),
) -> Result<bool, Error> {
    let found = engine.backends().gpus_for(&Request::of_public(job));
    let Some((cuda, plan)) = found.and_then(with_recipe::<PublicPlan>) else {
        return Ok(false);
    };
    let run = cuda.public_pow(&plan, job, blocks);
    engine.backends().octets_outcome(Op::PowVartime, job.count, run)
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
