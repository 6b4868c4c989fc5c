//! The engine: checks a call, sorts its items, hands them to a backend, and puts the answers
//! back in order.

use crate::backends::{Backends, Wishes};
use crate::even::OddParts;
use crate::sort::{Sorted, sort};
use modmill_core::{
    Backend, Batch, Error, Family, HUGE_BITS, Isa, ItemError, ItemErrorKind, Job, Moduli, Op, Operand, Path,
    Plan, limbs,
};
use modmill_cpu::power_of_two as two;
use modmill_cuda::{Cuda, Device};
use rayon::prelude::*;

/// Batch modular arithmetic on this machine.
///
/// An engine owns its worker threads and its devices; make one and share it (`&Engine` is `Sync`).
pub struct Engine {
    pub(crate) backends: Backends,
}

/// Settings of an [`Engine`]; what is not set is chosen by measurement.
#[derive(Debug, Clone, Default)]
pub struct EngineBuilder {
    wishes: Wishes,
}

impl EngineBuilder {
    /// Use this backend; by default batches go where they are done first. Operations that a GPU does not
    /// have run on the CPU all the same.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.wishes.backend = Some(backend);
        self
    }

    /// Let batches go where they are done first, whatever `MODMILL_BACKEND` says.
    #[must_use]
    pub fn any_backend(mut self) -> Self {
        self.wishes.backend = None;
        self.wishes.any_backend = true;
        self
    }

    /// Use no more than this instruction set, on the CPU (`MODMILL_CPU` does the same from outside).
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.wishes.cpu.isa = Some(isa);
        self
    }

    /// Use this family of algorithms for everything; an error if nothing here has it.
    #[must_use]
    pub fn family(mut self, family: Family) -> Self {
        self.wishes.cpu.family = Some(family);
        self.wishes.cuda.family = Some(family);
        self
    }

    /// Use this path for everything it has.
    #[must_use]
    pub fn path(self, path: Path) -> Self {
        let builder = self.backend(path.backend).family(path.family);
        match path.isa {
            Some(isa) => builder.isa(isa),
            None => builder,
        }
    }

    /// Worker threads; all cores by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.wishes.cpu.threads = Some(threads);
        self
    }

    /// Use these devices instead of the GPUs of this machine.
    #[must_use]
    pub fn devices(mut self, devices: Vec<Device>) -> Self {
        self.wishes.devices = Some(devices);
        self
    }

    /// Settings of the GPUs' kernels.
    #[must_use]
    pub fn cuda(mut self, settings: modmill_cuda::Settings) -> Self {
        self.wishes.cuda = modmill_cuda::Settings { family: self.wishes.cuda.family, ..settings };
        self
    }

    /// Whether the CPU finishes what a device could not; it does unless told otherwise.
    #[must_use]
    pub fn cpu_finishes(mut self, finishes: bool) -> Self {
        self.wishes.no_fallback = !finishes;
        self
    }

    /// Starts the engine.
    ///
    /// `MODMILL_BACKEND` and `MODMILL_CPU` in the environment are honoured; a value that is not
    /// known, or not to be had here, is an error.
    pub fn build(self) -> Result<Engine, Error> {
        Ok(Engine { backends: Backends::start(self.wishes)? })
    }
}

/// A result modulo the odd part of N; the result modulo a power of two: the two halves of an
/// operation.
struct Halves<Odd, Two> {
    odd: Odd,
    two: Two,
}

impl Engine {
    /// An engine on the best this machine has.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// An engine with some things fixed.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// How a batch of `count` items of `bits` bits, a modulus each, will be computed, and why.
    /// Exponents are taken to be as long as the modulus.
    #[must_use]
    pub fn explain(&self, op: Op, bits: usize, count: usize) -> Plan {
        self.backends.plan(op, bits, count, false)
    }

    /// The same for a batch whose items have one modulus.
    #[must_use]
    pub fn explain_one_modulus(&self, op: Op, bits: usize, count: usize) -> Plan {
        self.backends.plan(op, bits, count, true)
    }

