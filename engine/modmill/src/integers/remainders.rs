//! Numbers from their remainders.

use super::sums::Differences;
use crate::Engine;
use crate::engine::{common_length, finish};
use crate::inverse::Inverses;
use crate::modular::Modular;
use crate::place::{Operation, Place};
use crate::products::Multiply;
use modmill_core::{Answers, Batch, Error, ItemError, ItemErrorKind, Moduli, Operand, limbs};
use modmill_cpu::threads::Share;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The number below `m n` that is a modulo m and b modulo n, as wide as both moduli together, for coprime
/// moduli m and n (the Chinese remainder theorem). An item whose moduli share a factor fails alone.
///
/// a and b may be longer than their moduli. The time depends on declared widths, on the lengths of the moduli
/// and on the powers of two in them up to [`KERNEL_MAX_BITS`](crate::KERNEL_MAX_BITS) bits. Above, it depends
/// on the moduli.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, Error, ItemErrorKind, integers};
///
/// let engine = Engine::new()?;
/// let (a, b) = (Batch::from_hex(["2", "2"])?, Batch::from_hex(["3", "3"])?);
/// let (m, n) = (Batch::from_hex(["3", "6"])?, Batch::from_hex(["5", "9"])?);
/// // 8 is 2 modulo 3 and 3 modulo 5; 6 and 9 share a factor.
/// let Err(Error::Items(partial)) = integers::crt(&engine, (&a, &m), (&b, &n)) else { panic!() };
/// assert_eq!(partial.answers.as_limbs(), [8, 0]);
/// assert_eq!((partial.failed[0].index, partial.failed[0].kind), (1, ItemErrorKind::NotCoprime));
/// # Ok::<(), Error>(())
/// ```
pub fn crt<'a, P: Place>(
    engine: &Engine<P>,
    (a, m): (impl Into<Operand<'a>>, impl Into<Moduli<'a>>),
    (b, n): (impl Into<Operand<'a>>, impl Into<Moduli<'a>>),
) -> Result<P::Numbers, Error> {
    P::answer(engine, &Joined { a: a.into(), m: m.into(), b: b.into(), n: n.into() })
}

/// Numbers `a + m ((b - a) / m mod n)`, by Garner's step.
struct Joined<'a> {
    a: Operand<'a>,
    m: Moduli<'a>,
    b: Operand<'a>,
    n: Moduli<'a>,
}

impl Operation for Joined<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let (m, b, n) = (self.m.on_host(), self.b, self.n.on_host());
        let count = common_length(&[("a", self.a.len()), ("m", m.len()), ("b", b.len()), ("n", n.len())])?;
        let bits = m.bits() + n.bits();
        answers.check(bits, count)?;
        // Every item has a row, also where one modulus serves all.
        let mut first = Batch::try_zeros(m.bits(), count)?;
        for item in 0..count {
            let modulus = m.get(item);
            first.get_mut(item)[..modulus.len()].copy_from_slice(modulus);
        }
        let inverses = Inverses { a: (&first).into(), moduli: n };
        if let Answers::Plan(_) = answers {
            return inverses.compute(engine, answers);
        }
        let mut failed = BTreeMap::new();
        let mut found = |computed: Result<Batch, Error>, shared: ItemErrorKind| match computed {
            Err(Error::Items(partial)) => {
                let kind = |item: &ItemError| match item.kind {
                    ItemErrorKind::NotInvertible => shared,
                    kind => kind,
                };
                failed.extend(partial.failed.iter().map(|item| (item.index, kind(item))));
                Ok(partial.answers)
            }
            computed => computed,
        };
        let kind = ItemErrorKind::NotCoprime;
        let inverses = found(engine.on_host(&inverses), kind)?;
        let rests = found(engine.on_host(&remainder(self.a, (&first).into())), kind)?;
        let apart = found(engine.on_host(&Differences { a: b, b: (&rests).into(), moduli: n }), kind)?;
        let times = Modular::product((&apart).into(), (&inverses).into(), n);
        let times = found(engine.on_host(&times), kind)?;
        let product = Multiply { a: (&first).into(), b: Some((&times).into()) };
        let mut joined = engine.on_host(&product)?;
        let stride = joined.stride().max(1);
        engine.install(|| {
            joined.as_limbs_mut().par_chunks_mut(stride).enumerate().each(|(item, number)| {
                limbs::add_assign(number, rests.get(item));
            });
        });
        let failed: Vec<ItemError> =
            failed.into_iter().map(|(index, kind)| ItemError { index, kind }).collect();
        failed.iter().for_each(|item| joined.get_mut(item.index).fill(0));
        engine.backends().put(finish(joined, failed), answers)
    }
}

fn remainder<'a>(a: Operand<'a>, moduli: Moduli<'a>) -> Modular<'a> {
    Modular::product(a, Operand::Shared { bits: 1, value: &[1] }, moduli)
}
