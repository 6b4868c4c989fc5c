//! Modular operations: items sorted by their moduli, handed to the backends, and put back in order.

use crate::Engine;
use crate::call::{Call, check_answers};
use crate::engine::{check_huge_widths, common_length, finish};
use crate::even::OddParts;
use crate::near::Near;
use crate::on_host::OnHost;
use crate::place::Place;
use crate::sort::{Group, Sorted, lengths_of_all, sort};
use crate::work::Work;
use modmill_core::{
    Batch, Error, Exponent, ItemError, ItemErrorKind, Job, Moduli, Op, Operand, Resident, Secrecy, Watch,
    limbs,
};
use modmill_cpu::power_of_two as two;
use rayon::prelude::*;

/// A modular operation on `a` and `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modular {
    /// `a b mod N`.
    Multiply,
    /// `a^2 mod N`.
    Square,
    /// `a^b mod N` for secret exponents.
    Power,
    /// `a^b mod N` for public exponents.
    PowerVartime,
}

impl Modular {
    /// Powers by secret or by public exponents.
    pub(crate) fn power(secrecy: Secrecy) -> Self {
        match secrecy {
            Secrecy::Secret => Self::Power,
            Secrecy::Public => Self::PowerVartime,
        }
    }

    fn op(self) -> Op {
        match self {
            Self::Multiply => Op::MulMod,
            Self::Square => Op::SquareMod,
            Self::Power => Op::Pow,
            Self::PowerVartime => Op::PowVartime,
        }
    }

    /// The names of the operands in errors.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Multiply | Self::Square => ["a", "b"],
            Self::Power | Self::PowerVartime => ["bases", "exponents"],
        }
    }

    /// The answer of one item modulo `2^k`.
    fn modulo_power_of_two(self, a: &[u64], b: &[u64], b_bits: usize, k: usize) -> two::Residue {
        match self {
            Self::Multiply => two::mul(&two::reduce(a, k), &two::reduce(b, k), k),
            Self::Square => {
                let residue = two::reduce(a, k);
                two::mul(&residue, &residue, k)
            }
            Self::Power => two::pow(a, b, b_bits, k),
            Self::PowerVartime => two::pow(a, b, limbs::bit_length(b), k),
        }
    }
}

/// The operands of a modular call, with the number of items that they agree on.
#[derive(Clone, Copy)]
struct Operands<'a> {
    operation: Modular,
    a: Operand<'a>,
    b: Operand<'a>,
    moduli: Moduli<'a>,
    count: usize,
}

impl<'a> Operands<'a> {
    fn new(operation: Modular, a: Operand<'a>, b: Operand<'a>, moduli: Moduli<'a>) -> Result<Self, Error> {
        let [a_name, b_name] = operation.names();
        let count = common_length(&[(a_name, a.len()), (b_name, b.len()), ("moduli", moduli.len())])?;
        check_huge_widths(&[(a_name, a.bits()), (b_name, b.bits()), ("modulus", moduli.bits())])?;
        Ok(Self { operation, a, b, moduli, count })
    }

    /// The job of a group of items, with moduli that may be other ones than the call's.
    fn job(&self, group: &'a Group, moduli: Moduli<'a>, watch: Option<&'a Watch>) -> Job<'a> {
        let Group { items, bits, shortest_bits } = group;
        Job { shortest_bits: *shortest_bits, ..Job::new(items, *bits, self.a, self.b, moduli) }
            .watched_by(watch)
    }
}

impl<P: Place> Engine<P> {
    /// `a b mod N`.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Error, ItemErrorKind};
    ///
    /// let engine = Engine::new()?;
    /// let a = Batch::from_hex(["5", "7", "9"])?;
    /// let b = Batch::from_hex(["3", "3", "3"])?;
    /// let moduli = Batch::from_hex(["b", "0", "4"])?;
    /// // The second modulus is zero. The error names that item and keeps the other answers.
    /// let Err(Error::Items(partial)) = engine.mul_mod(&a, &b, &moduli) else { panic!() };
    /// assert_eq!((partial.failed[0].index, partial.failed[0].kind), (1, ItemErrorKind::ZeroModulus));
    /// assert_eq!((partial.answers.to_hex(0), partial.answers.to_hex(2)), ("4".into(), "3".into()));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn mul_mod<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        b: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Call::Modular(Modular::Multiply, a.into(), b.into(), moduli.into()))
    }

