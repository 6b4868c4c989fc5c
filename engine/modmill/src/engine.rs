//! The engine: its start, its plans, full products, and what all operations have in common.

use crate::backends::Backends;
use crate::config::{EngineBuilder, EngineConfig};
use crate::on_host::OnHost;
use crate::work::Work;
use modmill_core::{
    Batch, Error, ItemError, Op, Operand, Path, Plan, Product, Request, TRANSFORM_MAX_BITS, Watch,
};
use modmill_cuda::Cuda;
use std::sync::Arc;

/// Batch modular arithmetic on this machine.
///
/// An engine owns its worker threads and its devices; make one and share it (`&Engine` is `Sync`). Small batches that
/// several threads submit at the same time are computed together where that is faster.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine};
///
/// let engine = Engine::new()?;
/// let bases = Batch::from_hex(["3", "deadbeef"])?;
/// let exponents = Batch::from_hex(["ffff", "0"])?;
/// let moduli = Batch::from_hex(["fffffffb", "7"])?;
/// let powers = engine.pow(&bases, &exponents, &moduli)?;
/// assert_eq!(powers.to_hex(1), "1");
/// # Ok::<(), modmill::Error>(())
/// ```
pub struct Engine {
    pub(crate) backends: Arc<Backends>,
    pub(crate) watch: Option<Arc<Watch>>,
}

impl EngineBuilder {
    /// Starts the engine.
    ///
    /// `MODMILL_BACKEND` and `MODMILL_CPU` in the environment are honoured. An unknown value, or one that this machine
    /// does not have, is an error.
    pub fn build(self) -> Result<Engine, Error> {
        Engine::start(self.config)
    }
}

impl Engine {
    /// An engine on the best this machine has.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// An engine with some things fixed.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Backend, Engine, Family, Isa};
    ///
    /// let engine = Engine::builder()
    ///     .backend(Backend::Cpu)
    ///     .isa(Isa::Portable)
    ///     .family(Family::Row)
    ///     .threads(2)
    ///     .build()?;
    /// assert_eq!(engine.threads(), 2);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    pub(crate) fn start(config: EngineConfig) -> Result<Self, Error> {
        Ok(Self { backends: Arc::new(Backends::start(config)?), watch: None })
    }

    /// How a batch of `count` items of `bits` bits is computed, and why. Every item has its own modulus, and exponents
    /// are as long as the modulus; [`Engine::plan`] takes any other request.
    ///
    /// ```
    /// use modmill::{Engine, Op};
    ///
    /// let engine = Engine::new()?;
    /// println!("{}", engine.explain(Op::Pow, 2048, 10_000)?);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn explain(&self, op: Op, bits: usize, count: usize) -> Result<Plan, Error> {
        self.plan(&Request::new(op, bits, count))
    }

    /// How a request is computed, and why. Calls run this very plan, unless other threads have small calls of the same
    /// shape under way: then the plan is made for the items of all.
    ///
    /// ```
    /// use modmill::{Engine, Op, Request};
    ///
    /// let engine = Engine::new()?;
    /// let verify = Request::new(Op::PowVartime, 2048, 10_000).one_modulus().public_exponent(&[65_537]);
    /// assert_eq!(engine.plan(&verify)?.window, Some(1));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn plan(&self, request: &Request) -> Result<Plan, Error> {
        self.backends.explain(request)
    }

    /// Worker threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.backends.cpu.threads()
    }

    /// Every path this engine may choose, slowest kind first.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::Engine;
    ///
    /// let names: Vec<String> = Engine::new()?.paths().iter().map(ToString::to_string).collect();
    /// assert!(names.contains(&"portable/row".to_owned()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    #[must_use]
    pub fn paths(&self) -> Vec<Path> {
        self.backends.paths()
    }

    /// The GPUs, if it uses any.
    #[must_use]
    pub fn cuda(&self) -> Option<&Cuda> {
        self.backends.cuda.as_ref()
    }

    /// What went wrong with devices without costing an answer, in order: why no GPU is used, and what
    /// the CPU had to finish.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.backends.faults()
    }

    /// Full products `a b`, as wide as both factors together.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let a = Batch::from_hex(["ffff", "10"])?;
    /// let products = Engine::new()?.mul(&a, a.shared(0))?;
    /// assert_eq!((products.to_hex(0), products.to_hex(1)), ("fffe0001".into(), "ffff0".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn mul<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Batch, Error> {
        let near = self.backends.near(a.into(), OnHost::Given(b.into()), None)?;
        self.multiply(&product(near.a.operand(), Some(near.b.operand()))?)
    }

    /// Full squares `a^2`, twice as wide.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let squares = Engine::new()?.square(&Batch::from_hex(["ffff", "10"])?)?;
    /// assert_eq!((squares.bits(), squares.to_hex(0), squares.to_hex(1)), (32, "fffe0001".into(), "100".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn square<'a>(&self, a: impl Into<Operand<'a>>) -> Result<Batch, Error> {
        let a = a.into();
        let near = self.backends.near(a, OnHost::Given(a), None)?;
        self.multiply(&product(near.a.operand(), None)?)
    }

    pub(crate) fn cpu(&self) -> &modmill_cpu::Cpu {
        &self.backends.cpu
    }

    /// The multiplier of long numbers on this engine's instruction set.
    pub(crate) fn multiplier(&self) -> modmill_cpu::long::Multiplier {
        self.backends.cpu.multiplier()
    }

    /// Runs `work` on this engine's threads, where rayon's parallel iterators share it out.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::Engine;
    ///
    /// let engine = Engine::builder().threads(2).build()?;
    /// assert_eq!(engine.install(|| (1..=10).sum::<u32>()), 55);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.backends.cpu.install(work)
    }

    fn multiply(&self, product: &Product<'_>) -> Result<Batch, Error> {
        match product.is_zero() {
            true => Batch::try_zeros(product.bits(), product.count),
            false => self.backends.compute(Work::Product(product)),
        }
    }
}

/// Full products of `a` and `b`, or squares of `a` where there is no `b`.
pub(crate) fn product<'a>(a: Operand<'a>, b: Option<Operand<'a>>) -> Result<Product<'a>, Error> {
    let second = b.unwrap_or(a);
    let count = common_length(&[("a", a.len()), ("b", second.len())])?;
    check_huge_widths(&[("a", a.bits()), ("b", second.bits())])?;
    Ok(Product { a, b, count })
}

/// The answers, or an error that carries them beside the failed items.
pub(crate) fn finish(answers: Batch, failed: Vec<ItemError>) -> Result<Batch, Error> {
    if failed.is_empty() { Ok(answers) } else { Err(Error::items(answers, failed)) }
}

/// The number of items that all operands agree on; one if all are shared.
pub(crate) fn common_length(operands: &[(&'static str, Option<usize>)]) -> Result<usize, Error> {
    let mut common = None;
    for &(what, len) in operands {
        match (common, len) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(Error::LengthMismatch { what, expected, found });
            }
            (None, Some(_)) => common = len,
            _ => {}
        }
    }
    Ok(common.unwrap_or(1))
}

/// No number is longer than transforms take.
pub(crate) fn check_huge_widths(operands: &[(&'static str, usize)]) -> Result<(), Error> {
    match operands.iter().find(|(_, bits)| *bits > TRANSFORM_MAX_BITS) {
        Some(&(what, bits)) => Err(Error::TooLong { what, bits, limit: TRANSFORM_MAX_BITS }),
        None => Ok(()),
    }
}
