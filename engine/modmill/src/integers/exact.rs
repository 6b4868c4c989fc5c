//! Exact quotients, and least common multiples.

use crate::Engine;
use crate::division::{Quotients, Remainders};
use crate::gcd::Divisors;
use crate::place::{Operation, Place};
use crate::products::Multiply;
use modmill_core::{Answers, Batch, Error, Moduli, Operand};

/// Exact quotients `a / N`, as wide as `a`. An item whose divisor is zero or does not divide its number fails
/// alone. The time depends on declared widths and on the lengths of the divisors.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, Error, ItemErrorKind, integers};
///
/// let (a, b) = (Batch::from_hex(["15", "16"])?, Batch::from_hex(["7", "7"])?);
/// let Err(Error::Items(partial)) = integers::div_exact(&Engine::new()?, &a, &b) else { panic!() };
/// assert_eq!(partial.answers.as_limbs(), [3, 0]);
/// assert_eq!((partial.failed[0].index, partial.failed[0].kind), (1, ItemErrorKind::NotDivisible));
/// # Ok::<(), Error>(())
/// ```
pub fn div_exact<'a, P: Place>(
    engine: &Engine<P>,
    a: impl Into<Operand<'a>>,
    divisors: impl Into<Moduli<'a>>,
) -> Result<P::Numbers, Error> {
    P::answer(engine, &Quotients { a: a.into(), divisors: divisors.into(), remainders: Remainders::Zero })
}

/// Least common multiples, as wide as both numbers together; 0 if one of them is 0. The time depends on the
/// numbers, so they must be public.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, integers};
///
/// let (a, b) = (Batch::from_hex(["4", "0"])?, Batch::from_hex(["6", "5"])?);
/// assert_eq!(integers::lcm(&Engine::new()?, &a, &b)?.as_limbs(), [12, 0]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn lcm<'a, P: Place>(
    engine: &Engine<P>,
    a: impl Into<Operand<'a>>,
    b: impl Into<Operand<'a>>,
) -> Result<P::Numbers, Error> {
    P::answer(engine, &Multiples { a: a.into(), b: b.into() })
}

/// Least common multiples: `a / gcd(a, b)` times b.
struct Multiples<'a> {
    a: Operand<'a>,
    b: Operand<'a>,
}

impl Operation for Multiples<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let &Self { a, b } = self;
        let divisors = Divisors { a, b };
        if let Answers::Plan(_) = answers {
            return divisors.compute(engine, answers);
        }
        let divisors = engine.on_host(&divisors)?;
        // The answers of one pair of numbers for all items are one item.
        let quotients = Quotients { a, divisors: (&divisors).into(), remainders: Remainders::Dropped };
        let quotients = match engine.on_host(&quotients) {
            // The divisor of two zeros is zero, and so is their quotient.
            Err(Error::Items(partial)) => partial.answers,
            found => found?,
        };
        let quotients: &Batch = &quotients;
        Multiply { a: quotients.into(), b: Some(b) }.compute(engine, answers)
    }
}
