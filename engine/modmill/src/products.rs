//! Full products and squares.

use crate::Engine;
use crate::engine::{check_huge_widths, common_length};
use crate::near::OnHost;
use crate::place::{Operation, Place};
use modmill_core::{Answers, Batch, Call, Error, Operand, Product};

impl<P: Place> Engine<P> {
    /// Full products `a b`, as wide as both factors together.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let a = Batch::from_hex(["ffff", "10"])?;
    /// let products = Engine::new()?.mul(&a, a.shared(0))?;
    /// assert_eq!((products.to_hex(0), products.to_hex(1)), ("fffe0001".into(), "ffff0".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn mul<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<P::Numbers, Error> {
        P::answer(self, &Multiply { a: a.into(), b: Some(b.into()) })
    }

    /// Full squares `a^2`, twice as wide.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let squares = Engine::new()?.square(&Batch::from_hex(["ffff", "10"])?)?;
    /// assert_eq!((squares.bits(), squares.to_hex(0), squares.to_hex(1)), (32, "fffe0001".into(), "100".into()));
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn square<'a>(&self, a: impl Into<Operand<'a>>) -> Result<P::Numbers, Error> {
        P::answer(self, &Multiply { a: a.into(), b: None })
    }
}

/// Full products, or squares where there is no second factor.
pub(crate) struct Multiply<'a> {
    pub(crate) a: Operand<'a>,
    pub(crate) b: Option<Operand<'a>>,
}

impl Operation for Multiply<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let (near, _) = engine.backends().near([self.a, self.b.unwrap_or(self.a)], None)?;
        let [a, b] = near.each_ref().map(OnHost::operand);
        let count = common_length(&[("a", a.len()), ("b", b.len())])?;
        check_huge_widths(&[("a", a.bits()), ("b", b.bits())])?;
        let product = Product { a, b: self.b.map(|_| b), count };
        answers.check(product.bits(), count)?;
        match product.is_zero() {
            true => engine.backends().put(Batch::try_zeros(product.bits(), count), answers),
            false => engine.backends().compute(Call::Product(&product), answers),
        }
    }
}
