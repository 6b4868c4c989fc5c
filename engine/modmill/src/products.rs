//! Full products and squares.

use crate::Engine;
use crate::call::{Call, check_answers};
use crate::engine::{check_huge_widths, common_length};
use crate::near::Near;
use crate::on_host::OnHost;
use crate::place::Place;
use crate::work::Work;
use modmill_core::{Batch, Error, Operand, Product, Resident};

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
        P::answer(self, &Call::Product(a.into(), Some(b.into())))
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
        P::answer(self, &Call::Product(a.into(), None))
    }
}

impl Engine {
    pub(crate) fn multiply(&self, a: Operand<'_>, b: Option<Operand<'_>>) -> Result<Batch, Error> {
        let near = self.near_factors(a, b)?;
        let product = product(&near, b.is_some())?;
        match product.is_zero() {
            true => Batch::try_zeros(product.bits(), product.count),
            false => self.backends().compute(Work::Product(&product)),
        }
    }

    pub(crate) fn multiply_resident(
        &self,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
    ) -> Result<Resident, Error> {
        let near = self.near_factors(a, b)?;
        let product = product(&near, b.is_some())?;
        if product.is_zero() {
            return self.upload_answers(Batch::try_zeros(product.bits(), product.count)?);
        }
        match self.backends().compute_resident(Work::Product(&product))? {
            Some(answers) => Ok(answers),
            None => self.upload_answers(self.backends().compute(Work::Product(&product))?),
        }
    }

    pub(crate) fn multiply_into(
        &self,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        let near = self.near_factors(a, b)?;
        let product = product(&near, b.is_some())?;
        check_answers(answers, product.bits(), product.count)?;
        match product.is_zero() {
            true => answers.as_limbs_mut().fill(0),
            false => self.backends().compute_into(Work::Product(&product), answers.as_limbs_mut())?,
        }
        Ok(())
    }

    fn near_factors<'a>(&self, a: Operand<'a>, b: Option<Operand<'a>>) -> Result<Near<'a>, Error> {
        self.backends().near(a, OnHost::Given(b.unwrap_or(a)), None)
    }
}

/// Full products of two factors, or squares of the first.
fn product<'a>(near: &'a Near<'_>, has_second: bool) -> Result<Product<'a>, Error> {
    let (a, second) = (near.a.operand(), near.b.operand());
    let count = common_length(&[("a", a.len()), ("b", second.len())])?;
    check_huge_widths(&[("a", a.bits()), ("b", second.bits())])?;
    Ok(Product { a, b: has_second.then_some(second), count })
}
