//! Factors that are transformed once for many products.

use crate::Engine;
use crate::engine::check_huge_widths;
use crate::on_host::OnHost;
use crate::operation::Operation;
use crate::place::Place;
use modmill_core::{Answers, Batch, Error, Op, Operand, Request, TRANSFORM_MAX_BITS};
use modmill_cpu::long::{Multiplier, PreparedFactor};
use modmill_cpu::out_of_memory::returned;

/// A factor of many products, transformed once.
pub struct Prepared {
    bits: usize,
    longest: usize,
    multiplier: Multiplier,
    factor: PreparedFactor,
}

impl Prepared {
    /// The declared width of the factor in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The greatest width of the other factor in bits.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }
}

impl Engine {
    /// Transforms item 0 of `factor` for products with factors of up to `longest` bits.
    /// [`Engine::mul_prepared`] then needs two transforms of the three of a product.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let factor = Batch::from_hex(["ffff".repeat(1000)])?;
    /// let prepared = engine.prepare(&factor, 64)?;
    /// assert_eq!((prepared.bits(), prepared.longest()), (16_000, 64));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn prepare<'a>(&self, factor: impl Into<Operand<'a>>, longest: usize) -> Result<Prepared, Error> {
        let factor = OnHost::of(factor.into())?;
        let factor = factor.operand();
        check_huge_widths(&[("factor", factor.bits()), ("longest", longest)])?;
        if factor.is_empty() {
            return Err(Error::LengthMismatch { what: "factor", expected: 1, found: 0 });
        }
        let multiplier = self.multiplier();
        let prepare = || multiplier.prepare(factor.get(0), longest.div_ceil(64));
        let prepared = returned(|| Ok(self.install(prepare)))?;
        Ok(Prepared { bits: factor.bits(), longest, multiplier, factor: prepared })
    }
}

/// Full products with a prepared factor.
struct PreparedProduct<'a> {
    a: Operand<'a>,
    b: &'a Prepared,
}

impl Operation for PreparedProduct<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let &Self { a, b } = self;
        if a.bits() > b.longest {
            let limit = b.longest.min(TRANSFORM_MAX_BITS);
            return Err(Error::TooLong { what: "a", bits: a.bits(), limit });
        }
        let (bits, count) = (a.bits() + b.bits, a.len().unwrap_or(1));
        answers.check(bits, count)?;
        if let Answers::Plan(slot) = answers {
            let request = Request::new(Op::Mul, a.bits().max(b.bits), count);
            *slot = Some(engine.backends().plan_on_cpu(&request)?);
            return Ok(());
        }
        let a = OnHost::of(a)?;
        let found = match count == 0 || a.operand().bits() == 0 || b.bits == 0 {
            true => Batch::try_zeros(bits, count),
            false => engine.cpu().mul_prepared(a.operand(), (&b.factor, b.bits), b.multiplier, count),
        };
        engine.backends().put(found, answers)
    }
}

impl<P: Place> Engine<P> {
    /// Full products `a b` with a prepared factor b. Their width is the sum of both widths.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let factor = Batch::from_hex(["ffff".repeat(1000)])?;
    /// let others = Batch::from_hex(["3", "deadbeef"])?;
    /// let prepared = engine.prepare(&factor, others.bits())?;
    /// let products = engine.mul_prepared(&others, &prepared)?;
    /// assert_eq!(products, engine.mul(&others, factor.shared(0))?);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn mul_prepared<'a>(&self, a: impl Into<Operand<'a>>, b: &'a Prepared) -> Result<P::Numbers, Error> {
        P::answer(self, &PreparedProduct { a: a.into(), b })
    }
}
