//! Quotients and remainders.

use crate::Engine;
use crate::compute::refuse;
use crate::engine::{check_huge_widths, common_length, finish};
use crate::modular::Modular;
use crate::on_host::OnHost;
use crate::operation::Operation;
use crate::place::{Holds, Place};
use modmill_core::sync::Mutex;
use modmill_core::{Answers, Batch, Call, Error, ItemError, ItemErrorKind, Moduli, Operand, Request, limbs};
use modmill_cpu::division::div_exact;
use zeroize::Zeroizing;

impl<P: Place> Engine<P> {
    /// Quotients `floor(a / N)`, as wide as `a`. The time depends on declared widths, on the lengths of the
    /// divisors and on the powers of two in them. An item whose divisor is zero fails alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let quotients = Engine::new()?.div(&Batch::from_hex(["ffff", "6"])?, &Modulus::from_hex("7")?)?;
    /// assert_eq!(quotients.as_limbs(), [0x2492, 0]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn div<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        divisors: impl Into<Moduli<'a>>,
    ) -> Result<P::Numbers, Error> {
        P::answer(self, &Quotients { a: a.into(), divisors: divisors.into(), remainders: None })
    }
}

impl<P: Holds> Engine<P> {
    /// Quotients and remainders: `a = q N + r` with `0 <= r < N`. The quotients are as wide as `a`, the
    /// remainders as the divisors. Where a divisor is zero, the error names the item and has the other
    /// remainders.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let (a, b) = (Batch::from_hex(["ffff", "6"])?, Batch::from_hex(["10", "7"])?);
    /// let (quotients, remainders) = Engine::new()?.div_rem(&a, &b)?;
    /// assert_eq!((quotients.as_limbs(), remainders.as_limbs()), (&[0xfff, 0][..], &[15, 6][..]));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn div_rem<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        divisors: impl Into<Moduli<'a>>,
    ) -> Result<(P::Numbers, P::Numbers), Error> {
        let (a, divisors) = (a.into(), divisors.into());
        let remainders = self.reduce(a, divisors)?;
        let known = Some(P::operand(&remainders));
        let quotients = P::answer(self, &Quotients { a, divisors, remainders: known })?;
        Ok((quotients, remainders))
    }
}

/// Quotients by divisors, from remainders that are known or found first.
struct Quotients<'a> {
    a: Operand<'a>,
    divisors: Moduli<'a>,
    remainders: Option<Operand<'a>>,
}

impl Operation for Quotients<'_> {
    fn compute(&self, engine: &Engine, mut answers: Answers<'_>) -> Result<(), Error> {
        let (a, divisors) = (self.a, self.divisors);
        let count = common_length(&[("a", a.len()), ("divisors", divisors.len())])?;
        check_huge_widths(&[("a", a.bits()), ("a divisor", divisors.bits())])?;
        answers.check(a.bits(), count)?;
        let (near, moduli) = engine.backends().near([a], Some(divisors))?;
        let ([a], divisors) = (near.each_ref().map(OnHost::operand), moduli.unwrap_or(divisors));
        let zero = Mutex::default();
        let (shortest_bits, watch) = (shortest(divisors, count), engine.watch());
        let call = modmill_core::Quotients { a, divisors, shortest_bits, count, zero: &zero, watch };
        let request = match answers.is_device() {
            true => Request::of_quotients(&call).resident_answers(),
            false => Request::of_quotients(&call),
        };
        if let Answers::Plan(slot) = answers {
            *slot = Some(engine.backends().explain(&request)?);
            return Ok(());
        }
        if let Some((_, plan)) = engine.backends().gpus_for(&request)
            && engine.backends().run_on_gpus(&plan, Call::Quotients(&call), answers.reborrow())?
        {
            return refuse(answers, zero.into_inner(), ItemErrorKind::ZeroModulus);
        }
        let (plan, divisors) = (engine.backends().plan_on_cpu(&request)?, divisors.on_host());
        let (found, failed) = self.remainders_on_host(engine)?;
        let remainders = match (&found, self.remainders) {
            (Some(found), _) if found.len() == count => OnHost::Given(found.into()),
            // Numbers that all items share have one remainder.
            (Some(found), _) => OnHost::Given(found.shared(0)),
            (None, Some(known)) => OnHost::of(known)?,
            (None, None) => return Err(Error::Unavailable("there are no remainders".to_owned())),
        };
        engine.cpu().note(&plan);
        let (a, multiplier) = (OnHost::of(a)?, engine.multiplier());
        let (numbers, remainders) = (a.operand(), remainders.operand());
        let scratch = || Zeroizing::new(Vec::new());
        let quotients = engine.each_row(
            numbers.bits(),
            count,
            scratch,
            |rest: &mut Zeroizing<Vec<u64>>, item, out| {
                let divisor = divisors.get(item);
                if limbs::bit_length(divisor) > 0 {
                    rest.clear();
                    rest.extend_from_slice(numbers.get(item));
                    limbs::sub_assign(rest, remainders.get(item));
                    div_exact(&multiplier, rest, divisor, out);
                }
            },
        )?;
        engine.backends().put(finish(quotients, failed), answers)
    }
}

/// Length of the shortest divisor of some items in bits; 1 if the divisors are on a device.
fn shortest(divisors: Moduli<'_>, count: usize) -> usize {
    let items = if divisors.len().is_none() { count.min(1) } else { count };
    match divisors {
        Moduli::Resident(_) => 1,
        Moduli::Each(_) | Moduli::Shared(_) | Moduli::Prepared(_) => {
            (0..items).map(|item| limbs::bit_length(divisors.get(item))).min().map_or(1, |bits| bits.max(1))
        }
    }
}

impl Quotients<'_> {
    /// The remainders, if they are not known, with the items that have none.
    fn remainders_on_host(&self, engine: &Engine) -> Result<(Option<Batch>, Vec<ItemError>), Error> {
        if self.remainders.is_some() {
            return Ok((None, Vec::new()));
        }
        let one = Operand::Shared { bits: 1, value: &[1] };
        match engine.on_host(&Modular::product(self.a, one, self.divisors)) {
            Ok(found) => Ok((Some(found), Vec::new())),
            Err(Error::Items(partial)) => Ok((Some(partial.answers), partial.failed)),
            Err(error) => Err(error),
        }
    }
}
