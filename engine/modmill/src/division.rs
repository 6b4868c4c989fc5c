//! Quotients and remainders.

use crate::Engine;
use crate::compute::refuse;
use crate::engine::{check_huge_widths, common_length, finish};
use crate::near::OnHost;
use crate::place::{Holds, Operation, Place, Second};
use modmill_core::sync::Mutex;
use modmill_core::{Answers, Batch, Call, Error, ItemError, ItemErrorKind, Moduli, Operand, Request, limbs};
use modmill_cpu::threads::Share;
use rayon::prelude::*;

impl<P: Place> Engine<P> {
    /// Quotients `floor(a / N)`, as wide as `a`. The time depends on declared widths and on the lengths of
    /// the divisors. An item whose divisor is zero fails alone.
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
        P::answer(
            self,
            &Quotients { a: a.into(), divisors: divisors.into(), remainders: Remainders::Dropped },
        )
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
        let (a, divisors, second) = (a.into(), divisors.into(), Second::default());
        let quotients = Quotients { a, divisors, remainders: Remainders::Kept(&second) };
        let quotients = P::answer(self, &quotients)?;
        let remainders = if second.is_kept() { P::answer(self, &second)? } else { self.reduce(a, divisors)? };
        Ok((quotients, remainders))
    }
}

/// Quotients by divisors.
pub(crate) struct Quotients<'a> {
    pub(crate) a: Operand<'a>,
    pub(crate) divisors: Moduli<'a>,
    pub(crate) remainders: Remainders<'a>,
}

/// The fate of the remainders of a division.
pub(crate) enum Remainders<'a> {
    Dropped,
    Kept(&'a Second),
    /// They have to be zero: an item with another remainder fails.
    Zero,
}

impl Operation for Quotients<'_> {
    /// One division has both quotients and remainders, unless they stay on a device.
    fn compute(&self, engine: &Engine, mut answers: Answers<'_>) -> Result<(), Error> {
        let (a, divisors) = (self.a, self.divisors);
        let count = common_length(&[("a", a.len()), ("divisors", divisors.len())])?;
        check_huge_widths(&[("a", a.bits()), ("a divisor", divisors.bits())])?;
        answers.check(a.bits(), count)?;
        let (near, moduli) = engine.backends().near([a], Some(divisors))?;
        let ([a], divisors) = (near.each_ref().map(OnHost::operand), moduli.unwrap_or(divisors));
        let zero = Mutex::default();
        let (shortest_bits, watch) = (shortest(divisors, count), engine.watch());
        // A device's answers are one batch, so that remainders there take a pass of their own.
        let kept = match self.remainders {
            Remainders::Kept(second) if !answers.is_device() => Some(second),
            _ => None,
        };
        let with_remainders = kept.is_some();
        let call = modmill_core::Quotients {
            a,
            divisors,
            shortest_bits,
            with_remainders,
            count,
            zero: &zero,
            watch,
        };
        let request = match answers.is_device() {
            true => Request::of_quotients(&call).resident_answers(),
            false => Request::of_quotients(&call),
        };
        if let Answers::Plan(slot) = answers {
            *slot = Some(engine.backends().explain(&request)?);
            return Ok(());
        }
        // Whether a division leaves no remainder is seen on the host.
        if !matches!(self.remainders, Remainders::Zero)
            && let Some((_, plan)) = engine.backends().gpus_for(&request)
        {
            let mut both = Batch::zeros(0, 0);
            let place = if kept.is_some() { Answers::New(&mut both) } else { answers.reborrow() };
            if engine.backends().run_on_gpus(&plan, Call::Quotients(&call), place)? {
                let zero = zero.into_inner();
                // The error of a zero has the remainders, if they are wanted.
                return match (kept, &self.remainders) {
                    (Some(second), _) => {
                        let [quotients, mut remainders] = split(engine, &both, [a.bits(), divisors.bits()])?;
                        refuse(Answers::New(&mut remainders), zero, ItemErrorKind::ZeroModulus)?;
                        second.keep(remainders);
                        engine.backends().put(Ok(quotients), answers)
                    }
                    (None, Remainders::Kept(_)) if !zero.is_empty() => engine.reduce(a, divisors).map(drop),
                    _ => refuse(answers, zero, ItemErrorKind::ZeroModulus),
                };
            }
        }
        let (plan, divisors) = (engine.backends().plan_on_cpu(&request)?, divisors.on_host());
        let a = OnHost::of(a)?;
        let [mut quotients, remainders] =
            engine.cpu().divide(&plan, (a.operand(), divisors), engine.watch())?;
        let is_zero = |number: &[u64]| limbs::bit_length(number) == 0;
        let error = |index: usize| {
            let kind = match &self.remainders {
                _ if is_zero(divisors.get(index)) => ItemErrorKind::ZeroModulus,
                Remainders::Zero if !is_zero(remainders.get(index)) => ItemErrorKind::NotDivisible,
                _ => return None,
            };
            Some(ItemError { index, kind })
        };
        let failed: Vec<ItemError> = (0..count).filter_map(error).collect();
        match self.remainders {
            Remainders::Kept(_) if !failed.is_empty() => return Err(Error::items(remainders, failed)),
            Remainders::Kept(second) => second.keep(remainders),
            Remainders::Zero => failed.iter().for_each(|item| quotients.get_mut(item.index).fill(0)),
            Remainders::Dropped => {}
        }
        engine.backends().put(finish(quotients, failed), answers)
    }
}

/// The low and the high part of each number, whose widths are `widths`. The low part has whole limbs.
fn split(engine: &Engine, numbers: &Batch, widths: [usize; 2]) -> Result<[Batch; 2], Error> {
    let mut parts =
        [Batch::try_zeros(widths[0], numbers.len())?, Batch::try_zeros(widths[1], numbers.len())?];
    let mut from = 0;
    for part in &mut parts {
        let limbs = part.bits().div_ceil(64);
        let rows = part.as_limbs_mut().par_chunks_exact_mut(limbs.max(1)).enumerate();
        let copy =
            |(item, row): (usize, &mut [u64])| row.copy_from_slice(&numbers.get(item)[from..][..limbs]);
        engine.cpu().install_if(numbers.len() > PIECE, || rows.with_min_len(PIECE).each(copy));
        from += limbs;
    }
    Ok(parts)
}

/// The fewest numbers that a thread copies.
const PIECE: usize = 1 << 8;

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
