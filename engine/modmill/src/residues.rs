//! Residues modulo one number that stay in Montgomery form between products.

use crate::Engine;
use crate::gpu::MontgomeryForm;
use crate::near::Near;
use crate::number;
use crate::on_host::OnHost;
use crate::place::Device;
use modmill_core::{Error, KERNEL_MAX_BITS, Modulus, Operand, Resident};
use zeroize::Zeroizing;

/// Residues modulo one number on a device, in the form that its kernels multiply ([`Engine::residues`]).
///
/// A product of residues costs one Montgomery product. [`Engine::mul_mod`] of plain numbers costs several:
/// it leads into the form and out of it each time. [`Engine::numbers`] leads out of the form.
#[derive(Debug, Clone)]
pub struct Residues {
    values: Resident,
    modulus: Modulus,
    form: Form,
}

/// How residues are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As numbers below the modulus: for even moduli, for long ones, and without GPUs.
    Plain,
    /// As `a R mod N`.
    Montgomery(MontgomeryForm),
}

impl Residues {
    /// The number of residues.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The modulus.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Bytes of the device's memory that the residues take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.values.bytes()
    }

    /// Other values with the modulus and the form of these.
    fn with(&self, values: Resident) -> Self {
        Self { values, modulus: self.modulus.clone(), form: self.form }
    }

    /// An error unless both have the same modulus and are in the same form.
    fn check(&self, other: &Self) -> Result<(), Error> {
        let is_same = self.modulus.value() == other.modulus.value() && self.form == other.form;
        let differ = || Error::Unavailable("residues of different moduli or engines do not mix".to_owned());
        is_same.then_some(()).ok_or_else(differ)
    }
}

impl Engine<Device<'_>> {
    /// The residues of `a` modulo one number, in the form that the device's kernels multiply.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let device = engine.on_device();
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let three = device.residues(&Batch::from_hex(["3", "fffffffa"])?, &modulus)?;
    /// let mut power = three.clone();
    /// for _ in 1..10 {
    ///     power = device.mul_residues(&power, &three)?;
    /// }
    /// assert_eq!(device.numbers(&power)?.download()?.as_limbs(), [59049, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn residues<'a>(&self, a: impl Into<Operand<'a>>, modulus: &Modulus) -> Result<Residues, Error> {
        let a = a.into();
        let is_odd = modulus.value()[0] & 1 == 1 && modulus.bits() > 1 && modulus.bits() <= KERNEL_MAX_BITS;
        let gpus = self.place.home.backends().cuda.as_ref().filter(|_| is_odd);
        let count = a.len().unwrap_or(1);
        let form = gpus.and_then(|cuda| cuda.montgomery_form(modulus.bits(), count));
        let form = form.map_or(Form::Plain, Form::Montgomery);
        let values = match form {
            Form::Plain => self.reduce(a, modulus)?,
            Form::Montgomery(form) => {
                let square = power_of_two_modulo(2 * form.radix_bits(), modulus);
                // Longer numbers are reduced by the kernels.
                let square = Operand::Shared { bits: modulus.bits(), value: &square };
                self.montgomery_product(form, a, square, modulus)?
            }
        };
        Ok(Residues { values, modulus: modulus.clone(), form })
    }

    /// The residues as numbers below the modulus.
    pub fn numbers(&self, a: &Residues) -> Result<Resident, Error> {
        match a.form {
            Form::Plain => Ok(a.values.clone()),
            Form::Montgomery(form) => {
                let one = Operand::Shared { bits: 1, value: &[1] };
                self.montgomery_product(form, (&a.values).into(), one, &a.modulus)
            }
        }
    }

    /// `a b`.
    pub fn mul_residues(&self, a: &Residues, b: &Residues) -> Result<Residues, Error> {
        a.check(b)?;
        if a.len() != b.len() {
            return Err(Error::LengthMismatch { what: "b", expected: a.len(), found: b.len() });
        }
        Ok(a.with(match a.form {
            Form::Plain => self.mul_mod(&a.values, &b.values, &a.modulus)?,
            Form::Montgomery(form) => {
                self.montgomery_product(form, (&a.values).into(), (&b.values).into(), &a.modulus)?
            }
        }))
    }

    /// `a^2`.
    pub fn square_residues(&self, a: &Residues) -> Result<Residues, Error> {
        self.mul_residues(a, a)
    }

    /// `a + b`.
    pub fn add_residues(&self, a: &Residues, b: &Residues) -> Result<Residues, Error> {
        a.check(b)?;
        let sum = self.add(&a.values, &b.values)?;
        let modulus = Operand::Shared { bits: a.modulus.bits(), value: a.modulus.value() };
        let reduced = self.sub(&sum, modulus)?;
        let is_reduced = self.less(&sum, modulus)?;
        Ok(a.with(self.select(&is_reduced, &sum, &reduced)?.narrowed(a.modulus.bits())))
    }

    /// `a - b`.
    pub fn sub_residues(&self, a: &Residues, b: &Residues) -> Result<Residues, Error> {
        a.check(b)?;
        let difference = self.sub(&a.values, &b.values)?;
        let modulus = Operand::Shared { bits: a.modulus.bits(), value: a.modulus.value() };
        let raised = self.sub(&self.add(&a.values, modulus)?, &b.values)?;
        let is_negative = self.less(&a.values, &b.values)?;
        Ok(a.with(self.select(&is_negative, &raised, &difference)?.narrowed(a.modulus.bits())))
    }

    fn montgomery_product(
        &self,
        form: MontgomeryForm,
        a: Operand<'_>,
        b: Operand<'_>,
        modulus: &Modulus,
    ) -> Result<Resident, Error> {
        let cuda = self.place.home.backends().cuda.as_ref();
        let cuda = cuda.ok_or_else(|| Error::Unavailable("residues of another engine".to_owned()))?;
        let Near { a, b, .. } = self.place.home.backends().near(a, OnHost::Given(b), None)?;
        let product = cuda.montgomery_product(form, a.operand(), b.operand(), modulus);
        product
            .map(|(answers, seconds)| {
                self.place.home.backends().add_kernel_seconds(seconds);
                answers
            })
            .map_err(Error::from)
    }
}

/// `2^bits mod N`.
fn power_of_two_modulo(bits: usize, modulus: &Modulus) -> Zeroizing<Vec<u64>> {
    let mut power = vec![0; bits / 64 + 1];
    power[bits / 64] = 1 << (bits % 64);
    number::mul_mod(&power, &[1], modulus.value())
}
