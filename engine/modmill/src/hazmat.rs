//! Operations of RSA without padding and without checks of the keys, for schemes that are built on them:
//! powers as one sequence of kernels, from bytes to bytes, where GPUs have them.

use crate::Engine;
use crate::callers::small::Turn;
use modmill_core::{Answers, Call, Error, Request};

pub use modmill_core::{Blocks, CrtModulus, CrtPowers, PerItem, PublicPowers};

/// `c^d mod n` by the Chinese remainder theorem, checked with the public exponent, from bytes to bytes on
/// GPUs.
///
/// This is arithmetic for `modmill-rsa`: nothing is padded, and keys are not checked. Small calls of
/// several threads are computed together.
///
/// Returns whether GPUs computed all items. If the engine's plan is another, no block is asked for. If a GPU
/// fails on the way and the CPU may finish, blocks that the caller took do not count, and [`Engine::faults`]
/// says why.
pub fn crt_pow<'a>(
    engine: &Engine,
    powers: &'a CrtPowers<'a>,
    blocks: &mut (dyn Blocks + Send),
) -> Result<bool, Error> {
    let backends = engine.backends();
    let call = backends.private_under_way(powers.bits, powers.count);
    let request = Request { count: powers.count.max(call.of_all()), ..Request::of_crt(powers) };
    let Some((cuda, mut plan)) = backends.gpus_for(&request) else { return Ok(false) };
    let _running = match backends.turn_of_private(cuda, powers, &call, blocks) {
        Turn::Joined(mut answer) => {
            blocks.take(0..powers.count, &mut answer.blocks, &answer.wrong);
            return Ok(true);
        }
        Turn::Alone(running) => running,
    };
    // The recipe is for all calls under way, and this call has its own items.
    plan.request.count = powers.count;
    backends.run_on_gpus(&plan, Call::CrtPow(powers), Answers::Blocks(blocks))
}

/// `x^e mod n` with a short public exponent, from bytes to bytes on GPUs. Returns whether GPUs computed all
/// items, as [`crt_pow`] does.
pub fn public_pow<'a>(
    engine: &Engine,
    powers: &'a PublicPowers<'a>,
    blocks: &mut (dyn Blocks + Send),
) -> Result<bool, Error> {
    let Some((_, plan)) = engine.backends().gpus_for(&Request::of_public(powers)) else { return Ok(false) };
    engine.backends().run_on_gpus(&plan, Call::PublicPow(powers), Answers::Blocks(blocks))
}

/// Counts `count` private operations of RSA with moduli of `bits` bits as under way until the value is
/// dropped. [`crt_pow`] plans for all that is under way; who computes such operations by other
/// calls says so here.
#[must_use]
pub fn private_under_way(engine: &Engine, bits: usize, count: usize) -> impl Sized + '_ {
    engine.backends().private_under_way(bits, count)
}