    /// Worker threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.backends.cpu.threads()
    }

    /// Every path this engine may choose, slowest kind first.
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
    pub fn mul<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Batch, Error> {
        let (a, b) = (a.into(), b.into());
        let count = common_length(&[("a", a.len()), ("b", b.len())])?;
        check_huge_widths(&[("a", a.bits()), ("b", b.bits())])?;
        if count == 0 || a.bits() == 0 || b.bits() == 0 {
            return Ok(Batch::zeros(a.bits() + b.bits(), count));
        }
        self.backends.mul(a, b, count)
    }

    /// Full squares `a^2`, twice as wide.
    pub fn square<'a>(&self, a: impl Into<Operand<'a>>) -> Result<Batch, Error> {
        let a = a.into();
        check_huge_widths(&[("a", a.bits())])?;
        let count = a.len().unwrap_or(1);
        if count == 0 || a.bits() == 0 {
            return Ok(Batch::zeros(2 * a.bits(), count));
        }
        self.backends.square(a, count)
    }

    /// `a b mod N`.
    pub fn mul_mod<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        b: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Batch, Error> {
        let (a, b) = (a.into(), b.into());
        self.modular(
            ("a", a),
            ("b", b),
            moduli.into(),
            &Halves {
                odd: |job: &Job<'_>| self.backends.run(Op::MulMod, job),
                two: |item, k| two::mul(&two::reduce(a.get(item), k), &two::reduce(b.get(item), k), k),
            },
        )
    }

    /// `a^2 mod N`.
    pub fn square_mod<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Batch, Error> {
        let a = a.into();
        self.modular(
            ("a", a),
            ("a", a),
            moduli.into(),
            &Halves {
                odd: |job: &Job<'_>| self.backends.run(Op::SquareMod, job),
                two: |item, k| {
                    let residue = two::reduce(a.get(item), k);
                    two::mul(&residue, &residue, k)
                },
            },
        )
    }

    /// `base^exponent mod N`, constant-time in bases and exponents: time depends on the declared
    /// widths and on the moduli's lengths and parity alone.
    pub fn pow<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Batch, Error> {
        let (bases, exponents) = (bases.into(), exponents.into());
        self.modular(
            ("bases", bases),
            ("exponents", exponents),
            moduli.into(),
            &Halves {
                odd: |job: &Job<'_>| self.backends.run(Op::Pow, job),
                two: |item, k| two::pow(bases.get(item), exponents.get(item), exponents.bits(), k),
            },
        )
    }

    /// `base^exponent mod N` for public exponents: leading zeros are skipped, and short exponents
    /// such as 65537 take the short road.
    pub fn pow_vartime<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Batch, Error> {
        let (bases, exponents) = (bases.into(), exponents.into());
        self.modular(
            ("bases", bases),
            ("exponents", exponents),
            moduli.into(),
            &Halves {
                odd: |job: &Job<'_>| self.backends.run(Op::PowVartime, job),
                two: |item, k| {
                    let exponent = exponents.get(item);
                    two::pow(bases.get(item), exponent, limbs::bit_length(exponent), k)
                },
            },
        )
    }

    pub(crate) fn cpu(&self) -> &modmill_cpu::Cpu {
        &self.backends.cpu
    }

    /// The multiplier of long numbers on this engine's instruction set.
    pub(crate) fn multiplier(&self) -> modmill_cpu::long::Multiplier {
        self.backends.cpu.multiplier()
    }

    /// Runs `work` on this engine's threads, where rayon's parallel iterators share it out.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.backends.cpu.install(work)
    }

    /// Runs a modular operation: odd moduli on the backend, even ones as odd part and power of two.
    fn modular<Odd, Two>(
        &self,
        (a_name, a): (&'static str, Operand<'_>),
        (b_name, b): (&'static str, Operand<'_>),
        moduli: Moduli<'_>,
        halves: &Halves<Odd, Two>,
    ) -> Result<Batch, Error>
    where
        Odd: Fn(&Job<'_>) -> Result<Batch, Error> + Sync,
        Two: Fn(usize, usize) -> two::Residue + Sync,
    {
        let count = common_length(&[(a_name, a.len()), (b_name, b.len()), ("moduli", moduli.len())])?;
        check_huge_widths(&[(a_name, a.bits()), (b_name, b.bits()), ("modulus", moduli.bits())])?;
        let sorted = sort(moduli, (0..count).into_par_iter());
        if let Some(group) = sorted.all_of(count) {
            // Nothing to put together.
            return (halves.odd)(&Job { items: &group.items, bits: group.bits, a, b, moduli });
        }
        let mut answers = Batch::zeros(moduli.bits(), count);
        compute_odd(&sorted, a, b, moduli, &halves.odd, &mut answers)?;
        if !sorted.even.is_empty() {
            let odd_parts = OddParts::of(moduli, &sorted.even);
            let odd = odd_parts.moduli();
            let sorted_odd = sort(odd, sorted.even.par_iter().copied());
            compute_odd(&sorted_odd, a, b, odd, &halves.odd, &mut answers)?;
            let stride = answers.stride();
            let joined: Vec<two::Residue> = self.backends.cpu.install(|| {
                let join = |&item: &usize| {
                    let k = limbs::trailing_zeros(moduli.get(item)).unwrap_or(0);
                    two::join(answers.get(item), odd.get(item), &(halves.two)(item, k), k, stride)
                };
                sorted.even.par_iter().map(join).collect()
            });
            for (&item, answer) in sorted.even.iter().zip(joined) {
                answers.get_mut(item).copy_from_slice(&answer);
            }
        }
        let zero_modulus = |index| ItemError { index, kind: ItemErrorKind::ZeroModulus };
        finish(answers, sorted.zero.into_iter().map(zero_modulus).collect())
    }
}

/// Runs the odd groups and puts their answers where they belong.
fn compute_odd(
    sorted: &Sorted,
    a: Operand<'_>,
    b: Operand<'_>,
    moduli: Moduli<'_>,
    run: impl Fn(&Job<'_>) -> Result<Batch, Error>,
    answers: &mut Batch,
) -> Result<(), Error> {
    for group in sorted.odd.values() {
        let done = run(&Job { items: &group.items, bits: group.bits, a, b, moduli })?;
        for (&item, answer) in group.items.iter().zip(done.iter()) {
            answers.get_mut(item)[..answer.len()].copy_from_slice(answer);
        }
    }
    Ok(())
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
    match operands.iter().find(|(_, bits)| *bits > HUGE_BITS) {
        Some(&(what, bits)) => Err(Error::TooLong { what, bits, limit: HUGE_BITS }),
        None => Ok(()),
    }
}
