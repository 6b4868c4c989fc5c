//! Kernels of GPUs, compiled before they are needed.

use crate::Engine;
use modmill_core::{Error, Plan, Request};

/// Compiles the kernels that a request takes on GPUs, and returns its plan. The first batch of such items
/// then starts at once, in this process and in every later one that has the same cache of kernels. There
/// is nothing to compile for a request that the CPU computes.
///
/// # Examples
///
/// ```
/// use modmill::{Engine, Op, Request, warm};
///
/// let plan = warm::plan(&Engine::new()?, &Request::new(Op::Pow, 2048, 100_000))?;
/// println!("{}", plan.path);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn plan(engine: &Engine, request: &Request) -> Result<Plan, Error> {
    let plan = engine.backends().plan(request)?;
    let Some(cuda) = &engine.backends().cuda else { return Ok(plan) };
    cuda.warm(&plan).map_err(Error::from)?;
    // A kernel that had to be compiled before can be chosen now.
    engine.backends().plan(request)
}

/// Compiles the kernels of RSA for batches of `count` items and keys of `bits` bits; returns whether GPUs
/// have such kernels.
///
/// # Examples
///
/// ```
/// use modmill::{Backend, Engine, warm};
///
/// let cpu = Engine::builder().backend(Backend::Cpu).build()?;
/// assert!(!warm::rsa(&cpu, 2048, 1000)?);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn rsa(engine: &Engine, bits: usize, count: usize) -> Result<bool, Error> {
    match &engine.backends().cuda {
        Some(cuda) => cuda.warm_rsa(bits, count).map_err(Error::from),
        None => Ok(false),
    }
}

/// Runs `work`. Meanwhile every batch on GPUs waits for the kernels that suit it best, where it would
/// otherwise be computed by others until compiling pays. This warms any operation: run it once, with as
/// many items as it will have.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, Modulus, warm};
///
/// let (engine, modulus) = (Engine::new()?, Modulus::from_hex("fffffffb")?);
/// let numbers = Batch::from_hex(["2", "3"])?;
/// let powers = warm::by(&engine, || engine.pow(&numbers, &numbers, &modulus))?;
/// assert_eq!(powers.as_limbs(), [4, 27]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn by<T>(engine: &Engine, work: impl FnOnce() -> T) -> T {
    match &engine.backends().cuda {
        Some(cuda) => cuda.warm_by(work),
        None => work(),
    }
}