    /// `a^2 mod N`.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let modulus = Modulus::from_hex("65")?; // 101
    /// let squares = Engine::new()?.square_mod(&Batch::from_hex(["b", "64"])?, &modulus)?;
    /// assert_eq!((squares.to_hex(0), squares.to_hex(1)), ("14".into(), "1".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn square_mod<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        let a = a.into();
        P::answer(self, &Call::Modular(Modular::Square, a, a, moduli.into()))
    }

    /// `a mod N`.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let remainders = Engine::new()?.reduce(&Batch::from_hex(["ffff", "6"])?, &Modulus::from_hex("7")?)?;
    /// assert_eq!(remainders.as_limbs(), [1, 6]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn reduce<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        self.mul_mod(a, Operand::Shared { bits: 1, value: &[1] }, moduli)
    }

    /// `base^exponent mod N`, constant-time in bases and exponents: time depends on the declared
    /// widths and on the moduli's lengths and parity alone.
    ///
    /// [`Public`](crate::Public) exponents may decide the time: leading zeros are skipped, and short exponents
    /// such as 65537 take the short road. The declared width of exponents on a device counts, because nobody looks
    /// at them.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus, Public};
    ///
    /// let engine = Engine::new()?;
    /// // One base and one modulus for all items, an exponent for each.
    /// let base = Batch::from_hex(["3"])?;
    /// let exponents = Batch::from_hex(["0", "1", "6"])?;
    /// let modulus = Modulus::from_hex("7")?;
    /// let powers = engine.pow(base.shared(0), &exponents, &modulus)?;
    /// assert_eq!(powers.as_limbs(), [1, 3, 1]);
    ///
    /// let exponent = Batch::from_hex(["10001"])?;
    /// let modulus = Modulus::from_hex("ca1")?; // 3233 = 61 * 53
    /// let ciphertexts = engine.pow(&Batch::from_hex(["41"])?, Public(exponent.shared(0)), &modulus)?;
    /// assert_eq!(ciphertexts.to_hex(0), "ae6"); // 65^65537 mod 3233 = 2790
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn pow<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Exponent<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        let exponents = exponents.into();
        let power = Modular::power(exponents.secrecy);
        P::answer(self, &Call::Modular(power, bases.into(), exponents.numbers, moduli.into()))
    }
}

impl Engine {
    /// Runs a modular operation: odd moduli on the backends, even ones as odd part and power of two.
    pub(crate) fn modular(
        &self,
        operation: Modular,
        a: Operand<'_>,
        b: Operand<'_>,
        moduli: Moduli<'_>,
    ) -> Result<Batch, Error> {
        let near = self.near(operation, a, b, moduli)?;
        let call = Operands::new(operation, near.a.operand(), near.b.operand(), near.moduli(moduli))?;
        if let Some(job) = self.whole_job(&call) {
            return self.backends().compute(Work::Job(operation.op(), &job));
        }
        let mut answers = Batch::try_zeros(moduli.bits(), call.count)?;
        let failed = self.assemble(&call, &mut answers)?;
        finish(answers, failed)
    }

    /// Runs a modular operation and leaves the answers on a device.
    pub(crate) fn modular_resident(
        &self,
        operation: Modular,
        a: Operand<'_>,
        b: Operand<'_>,
        moduli: Moduli<'_>,
    ) -> Result<Resident, Error> {
        let near = self.near(operation, a, b, moduli)?;
        let call = Operands::new(operation, near.a.operand(), near.b.operand(), near.moduli(moduli))?;
        if let Some(job) = self.whole_job(&call)
            && let Some(answers) = self.backends().compute_resident(Work::Job(operation.op(), &job))?
        {
            return Ok(answers);
        }
        // Items of several kinds are put together on the host.
        self.upload_answers(self.modular(operation, call.a, call.b, call.moduli)?)
    }

