//! The engine: its start, its plans, full products, and what all operations have in common.

use crate::backends::Backends;
use crate::config::{EngineBuilder, EngineConfig};
use crate::gpu::Cuda;
use modmill_core::{Batch, Error, ItemError, Path, Plan, Request, TRANSFORM_MAX_BITS, Watch};
use std::sync::Arc;

/// Batch modular arithmetic on this machine.
///
/// `P` is the [`Place`](crate::Place) of the answers: a new batch, unless [`Engine::to`] or
/// [`Engine::on_device`] say otherwise. Every operation is there at every place.
///
/// An engine owns its worker threads and its devices; make one and share it (`&Engine` is `Sync`). Small
/// batches that several threads submit at the same time are computed together where that is faster.
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
///
/// # Operations
///
/// | operation | computes | time depends on |
/// |---|---|---|
/// | [`pow`](Engine::pow) | `base^exponent mod N` | declared widths; [`Public`](crate::Public) exponents |
/// | [`fixed_base`](Engine::fixed_base), [`pow_fixed_base`](Engine::pow_fixed_base) | powers of one base by many exponents, with a table instead of squarings | as `pow` |
/// | [`multi_pow`](Engine::multi_pow) | products of several powers, with the squarings of one | as `pow` |
/// | [`product_mod`](Engine::product_mod), [`products_mod`](Engine::products_mod), [`sum_mod`](Engine::sum_mod), [`sum_products`](Engine::sum_products) | a column, or groups of it, multiplied or added up modulo one number | declared widths |
/// | [`product_of_powers`](Engine::product_of_powers) | the product of `base^exponent` over a column | as `pow` |
/// | [`random::below`](crate::random::below), [`random::nonzero_below`](crate::random::nonzero_below), [`random::bits`](crate::random::bits) | random numbers by the system's generator | how many were drawn |
/// | [`mul_mod`](Engine::mul_mod), [`square_mod`](Engine::square_mod) | `a b mod N`, `a^2 mod N` | declared widths |
/// | [`reduce`](Engine::reduce) | `a mod N` | declared widths |
/// | [`div`](Engine::div), [`div_rem`](Engine::div_rem) | `floor(a / N)`, with the remainder | declared widths |
/// | [`integers::div_exact`](crate::integers::div_exact) | `a / N` where N divides a | declared widths |
/// | [`integers::add_mod`](crate::integers::add_mod), [`integers::sub_mod`](crate::integers::sub_mod) | `a + b mod N`, `a - b mod N` | declared widths |
/// | [`integers::isqrt`](crate::integers::isqrt), [`integers::sqrt_rem`](crate::integers::sqrt_rem) | `floor(sqrt(a))`, with the remainder | declared widths |
/// | [`inv`](Engine::inv) | `a^-1 mod N` | declared widths up to 32768 bits, values above |
/// | [`mul`](Engine::mul), [`square`](Engine::square) | full products and squares | declared widths |
/// | [`prepare`](Engine::prepare), [`mul_prepared`](Engine::mul_prepared) | full products with one factor transformed once | declared widths |
/// | [`gcd`](Engine::gcd), [`xgcd`](Engine::xgcd) | greatest common divisors, with cofactors | values |
/// | [`integers::crt`](crate::integers::crt) | the number with given remainders modulo two numbers | as `inv` |
/// | [`integers::lcm`](crate::integers::lcm), [`integers::is_square`](crate::integers::is_square) | least common multiples; squares or not | values |
/// | [`jacobi`](Engine::jacobi) | Jacobi symbols | values |
/// | [`trees::product`](crate::trees::product), [`trees::batch_gcd`](crate::trees::batch_gcd), [`trees::crt`](crate::trees::crt), [`trees::ProductTree`](crate::trees::ProductTree) | products and remainders of a whole column, and the factors that its numbers share | public numbers |
/// | [`primality::miller_rabin`](crate::primality::miller_rabin), [`primality::is_probable_prime`](crate::primality::is_probable_prime) | Miller-Rabin rounds | the verdicts, and how often 2 divides n - 1 |
/// | [`primality::strong_lucas`](crate::primality::strong_lucas), [`primality::baillie_psw`](crate::primality::baillie_psw) | the strong Lucas test, alone and with a Miller-Rabin round | values |
/// | [`primality::is_mersenne_prime`](crate::primality::is_mersenne_prime), [`primality::is_fermat_prime`](crate::primality::is_fermat_prime) | Lucas-Lehmer and Pepin tests | public numbers |
/// | [`add`](Engine::add), [`sub`](Engine::sub), [`shift_left`](Engine::shift_left), [`shift_right`](Engine::shift_right), [`less`](Engine::less), [`equal`](Engine::equal), [`select`](Engine::select), [`gather`](Engine::gather) | small steps between products | declared widths; indices are public |
///
/// | place of operands and answers | by |
/// |---|---|
/// | answers in a batch of the caller's | [`to`](Engine::to), and then an operation |
/// | memory that GPUs copy from and to by themselves | [`pinned`](Engine::pinned), [`pin`](Engine::pin) |
/// | a batch that stays on a GPU ([`Resident`](crate::Resident)) | [`upload`](Engine::upload), [`upload_moduli`](Engine::upload_moduli) |
/// | answers that stay on a GPU | [`on_device`](Engine::on_device), and then an operation |
/// | numbers that stay in Montgomery form between products | [`Residues`](crate::Residues) |
///
/// [`Engine::ask`] and [`Engine::plan`] say which path a call takes, and why.
///
/// * An operand is a batch with a number for each item, or one number for all (`batch.shared(0)`,
///   `&Modulus`). Nothing is copied.
/// * Operands may be on the host, in pinned memory and on a GPU, in one call. A call computes where its
///   operands are. [`Resident::download`](crate::Resident::download) brings numbers home, and
///   [`Engine::memory`] says what they take.
/// * A [`Modulus`](crate::Modulus) keeps the constants computed for it from call to call, also where each
///   item has its own (`&[&Modulus]`).
/// * Numbers come from hexadecimal text, big-endian bytes or 64-bit limbs. They may have up to 2^34 bits.
///   Moduli are at least 1; everything is 0 modulo 1, and 0^0 is 1 otherwise. Bases and factors may be larger
///   than the modulus.
/// * Answers are canonical, `0 <= r < N`, and stand in the order of the items.
/// * An item without an answer (modulus 0, or no inverse) does not lose the others:
///   [`Error::Items`](crate::Error::Items) names the failed items and holds all other answers.
pub struct Engine<P = Host> {
    pub(crate) place: P,
}

