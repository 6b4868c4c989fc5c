//! Modular operations: items sorted by their moduli, handed to the backends, and put back in order.

use crate::Engine;
use crate::engine::{check_huge_widths, common_length, finish};
use crate::even::OddParts;
use crate::near::OnHost;
use crate::place::{Operation, Place};
use crate::sort::{Group, Sorted, lengths_of_all, sort};
use modmill_core::{
    Answers, Batch, Call, Error, Exponent, ItemError, ItemErrorKind, Job, Moduli, Op, Operand, Plan, Secrecy,
    Watch, limbs,
};
use modmill_cpu::power_of_two as two;
use modmill_cpu::threads::Share;
use rayon::prelude::*;

/// The names of the operands in errors.
fn names(op: Op) -> [&'static str; 2] {
    if op.is_power() { ["bases", "exponents"] } else { ["a", "b"] }
}

/// The answer of one item modulo `2^k`.
fn modulo_power_of_two(op: Op, a: &[u64], b: &[u64], b_bits: usize, k: usize) -> two::Residue {
    match op {
        Op::Pow => two::pow(a, b, b_bits, k),
        Op::PowVartime => two::pow(a, b, limbs::bit_length(b), k),
        Op::SquareMod => {
            let residue = two::reduce(a, k);
            two::mul(&residue, &residue, k)
        }
        _ => two::mul(&two::reduce(a, k), &two::reduce(b, k), k),
    }
}

/// Products, squares or powers modulo numbers.
#[derive(Clone, Copy)]
pub(crate) struct Modular<'a> {
    /// The operation: [`Op::MulMod`], [`Op::SquareMod`], [`Op::Pow`] or [`Op::PowVartime`].
    pub(crate) op: Op,
    pub(crate) a: Operand<'a>,
    pub(crate) b: Operand<'a>,
    pub(crate) moduli: Moduli<'a>,
}

impl<'a> Modular<'a> {
    /// Products `a b mod N`.
    pub(crate) fn product(a: Operand<'a>, b: Operand<'a>, moduli: Moduli<'a>) -> Self {
        Self { op: Op::MulMod, a, b, moduli }
    }

    /// Powers by secret or by public exponents.
    pub(crate) fn power(a: Operand<'a>, exponent: Exponent<'a>, moduli: Moduli<'a>) -> Self {
        Self { op: power(exponent.secrecy), a, b: exponent.numbers, moduli }
    }
}

/// The operation of powers by secret or by public exponents.
pub(crate) fn power(secrecy: Secrecy) -> Op {
    match secrecy {
        Secrecy::Secret => Op::Pow,
        Secrecy::Public => Op::PowVartime,
    }
}

/// A modular operation with the number of items that its operands agree on.
#[derive(Clone, Copy)]
struct Operands<'a> {
    call: Modular<'a>,
    count: usize,
}

impl<'a> Operands<'a> {
    fn new(call: Modular<'a>) -> Result<Self, Error> {
        let Modular { op, a, b, moduli } = call;
        let [a_name, b_name] = names(op);
        let count = common_length(&[(a_name, a.len()), (b_name, b.len()), ("moduli", moduli.len())])?;
        check_huge_widths(&[(a_name, a.bits()), (b_name, b.bits()), ("modulus", moduli.bits())])?;
        Ok(Self { call, count })
    }

    /// The job of a group of items, with moduli that may be other ones than the call's.
    fn job(&self, group: &'a Group, moduli: Moduli<'a>, watch: Option<&'a Watch>) -> Job<'a> {
        let Group { items, bits, shortest_bits } = group;
        Job { shortest_bits: *shortest_bits, ..Job::new(items, *bits, self.call.a, self.call.b, moduli) }
            .watched_by(watch)
    }
}

impl Operation for Modular<'_> {
    /// Odd moduli go to the backends as they are, even ones as odd part and power of two.
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        // Kernels and plans depend on the value of an exponent that all items share.
        let b = match self.op.is_power() && self.b.is_shared() {
            true => OnHost::of(self.b)?,
            false => OnHost::Given(self.b),
        };
        let (near, moduli) = engine.backends().near([self.a, b.operand()], Some(self.moduli))?;
        let [a, b] = near.each_ref().map(OnHost::operand);
        let call = Operands::new(Modular { op: self.op, a, b, moduli: moduli.unwrap_or(self.moduli) })?;
        answers.check(self.moduli.bits(), call.count)?;
        if let Some(job) = engine.whole_job(&call) {
            return engine.backends().compute(Call::Modular(self.op, &job), answers);
        }
        if let Answers::Plan(slot) = answers {
            return engine.plan_of_most(&call, slot);
        }
        // Items of several kinds are put together on the host.
        engine.backends().put(engine.assemble(&call), answers)
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
        P::answer(self, &Modular::product(a.into(), b.into(), moduli.into()))
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
        P::answer(self, &Modular { op: Op::SquareMod, a, b: a, moduli: moduli.into() })
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
    /// [`Public`](crate::Public) exponents may decide the time: leading zeros are skipped, and short
    /// exponents such as 65537 take the short road. The declared width of exponents on a device counts,
    /// because nobody looks at them.
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
        P::answer(self, &Modular::power(bases.into(), exponents.into(), moduli.into()))
    }
}

