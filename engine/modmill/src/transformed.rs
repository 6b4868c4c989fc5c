//! Factors whose transforms stay on a device between products.

use crate::Engine;
use crate::on_host::OnHost;
use crate::place::Device;
use modmill_core::{Error, Operand, Resident};
use std::fmt;
use std::sync::Arc;

/// Factors of many products on a device, transformed once ([`Transformed::new`]). A product with them
/// takes two transforms instead of three.
#[derive(Clone)]
pub struct Transformed {
    bits: usize,
    longest: usize,
    count: usize,
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// The factors as numbers: those that are too short for transforms, and all if there are no GPUs.
    Plain(Resident),
    /// The factors as points of transforms.
    Points(Arc<crate::gpu::Transformed>),
}

impl Transformed {
    /// The declared width of the factors, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The greatest width of the other factors, in bits.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The number of factors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no factors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the device's memory that the factors take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Plain(numbers) => numbers.bytes(),
            Form::Points(points) => points.bytes(),
        }
    }

    /// Full products `a b` with transformed factors: one for each item, or one for all items.
    pub fn mul<'a>(&self, device: &Engine<Device<'_>>, a: impl Into<Operand<'a>>) -> Result<Resident, Error> {
        let a = a.into();
        if a.bits() > self.longest {
            return Err(Error::TooLong { what: "a", bits: a.bits(), limit: self.longest });
        }
        if let (Some(found), true) = (a.len(), self.count != 1)
            && found != self.count
        {
            return Err(Error::LengthMismatch { what: "a", expected: self.count, found });
        }
        let backends = device.place.home.backends();
        match (&self.form, &backends.cuda) {
            (Form::Plain(numbers), _) if self.count == 1 => device.mul(a, numbers.shared(0)),
            (Form::Plain(numbers), _) => device.mul(a, numbers),
            (Form::Points(points), Some(cuda)) => {
                let a = OnHost::unless(a, |view| points.is_with(view))?;
                let (products, seconds) =
                    cuda.multiply_transformed(a.operand(), points).map_err(Error::from)?;
                backends.add_kernel_seconds(seconds);
                Ok(products)
            }
            (Form::Points(_), None) => {
                Err(Error::Unavailable("the factors were transformed by another engine".to_owned()))
            }
        }
    }
}

impl fmt::Debug for Transformed {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transformed({} x {} bits)", self.count, self.bits)
    }
}

/// Bits of the longer factor from which products go by transforms.
const LEAST_BITS: usize = 4096;

impl Transformed {
    /// Transforms `factors` for products with other factors of up to `longest` bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Transformed};
    ///
    /// let engine = Engine::new()?;
    /// let device = engine.on_device();
    /// let factor = Batch::from_hex(["ffff".repeat(1000)])?;
    /// let others = Batch::from_hex(["3", "deadbeef"])?;
    /// let transformed = Transformed::new(&device, &factor, 32)?;
    /// let products = transformed.mul(&device, &others)?;
    /// assert_eq!(products.download()?, engine.mul(&others, factor.shared(0))?);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn new<'a>(
        device: &Engine<Device<'_>>,
        factors: impl Into<Operand<'a>>,
        longest: usize,
    ) -> Result<Self, Error> {
        let backends = device.place.home.backends();
        let factors = factors.into();
        // The transform's copy of the factors, on a device of this engine.
        let ([near], _) = backends.near([factors], None)?;
        let numbers = device.gather_all(near.operand())?;
        let (bits, count) = (numbers.bits(), numbers.len());
        let form = match &backends.cuda {
            Some(cuda) if bits.max(longest) >= LEAST_BITS && bits.min(longest) > 0 && count > 0 => {
                Form::Points(Arc::new(cuda.transform(&numbers, longest).map_err(Error::from)?))
            }
            Some(_) | None => Form::Plain(numbers),
        };
        Ok(Self { bits, longest, count, form })
    }
}

impl Engine<Device<'_>> {
    /// An operand as a resident batch of its own.
    fn gather_all(&self, operand: Operand<'_>) -> Result<Resident, Error> {
        let indices: Vec<usize> = (0..operand.len().unwrap_or(1)).collect();
        match operand {
            Operand::Each(view) => self.place.home.upload(view),
            Operand::Shared { .. } | Operand::Resident(_) | Operand::SharedResident(_) => {
                self.gather(operand, &indices)
            }
        }
    }
}
