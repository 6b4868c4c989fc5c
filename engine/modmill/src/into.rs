//! Operations whose answers go into a batch of the caller's.
//!
//! Memory that is used again costs no new pages, and a batch in pinned memory ([`Engine::pinned`]) is written
//! by the GPU itself. A batch for answers must have the width and the number of items that the plain
//! operation would return. Where items fail, [`Error::Items`] names them; its own `answers` are empty, and
//! the batch has zero at the failed items.

use crate::Engine;
use crate::engine::product;
use crate::modular::{Modular, check_answers};
use crate::on_host::OnHost;
use crate::work::Work;
use modmill_core::{Batch, Error, Moduli, Operand, Product};

impl Engine {
    /// [`Engine::mul`] into `answers`, which is as wide as both factors together.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let a = Batch::from_hex(["ffff", "10"])?;
    /// let mut products = Batch::zeros(2 * a.bits(), a.len());
    /// Engine::new()?.mul_into(&a, &a, &mut products)?;
    /// assert_eq!(products.to_hex(0), "fffe0001");
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn mul_into<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        b: impl Into<Operand<'a>>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        let near = self.backends.near(a.into(), OnHost::Given(b.into()), None)?;
        self.multiply_into(&product(near.a.operand(), Some(near.b.operand()))?, answers)
    }

    /// [`Engine::square`] into `answers`, which is twice as wide as `a`.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let a = Batch::from_hex(["ffff", "10"])?;
    /// let mut squares = Batch::zeros(2 * a.bits(), a.len());
    /// Engine::new()?.square_into(&a, &mut squares)?;
    /// assert_eq!(squares.to_hex(1), "100");
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn square_into<'a>(&self, a: impl Into<Operand<'a>>, answers: &mut Batch) -> Result<(), Error> {
        let a = a.into();
        let near = self.backends.near(a, OnHost::Given(a), None)?;
        self.multiply_into(&product(near.a.operand(), None)?, answers)
    }

    fn multiply_into(&self, product: &Product<'_>, answers: &mut Batch) -> Result<(), Error> {
        check_answers(answers, product.bits(), product.count)?;
        match product.is_zero() {
            true => answers.as_limbs_mut().fill(0),
            false => self.backends.compute_into(Work::Product(product), answers.as_limbs_mut())?,
        }
        Ok(())
    }

    /// [`Engine::mul_mod`] into `answers`, which is as wide as the moduli.
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let modulus = Modulus::from_hex("b")?;
    /// let (a, b) = (Batch::from_hex(["5", "7"])?, Batch::from_hex(["3", "3"])?);
    /// let mut products = Batch::zeros(modulus.bits(), 2);
    /// Engine::new()?.mul_mod_into(&a, &b, &modulus, &mut products)?;
    /// assert_eq!(products.as_limbs(), [4, 10]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn mul_mod_into<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        b: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        self.modular_into(Modular::Multiply, a.into(), b.into(), moduli.into(), answers)
    }

    /// [`Engine::square_mod`] into `answers`, which is as wide as the moduli.
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let modulus = Modulus::from_hex("65")?; // 101
    /// let mut squares = Batch::zeros(modulus.bits(), 2);
    /// Engine::new()?.square_mod_into(&Batch::from_hex(["b", "64"])?, &modulus, &mut squares)?;
    /// assert_eq!(squares.as_limbs(), [0x14, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn square_mod_into<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        let a = a.into();
        self.modular_into(Modular::Square, a, a, moduli.into(), answers)
    }

    /// [`Engine::pow`] into `answers`, which is as wide as the moduli.
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let (bases, exponents) = (Batch::from_hex(["3", "3"])?, Batch::from_hex(["1", "6"])?);
    /// let modulus = Modulus::from_hex("7")?;
    /// let mut powers = Batch::zeros(modulus.bits(), 2);
    /// Engine::new()?.pow_into(&bases, &exponents, &modulus, &mut powers)?;
    /// assert_eq!(powers.as_limbs(), [3, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn pow_into<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        self.modular_into(Modular::Power, bases.into(), exponents.into(), moduli.into(), answers)
    }

    /// [`Engine::pow_vartime`] into `answers`, which is as wide as the moduli.
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let (messages, exponent) = (Batch::from_hex(["41"])?, Batch::from_hex(["10001"])?);
    /// let modulus = Modulus::from_hex("ca1")?;
    /// let mut powers = Batch::zeros(modulus.bits(), 1);
    /// Engine::new()?.pow_vartime_into(&messages, exponent.shared(0), &modulus, &mut powers)?;
    /// assert_eq!(powers.to_hex(0), "ae6");
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn pow_vartime_into<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
        answers: &mut Batch,
    ) -> Result<(), Error> {
        self.modular_into(Modular::PowerVartime, bases.into(), exponents.into(), moduli.into(), answers)
    }
}
