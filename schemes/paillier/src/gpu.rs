//! The choice between a GPU and the host for the formulas of this crate.

use crate::Error;
use modmill::{Backend, Device, Engine, Modulus, Op, Request};

/// The GPU that computes `count` powers with exponents of `exponent_bits` bits, if there is one alone.
/// Several GPUs share the items of every operation, and the host joins their answers.
pub(crate) fn gpu_for<'e>(
    engine: &'e Engine,
    modulus: &Modulus,
    exponent_bits: usize,
    count: usize,
) -> Result<Option<Engine<Device<'e>>>, Error> {
    if engine.cuda().is_none_or(|cuda| cuda.devices().count() != 1) {
        return Ok(None);
    }
    let request = Request::new(Op::Pow, modulus.bits(), count).one_modulus().exponents_of(exponent_bits);
    Ok((engine.plan(&request)?.backend() == Backend::Cuda).then(|| engine.on_device()))
}

/// Whether the host may try again what a GPU could not do.
pub(crate) fn is_of_device(error: &Error) -> bool {
    matches!(error, Error::Engine(modmill::Error::Device(_) | modmill::Error::OutOfMemory { .. }))
}
