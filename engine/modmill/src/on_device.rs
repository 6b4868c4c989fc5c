//! Operations whose answers stay on a device.

use crate::Engine;
use crate::engine::product;
use crate::modular::Modular;
use crate::on_host::OnHost;
use crate::work::Work;
use modmill_core::{Batch, Error, Moduli, Operand, Resident};

/// The operations of an engine whose answers stay on a device ([`Engine::on_device`]).
///
/// Operands may be on the device, on the host, or both in one call. An operation runs on the device that
/// holds operands; those of the host, of another device or of another engine are copied. It returns when the
/// answers are there. What devices have no kernels for is computed on the host and copied back, and
/// [`Engine::plan`] tells.
///
/// A failed item is an [`Error::Items`], as with the engine's own operations; the error carries the other
/// answers on the host.
#[derive(Clone, Copy)]
pub struct OnDevice<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// The operations of an [`Engine`] with answers that stay on a device.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let factor = engine.upload(&Batch::from_hex(["3", "5"])?)?;
    /// let mut power = factor.clone();
    /// for _ in 1..10 {
    ///     power = engine.on_device().mul_mod(&power, &factor, &modulus)?;
    /// }
    /// assert_eq!(power.download()?.as_limbs(), [59049, 9765625]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    #[must_use]
    pub fn on_device(&self) -> OnDevice<'_> {
        OnDevice { engine: self }
    }
}

impl OnDevice<'_> {
    /// [`Engine::mul`] with the answers on a device.
    pub fn mul<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Resident, Error> {
        self.multiply(a.into(), Some(b.into()))
    }

    /// [`Engine::square`] with the answers on a device.
    pub fn square<'a>(&self, a: impl Into<Operand<'a>>) -> Result<Resident, Error> {
        self.multiply(a.into(), None)
    }

    /// [`Engine::mul_mod`] with the answers on a device.
    pub fn mul_mod<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        b: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Resident, Error> {
        self.engine.modular_resident(Modular::Multiply, a.into(), b.into(), moduli.into())
    }

    /// [`Engine::square_mod`] with the answers on a device.
    pub fn square_mod<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Resident, Error> {
        let a = a.into();
        self.engine.modular_resident(Modular::Square, a, a, moduli.into())
    }

    /// [`Engine::pow`] with the answers on a device.
    pub fn pow<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Resident, Error> {
        self.engine.modular_resident(Modular::Power, bases.into(), exponents.into(), moduli.into())
    }

    /// [`Engine::pow_vartime`] with the answers on a device. The declared width of exponents on a device
    /// counts, because nobody looks at them.
    pub fn pow_vartime<'a>(
        &self,
        bases: impl Into<Operand<'a>>,
        exponents: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Resident, Error> {
        self.engine.modular_resident(Modular::PowerVartime, bases.into(), exponents.into(), moduli.into())
    }

    /// [`Engine::reduce`] with the answers on a device.
    pub fn reduce<'a>(
        &self,
        a: impl Into<Operand<'a>>,
        moduli: impl Into<Moduli<'a>>,
    ) -> Result<Resident, Error> {
        self.mul_mod(a, Operand::Shared { bits: 1, value: &[1] }, moduli)
    }

    fn multiply(&self, a: Operand<'_>, b: Option<Operand<'_>>) -> Result<Resident, Error> {
        let Engine { backends, .. } = self.engine;
        let near = backends.near(a, OnHost::Given(b.unwrap_or(a)), None)?;
        let product = product(near.a.operand(), b.map(|_| near.b.operand()))?;
        match product.is_zero() {
            true => self.engine.upload_answers(Batch::try_zeros(product.bits(), product.count)?),
            false => match backends.compute_resident(Work::Product(&product))? {
                Some(answers) => Ok(answers),
                None => self.engine.upload_answers(backends.compute(Work::Product(&product))?),
            },
        }
    }
}
