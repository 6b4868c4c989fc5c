//! Residues modulo one number that stay in Montgomery form between products.

use crate::Engine;
use crate::gpu::MontgomeryForm;
use crate::number;
use crate::place::Device;
use modmill_core::{Error, KERNEL_MAX_BITS, Modulus, Operand, Resident};
use zeroize::Zeroizing;

/// Residues modulo one number on a device, in the form that its kernels multiply ([`Residues::new`]).
///
/// A product of residues costs one Montgomery product. [`Engine::mul_mod`] of plain numbers costs several:
/// it leads into the form and out of it each time. [`Residues::numbers`] leads out of the form.
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

    /// The residues as numbers below the modulus.
    pub fn numbers(&self, device: &Engine<Device<'_>>) -> Result<Resident, Error> {
        match self.form {
            Form::Plain => Ok(self.values.clone()),
            Form::Montgomery(form) => {
                let one = Operand::Shared { bits: 1, value: &[1] };
                device.montgomery_product(form, (&self.values).into(), one, &self.modulus)
            }
        }
    }

    /// The products of these residues and others.
    pub fn mul(&self, device: &Engine<Device<'_>>, other: &Self) -> Result<Self, Error> {
        self.check(other)?;
        if self.len() != other.len() {
            return Err(Error::LengthMismatch {
                what: "the other residues",
                expected: self.len(),
                found: other.len(),
            });
        }
        Ok(self.with(match self.form {
            Form::Plain => device.mul_mod(&self.values, &other.values, &self.modulus)?,
            Form::Montgomery(form) => device.montgomery_product(
                form,
                (&self.values).into(),
                (&other.values).into(),
                &self.modulus,
            )?,
        }))
    }

    /// The squares of these residues.
    pub fn square(&self, device: &Engine<Device<'_>>) -> Result<Self, Error> {
        self.mul(device, self)
    }

    /// The sums of these residues and others.
    pub fn add(&self, device: &Engine<Device<'_>>, other: &Self) -> Result<Self, Error> {
        self.check(other)?;
        let sum = device.add(&self.values, &other.values)?;
        let modulus = Operand::Shared { bits: self.modulus.bits(), value: self.modulus.value() };
        let reduced = device.sub(&sum, modulus)?;
        let is_reduced = device.less(&sum, modulus)?;
        Ok(self.with(device.select(&is_reduced, &sum, &reduced)?.narrowed(self.modulus.bits())))
    }

    /// The differences of these residues and others.
    pub fn sub(&self, device: &Engine<Device<'_>>, other: &Self) -> Result<Self, Error> {
        self.check(other)?;
        let difference = device.sub(&self.values, &other.values)?;
        let modulus = Operand::Shared { bits: self.modulus.bits(), value: self.modulus.value() };
        let raised = device.sub(&device.add(&self.values, modulus)?, &other.values)?;
        let is_negative = device.less(&self.values, &other.values)?;
        Ok(self.with(device.select(&is_negative, &raised, &difference)?.narrowed(self.modulus.bits())))
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

impl Residues {
    /// The residues of `a` modulo one number, in the form that the device's kernels multiply.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Modulus, Residues};
    ///
    /// let engine = Engine::new()?;
    /// let device = engine.on_device();
    /// let modulus = Modulus::from_hex("fffffffb")?;
    /// let three = Residues::new(&device, &Batch::from_hex(["3", "fffffffa"])?, &modulus)?;
    /// let mut power = three.clone();
    /// for _ in 1..10 {
    ///     power = power.mul(&device, &three)?;
    /// }
    /// assert_eq!(power.numbers(&device)?.download()?.as_limbs(), [59049, 1]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn new<'a>(
        device: &Engine<Device<'_>>,
        a: impl Into<Operand<'a>>,
        modulus: &Modulus,
    ) -> Result<Self, Error> {
        let a = a.into();
        let is_odd = modulus.value()[0] & 1 == 1 && modulus.bits() > 1 && modulus.bits() <= KERNEL_MAX_BITS;
        let gpus = device.place.home.backends().cuda.as_ref().filter(|_| is_odd);
        let count = a.len().unwrap_or(1);
        let form = gpus.and_then(|cuda| cuda.montgomery_form(modulus.bits(), count));
        let form = form.map_or(Form::Plain, Form::Montgomery);
        let values = match form {
            Form::Plain => device.reduce(a, modulus)?,
            Form::Montgomery(form) => {
                let square = power_of_two_modulo(2 * form.radix_bits(), modulus);
                // Longer numbers are reduced by the kernels.
                let square = Operand::Shared { bits: modulus.bits(), value: &square };
                device.montgomery_product(form, a, square, modulus)?
            }
        };
        Ok(Self { values, modulus: modulus.clone(), form })
    }
}

impl Engine<Device<'_>> {
    fn montgomery_product(
        &self,
        form: MontgomeryForm,
        a: Operand<'_>,
        b: Operand<'_>,
        modulus: &Modulus,
    ) -> Result<Resident, Error> {
        let cuda = self.place.home.backends().cuda.as_ref();
        let cuda = cuda.ok_or_else(|| Error::Unavailable("residues of another engine".to_owned()))?;
        let ([a, b], _) = self.place.home.backends().near([a, b], None)?;
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
