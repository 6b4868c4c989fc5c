//! Sums and differences modulo numbers.

use crate::Engine;
use crate::modular::Modular;
use crate::place::{Operation, Place};
use modmill_core::{Answers, Batch, Error, Moduli, Operand, Resident, Step, StepKind};

/// `a + b mod N`, for any a and b. The time depends on declared widths.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, Modulus, integers};
///
/// let (a, b) = (Batch::from_hex(["5", "6"])?, Batch::from_hex(["1", "f"])?);
/// let sums = integers::add_mod(&Engine::new()?, &a, &b, &Modulus::from_hex("7")?)?;
/// assert_eq!(sums.as_limbs(), [6, 0]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn add_mod<'a, P: Place>(
    engine: &Engine<P>,
    a: impl Into<Operand<'a>>,
    b: impl Into<Operand<'a>>,
    moduli: impl Into<Moduli<'a>>,
) -> Result<P::Numbers, Error> {
    P::answer(engine, &Sums { a: a.into(), b: b.into(), moduli: moduli.into() })
}

/// `a - b mod N`, for any a and b. The time depends on declared widths.
///
/// # Examples
///
/// ```
/// use modmill::{Batch, Engine, Modulus, integers};
///
/// let (a, b) = (Batch::from_hex(["5", "6"])?, Batch::from_hex(["6", "f"])?);
/// let differences = integers::sub_mod(&Engine::new()?, &a, &b, &Modulus::from_hex("7")?)?;
/// assert_eq!(differences.as_limbs(), [6, 5]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn sub_mod<'a, P: Place>(
    engine: &Engine<P>,
    a: impl Into<Operand<'a>>,
    b: impl Into<Operand<'a>>,
    moduli: impl Into<Moduli<'a>>,
) -> Result<P::Numbers, Error> {
    P::answer(engine, &Differences { a: a.into(), b: b.into(), moduli: moduli.into() })
}

/// The factor of a product that is a remainder.
const ONE: Operand<'static> = Operand::Shared { bits: 1, value: &[1] };

/// Sums modulo numbers: the remainders of sums.
struct Sums<'a> {
    a: Operand<'a>,
    b: Operand<'a>,
    moduli: Moduli<'a>,
}

impl Operation for Sums<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        if let Answers::Plan(_) = answers {
            // The remainders take most of the time.
            let each = if self.a.is_shared() { self.b } else { self.a };
            return Modular::product(each, ONE, self.moduli).compute(engine, answers);
        }
        let sum = Near::compute(engine, &Step::two(StepKind::Add, self.a, self.b), [self.a, self.b])?;
        let sum = sum.operand(self.a.is_shared() && self.b.is_shared());
        Modular::product(sum, ONE, self.moduli).compute(engine, answers)
    }
}

/// Differences modulo numbers: sums with `N - (b mod N)`.
pub(super) struct Differences<'a> {
    pub(super) a: Operand<'a>,
    pub(super) b: Operand<'a>,
    pub(super) moduli: Moduli<'a>,
}

impl Operation for Differences<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let &Self { a, b, moduli } = self;
        if let Answers::Plan(_) = answers {
            return Sums { a, b, moduli }.compute(engine, answers);
        }
        let near = match Near::compute(engine, &Modular::product(b, ONE, moduli), [a, b]) {
            // The sums below have the same failed items.
            Err(Error::Items(partial)) => Near::Host(partial.answers),
            found => found?,
        };
        let b = near.operand(b.is_shared() && moduli.len().is_none());
        let gathered;
        let numbers = match moduli {
            Moduli::Each(view) => Operand::Each(view),
            Moduli::Shared(modulus) => Operand::Shared { bits: modulus.bits(), value: modulus.value() },
            Moduli::Resident(moduli) => Operand::Resident(moduli.resident().view()),
            Moduli::Prepared(all) => {
                let mut batch = Batch::try_zeros(moduli.bits(), all.len())?;
                for (item, modulus) in all.iter().enumerate() {
                    batch.get_mut(item)[..modulus.value().len()].copy_from_slice(modulus.value());
                }
                gathered = batch;
                Operand::from(&gathered)
            }
        };
        let negated = Near::compute(engine, &Step::two(StepKind::Subtract, numbers, b), [numbers, b])?;
        let b = negated.operand(b.is_shared() && numbers.is_shared());
        Sums { a, b, moduli }.compute(engine, answers)
    }
}

/// Numbers between two operations: on the device that holds operands, or on the host.
enum Near {
    Host(Batch),
    Device(Resident),
}

impl Near {
    /// The answers of an operation on some operands.
    fn compute<const N: usize>(
        engine: &Engine,
        operation: &dyn Operation,
        operands: [Operand<'_>; N],
    ) -> Result<Self, Error> {
        match operands.iter().any(|operand| operand.resident().is_some()) {
            true => engine.kept(operation, None).map(Self::Device),
            false => engine.on_host(operation).map(Self::Host),
        }
    }

    /// The numbers as an operand: one number for all items if `is_shared`.
    fn operand(&self, is_shared: bool) -> Operand<'_> {
        match (self, is_shared) {
            (Self::Host(batch), true) => batch.shared(0),
            (Self::Host(batch), false) => batch.into(),
            (Self::Device(resident), true) => resident.shared(0),
            (Self::Device(resident), false) => resident.into(),
        }
    }
}