/// The place of an engine's own answers: every answer is a new [`Batch`].
pub struct Host {
    pub(crate) backends: Arc<Backends>,
    pub(crate) watch: Option<Arc<Watch>>,
}

impl EngineBuilder {
    /// Starts the engine.
    ///
    /// `MODMILL_BACKEND` and `MODMILL_CPU` in the environment are honoured. An unknown value, or one that
    /// this machine does not have, is an error.
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
        Ok(Self { place: Host { backends: Arc::new(Backends::start(config)?), watch: None } })
    }

    /// How a request is computed, and why. Calls run this very plan, unless other threads have small calls of
    /// the same shape under way: then the plan is made for the items of all. [`Engine::ask`] finds the plan
    /// of a call.
    ///
    /// ```
    /// use modmill::{Engine, Op, Request};
    ///
    /// let engine = Engine::new()?;
    /// println!("{}", engine.plan(&Request::new(Op::Pow, 2048, 10_000))?);
    /// let verify = Request::new(Op::PowVartime, 2048, 10_000).one_modulus().public_exponent(&[65_537]);
    /// assert_eq!(engine.plan(&verify)?.window, Some(1));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn plan(&self, request: &Request) -> Result<Plan, Error> {
        self.backends().explain(request)
    }

    /// Worker threads; one if the caller's thread computes.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.backends().cpu.threads()
    }

    /// Every path this engine may choose, slowest kind first. Division steps of inverses, divisors and
    /// symbols run in the vectors of these paths' instruction sets, whatever the family, and quotients and
    /// roots in their scalar code.
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
        self.backends().paths()
    }

    /// The GPUs, if it uses any.
    #[must_use]
    pub fn cuda(&self) -> Option<&Cuda> {
        self.backends().cuda.as_deref()
    }

    /// The faults of devices that cost no answer, in order: why no GPU is used, and what
    /// the CPU had to finish.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.backends().faults()
    }

    pub(crate) fn backends(&self) -> &Backends {
        &self.place.backends
    }

    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.place.watch.as_deref()
    }

    pub(crate) fn cpu(&self) -> &modmill_cpu::Cpu {
        &self.backends().cpu
    }

    /// The multiplier of long numbers on this engine's instruction set.
    pub(crate) fn multiplier(&self) -> modmill_cpu::long::Multiplier {
        self.backends().cpu.multiplier()
    }

    /// This engine, with the same devices and faults, for whoever has threads already: the CPU computes
    /// every call on its caller's thread. Plans count with one thread. Calls of several threads run side by
    /// side on the CPU, and none waits for another. GPUs are served by threads of their own, which compute
    /// small calls of several threads together. Threads that end at once clear batches of more than 2 MiB
    /// when they are dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::builder().threads(2).build()?;
    /// let here = engine.here();
    /// assert_eq!((engine.threads(), here.threads()), (2, 1));
    /// let (numbers, modulus) = (Batch::from_hex(["2", "3"])?, Modulus::from_hex("fffffffb")?);
    /// assert_eq!(here.square_mod(&numbers, &modulus)?.as_limbs(), [4, 9]);
    /// // The caller's thread does the work itself.
    /// let thread = || std::thread::current().id();
    /// assert_eq!(here.install(thread), thread());
    /// # Ok::<(), modmill::Error>(())
    /// ```
    #[must_use]
    pub fn here(&self) -> Self {
        Self { place: Host { backends: Arc::new(self.backends().here()), watch: self.place.watch.clone() } }
    }

    /// Runs `work` on this engine's threads, which take part in what it shares by
    /// [`Share`](crate::threads::Share). Rayon's own functions share it out as well, except on an engine that
    /// computes on its caller's thread ([`Engine::here`]): there they start threads of rayon's.
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
        self.backends().cpu.install(work)
    }
}