impl Engine {
    /// The job of all items of a call, if backends can compute them together.
    fn whole_job<'a>(&'a self, operands: &Operands<'a>) -> Option<Job<'a>> {
        let &Operands { call: Modular { a, b, moduli, .. }, count } = operands;
        let lengths = lengths_of_all(self.cpu(), moduli, count)?;
        let job = Job::new(0..count, lengths.longest, a, b, moduli);
        Some(Job { shortest_bits: lengths.shortest, ..job }.watched_by(self.watch()))
    }

    /// The plan of the largest group of a call whose moduli are of several kinds.
    fn plan_of_most(&self, operands: &Operands<'_>, slot: &mut Option<Plan>) -> Result<(), Error> {
        let Modular { op, moduli, .. } = operands.call;
        let mut sorted = sort(self.cpu(), moduli.on_host(), (0..operands.count).into());
        let odd_parts = OddParts::of(moduli, &sorted.even)?;
        let even = sort(self.cpu(), odd_parts.moduli(), (&sorted.even).into());
        let mut all = std::mem::take(&mut sorted.odd).into_values().chain(even.odd.into_values());
        let first = all.next();
        let most =
            first.map(|first| all.fold(first, |a, b| if b.items.len() > a.items.len() { b } else { a }));
        match most {
            Some(group) => {
                let job = operands.job(&group, moduli, self.watch());
                self.backends().compute(Call::Modular(op, &job), Answers::Plan(slot))
            }
            None => Err(Error::Unavailable("there is nothing to compute, and so no plan".to_owned())),
        }
    }

    /// Computes the items of a call in groups, and puts their answers in order.
    fn assemble(&self, operands: &Operands<'_>) -> Result<Batch, Error> {
        let (a, b) = (OnHost::of(operands.call.a)?, OnHost::of(operands.call.b)?);
        let (op, count, moduli) = (operands.call.op, operands.count, operands.call.moduli.on_host());
        let (a, b) = (a.operand(), b.operand());
        let operands = &Operands { call: Modular { op, a, b, moduli }, count };
        let mut answers = Batch::try_zeros(moduli.bits(), count)?;
        let sorted = sort(self.cpu(), moduli, (0..count).into());
        self.compute_odd(&sorted, operands, moduli, &mut answers)?;
        if !sorted.even.is_empty() {
            let odd_parts = OddParts::of(moduli, &sorted.even)?;
            let odd = odd_parts.moduli();
            let sorted_odd = sort(self.cpu(), odd, (&sorted.even).into());
            self.compute_odd(&sorted_odd, operands, odd, &mut answers)?;
            let stride = answers.stride();
            let joined = self.install(|| {
                let join = |&item: &usize| {
                    if self.is_stopped() {
                        return Err(Error::Interrupted);
                    }
                    let k = limbs::trailing_zeros(moduli.get(item)).unwrap_or(0);
                    let two = modulo_power_of_two(op, a.limbs(item), b.limbs(item), b.bits(), k);
                    Ok(two::join(answers.get(item), odd.get(item), &two, k, stride))
                };
                sorted.even.par_iter().map(join).list::<Result<Vec<two::Residue>, Error>>()
            })?;
            for (&item, answer) in sorted.even.iter().zip(joined) {
                answers.get_mut(item).copy_from_slice(&answer);
            }
        }
        let zero_modulus = |index| ItemError { index, kind: ItemErrorKind::ZeroModulus };
        finish(answers, sorted.zero.into_iter().map(zero_modulus).collect())
    }

    /// Runs the odd groups and puts their answers where they belong.
    fn compute_odd(
        &self,
        sorted: &Sorted,
        operands: &Operands<'_>,
        moduli: Moduli<'_>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        for group in sorted.odd.values() {
            let job = operands.job(group, moduli, self.watch());
            let mut done = Batch::zeros(0, 0);
            self.backends().compute(Call::Modular(operands.call.op, &job), Answers::New(&mut done))?;
            for (&item, answer) in group.items.iter().zip(done.iter()) {
                answers.get_mut(item)[..answer.len()].copy_from_slice(answer);
            }
        }
        Ok(())
    }
}