    /// The operands where the engine's backends can take them.
    fn near<'a>(
        &self,
        operation: Modular,
        a: Operand<'a>,
        b: Operand<'a>,
        moduli: Moduli<'a>,
    ) -> Result<Near<'a>, Error> {
        // Kernels and plans depend on the value of an exponent that all items share.
        let is_exponent = matches!(operation, Modular::Power | Modular::PowerVartime);
        let b = match is_exponent && b.is_shared() {
            true => OnHost::of(b)?,
            false => OnHost::Given(b),
        };
        self.backends().near(a, b, Some(moduli))
    }

    /// Runs a modular operation and writes the answers to a batch of the caller's.
    pub(crate) fn modular_into(
        &self,
        operation: Modular,
        a: Operand<'_>,
        b: Operand<'_>,
        moduli: Moduli<'_>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        let near = self.near(operation, a, b, moduli)?;
        let call = Operands::new(operation, near.a.operand(), near.b.operand(), near.moduli(moduli))?;
        check_answers(answers, moduli.bits(), call.count)?;
        if let Some(job) = self.whole_job(&call) {
            return self.backends().compute_into(Work::Job(operation.op(), &job), answers.as_limbs_mut());
        }
        answers.as_limbs_mut().fill(0);
        let failed = self.assemble(&call, answers)?;
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::items(answers.try_clone()?, failed)),
        }
    }

    /// The job of all items of a call, if backends can compute them together.
    fn whole_job<'a>(&'a self, call: &Operands<'a>) -> Option<Job<'a>> {
        let lengths = lengths_of_all(self.cpu(), call.moduli, call.count)?;
        let job = Job::new(0..call.count, lengths.longest, call.a, call.b, call.moduli);
        Some(Job { shortest_bits: lengths.shortest, ..job }.watched_by(self.watch()))
    }

    /// Computes the items of a call in groups, and puts their answers into a batch of zeros; returns the
    /// failed items.
    fn assemble(&self, call: &Operands<'_>, answers: &mut Batch) -> Result<Vec<ItemError>, Error> {
        let (a, b) = (OnHost::of(call.a)?, OnHost::of(call.b)?);
        let call = &Operands { a: a.operand(), b: b.operand(), moduli: call.moduli.on_host(), ..*call };
        let &Operands { operation, a, b, moduli, count } = call;
        let sorted = sort(self.cpu(), moduli, (0..count).into());
        self.compute_odd(&sorted, call, moduli, answers)?;
        if !sorted.even.is_empty() {
            let odd_parts = OddParts::of(moduli, &sorted.even)?;
            let odd = odd_parts.moduli();
            let sorted_odd = sort(self.cpu(), odd, (&sorted.even).into());
            self.compute_odd(&sorted_odd, call, odd, answers)?;
            let stride = answers.stride();
            let joined = self.install(|| {
                let join = |&item: &usize| {
                    if self.is_stopped() {
                        return Err(Error::Interrupted);
                    }
                    let k = limbs::trailing_zeros(moduli.get(item)).unwrap_or(0);
                    let two = operation.modulo_power_of_two(a.get(item), b.get(item), b.bits(), k);
                    Ok(two::join(answers.get(item), odd.get(item), &two, k, stride))
                };
                sorted.even.par_iter().map(join).collect::<Result<Vec<two::Residue>, Error>>()
            })?;
            for (&item, answer) in sorted.even.iter().zip(joined) {
                answers.get_mut(item).copy_from_slice(&answer);
            }
        }
        let zero_modulus = |index| ItemError { index, kind: ItemErrorKind::ZeroModulus };
        Ok(sorted.zero.into_iter().map(zero_modulus).collect())
    }

    /// Runs the odd groups and puts their answers where they belong.
    fn compute_odd(
        &self,
        sorted: &Sorted,
        call: &Operands<'_>,
        moduli: Moduli<'_>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        for group in sorted.odd.values() {
            let job = call.job(group, moduli, self.watch());
            let done = self.backends().compute(Work::Job(call.operation.op(), &job))?;
            for (&item, answer) in group.items.iter().zip(done.iter()) {
                answers.get_mut(item)[..answer.len()].copy_from_slice(answer);
            }
        }
        Ok(())
    }
}