/// An engine with the threads and devices of another, on one backend: without GPUs, or with GPUs for
/// everything that they have kernels for. An error if there is no GPU.
///
/// ```
/// use modmill::{Backend, Engine, limited_to, only_backend};
///
/// let engine = Engine::new()?;
/// assert_eq!(only_backend(&limited_to(&engine, Backend::Cpu)?), Some(Backend::Cpu));
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn limited_to(engine: &Engine, backend: modmill_core::Backend) -> Result<Engine, Error> {
    let backends = Arc::new(engine.backends().limited_to(backend)?);
    Ok(Engine { place: Host { backends, watch: engine.place.watch.clone() } })
}

/// The backend that computes whatever it can, if one was asked for or an engine has no other.
#[must_use]
pub fn only_backend(engine: &Engine) -> Option<modmill_core::Backend> {
    engine.backends().only()
}

/// Seconds that kernels of GPUs have computed for an engine so far.
///
/// ```
/// use modmill::cuda::kernel_seconds;
/// use modmill::{Backend, Engine};
///
/// let engine = Engine::builder().backend(Backend::Cpu).build()?;
/// assert_eq!(kernel_seconds(&engine), 0.0);
/// # Ok::<(), modmill::Error>(())
/// ```
#[must_use]
pub fn kernel_seconds(engine: &Engine) -> f64 {
    engine.backends().kernel_seconds()
}

/// The answers, or an error that carries both them and the failed items.
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
