//! Products of several powers.

use crate::Engine;
use crate::engine::{check_huge_widths, common_length, finish};
use crate::modular::{Modular, power};
use crate::place::{Operation, Place};
use crate::sort::lengths_of_all;
use modmill_core::{
    Answers, Backend, Batch, Call, Error, ExponentList, ItemError, Job, KERNEL_MAX_BITS, Moduli, MultiPowers,
    Operand, Secrecy,
};

impl<P: Place> Engine<P> {
    /// Products of powers: item i is the product of `bases[k][i]^exponents[k][i]` over all k, modulo the
    /// modulus of item i. Constant-time in bases and exponents, as [`Engine::pow`] is.
    ///
    /// All powers of an item share their squarings. Without powers the answers are 1 modulo the moduli.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let (g, h) = (Batch::from_hex(["3"])?, Batch::from_hex(["5"])?);
    /// let (a, b) = (Batch::from_hex(["1", "2"])?, Batch::from_hex(["4", "0"])?);
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let products = Engine::new()?.multi_pow(
    ///     &[g.shared(0), h.shared(0)],
    ///     &[(&a).into(), (&b).into()],
    ///     &modulus,
    /// )?;
    /// assert_eq!(products.as_limbs(), [3 * 625, 9]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn multi_pow<'a>(
        &self,
        bases: &'a [Operand<'a>],
        exponents: impl Into<ExponentList<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        let ExponentList { operands, secrecy } = exponents.into();
        P::answer(self, &ProductOfPowers { bases, exponents: operands, secrecy, moduli: moduli.into() })
    }
}

/// Products of several powers.
#[derive(Clone, Copy)]
pub(crate) struct ProductOfPowers<'a> {
    pub(crate) bases: &'a [Operand<'a>],
    pub(crate) exponents: &'a [Operand<'a>],
    pub(crate) secrecy: Secrecy,
    pub(crate) moduli: Moduli<'a>,
}

impl Operation for ProductOfPowers<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let count = self.check()?;
        answers.check(self.moduli.bits(), count)?;
        let lengths = lengths_of_all(engine.cpu(), self.moduli, count);
        if let (Some(lengths), Some(&a), Some(&b)) = (lengths, self.bases.first(), self.exponents.first())
            && lengths.longest <= KERNEL_MAX_BITS
        {
            let job = Job::new(0..count, lengths.longest, a, b, self.moduli).watched_by(engine.watch());
            let job = Job { shortest_bits: lengths.shortest, ..job };
            let &Self { bases, exponents, secrecy, .. } = self;
            return engine.interleaved(self, &MultiPowers { job, bases, exponents, secrecy }, answers);
        }
        engine.separately(self, count, answers)
    }
}

impl ProductOfPowers<'_> {
    /// The number of items that all operands agree on.
    fn check(&self) -> Result<usize, Error> {
        if self.bases.len() != self.exponents.len() {
            let (what, expected) = ("the list of exponents", self.bases.len());
            return Err(Error::LengthMismatch { what, expected, found: self.exponents.len() });
        }
        let named = |what: &'static str, operands: &[Operand<'_>]| {
            operands.iter().map(|operand| (what, operand.len(), operand.bits())).collect::<Vec<_>>()
        };
        let mut all = named("bases", self.bases);
        all.extend(named("exponents", self.exponents));
        all.push(("moduli", self.moduli.len(), self.moduli.bits()));
        check_huge_widths(&all.iter().map(|&(what, _, bits)| (what, bits)).collect::<Vec<_>>())?;
        common_length(&all.iter().map(|&(what, len, _)| (what, len)).collect::<Vec<_>>())
    }
}

impl Engine {
    /// The products by interleaved windows on the CPU, or by one power after the other where the CPU has no
    /// such algorithm or GPUs are sooner.
    fn interleaved(
        &self,
        operation: &ProductOfPowers<'_>,
        powers: &MultiPowers<'_>,
        answers: Answers<'_>,
    ) -> Result<(), Error> {
        let call = Call::MultiPow(powers);
        match (self.backends().choose(&call.request()?), answers) {
            (Some(plan), Answers::Plan(slot)) => *slot = Some(plan),
            (Some(plan), answers) if plan.backend() == Backend::Cpu => {
                self.backends().run_on_cpu(&plan, call, answers)?;
            }
            (_, answers) => self.separately(operation, powers.job.items.len(), answers)?,
        }
        Ok(())
    }

    /// The products of powers that are computed one after the other.
    fn separately(
        &self,
        operation: &ProductOfPowers<'_>,
        count: usize,
        answers: Answers<'_>,
    ) -> Result<(), Error> {
        let &ProductOfPowers { bases, exponents, secrecy, moduli } = operation;
        let (Some(&a), Some(&b)) = (bases.first(), exponents.first()) else {
            let one = Operand::Shared { bits: 1, value: &[1] };
            return Modular::product(one, one, moduli).compute(self, answers);
        };
        let power = |a, b| Modular { op: power(secrecy), a, b, moduli };
        if bases.len() == 1 || matches!(answers, Answers::Plan(_)) {
            return power(a, b).compute(self, answers);
        }
        let (mut product, mut failed) = with_failed(self.on_host(&power(a, b)))?;
        for (&a, &b) in bases.iter().zip(exponents).skip(1) {
            let (factor, _) = with_failed(self.on_host(&power(a, b)))?;
            let (a, b) = (for_all(&product, count), for_all(&factor, count));
            (product, failed) = with_failed(self.on_host(&Modular::product(a, b, moduli)))?;
        }
        self.backends().put(finish(product, failed), answers)
    }
}

/// The factors of a product of `count` items. A power of shared numbers is one number for all items.
fn for_all(factor: &Batch, count: usize) -> Operand<'_> {
    if factor.len() == count { factor.into() } else { factor.shared(0) }
}

/// The answers of a call with its failed items.
fn with_failed(answers: Result<Batch, Error>) -> Result<(Batch, Vec<ItemError>), Error> {
    match answers {
        Ok(answers) => Ok((answers, Vec::new())),
        Err(Error::Items(partial)) => Ok((partial.answers, partial.failed)),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::{Modulus, Watch};
    use std::sync::Arc;

    #[test]
    fn a_stopped_call_has_no_answers() {
        let watch = Arc::new(Watch::new());
        let engine = Engine::builder().threads(1).build().unwrap().watched_by(&watch);
        let (numbers, modulus) = (Batch::from_hex(["3", "5"]).unwrap(), Modulus::from_hex("65").unwrap());
        let operands = [Operand::from(&numbers), Operand::from(&numbers)];
        assert!(engine.multi_pow(&operands, &operands, &modulus).is_ok());
        watch.stop();
        assert_eq!(engine.multi_pow(&operands, &operands, &modulus), Err(Error::Interrupted));
    }
}
