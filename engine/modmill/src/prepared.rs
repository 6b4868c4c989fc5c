//! Factors that are transformed once for many products.

use crate::Engine;
use crate::engine::check_huge_widths;
use crate::near::OnHost;
use crate::place::{Device, Operation, Place};
use crate::products::Multiply;
use modmill_core::{Answers, Batch, Error, Op, Operand, Request, Resident, TRANSFORM_MAX_BITS};
use modmill_cpu::long::{Multiplier, PreparedFactor};
use modmill_cpu::out_of_memory::returned;
use std::fmt;

/// Bits of the longer factor from which products go by transforms on a device.
const LEAST_BITS: usize = 4096;

/// Factors of many products, transformed once ([`Engine::prepare`]). A product with them takes two transforms
/// instead of three.
pub struct Prepared {
    bits: usize,
    longest: usize,
    count: usize,
    form: Form,
}

enum Form {
    /// One factor as points of the CPU's transforms.
    Host(Multiplier, PreparedFactor),
    /// The factors as numbers on a device: those that are too short for transforms, and all if there are no
    /// GPUs.
    Plain(Resident),
    /// The factors as points of a device's transforms.
    Points(crate::gpu::Transformed),
}

impl Prepared {
    /// The declared width of the factors in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The greatest width of the other factors in bits.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The number of factors. A single one serves all items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no factors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of a device's memory that the factors take.
    #[must_use]
    pub fn device_bytes(&self) -> usize {
        match &self.form {
            Form::Host(..) => 0,
            Form::Plain(numbers) => numbers.bytes(),
            Form::Points(points) => points.bytes(),
        }
    }
}

impl fmt::Debug for Prepared {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prepared({} x {} bits)", self.count, self.bits)
    }
}

impl Engine {
    /// Transforms item 0 of `factor` on the host for products with factors of up to `longest` bits.
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
        let prepare = || multiplier.prepare(factor.limbs(0), longest.div_ceil(64));
        let prepared = returned(|| Ok(self.install(prepare)))?;
        let form = Form::Host(multiplier, prepared);
        Ok(Prepared { bits: factor.bits(), longest, count: 1, form })
    }
}

impl Engine<Device<'_>> {
    /// Transforms `factors` on a device for products with other factors of up to `longest` bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    ///
    /// let engine = Engine::new()?;
    /// let device = engine.on_device();
    /// let factor = Batch::from_hex(["ffff".repeat(1000)])?;
    /// let others = Batch::from_hex(["3", "deadbeef"])?;
    /// let products = device.mul_prepared(&others, &device.prepare(&factor, 32)?)?;
    /// assert_eq!(products.download()?, engine.mul(&others, factor.shared(0))?);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn prepare<'a>(&self, factors: impl Into<Operand<'a>>, longest: usize) -> Result<Prepared, Error> {
        let backends = self.place.home.backends();
        // The transform's copy of the factors, on a device of this engine.
        let ([near], _) = backends.near([factors.into()], None)?;
        let numbers = match near.operand() {
            Operand::Each(view) => self.place.home.upload(view)?,
            operand => self.gather(operand, &(0..operand.len().unwrap_or(1)).collect::<Vec<_>>())?,
        };
        let (bits, count) = (numbers.bits(), numbers.len());
        let form = match &backends.cuda {
            Some(cuda) if bits.max(longest) >= LEAST_BITS && bits.min(longest) > 0 && count > 0 => {
                Form::Points(cuda.transform(&numbers, longest)?)
            }
            Some(_) | None => Form::Plain(numbers),
        };
        Ok(Prepared { bits, longest, count, form })
    }
}

/// Full products with prepared factors.
struct PreparedProduct<'a> {
    a: Operand<'a>,
    b: &'a Prepared,
}

impl Operation for PreparedProduct<'_> {
    fn compute(&self, engine: &Engine, answers: Answers<'_>) -> Result<(), Error> {
        let (&Self { a, b }, backends) = (self, engine.backends());
        if a.bits() > b.longest {
            let limit = b.longest.min(TRANSFORM_MAX_BITS);
            return Err(Error::TooLong { what: "a", bits: a.bits(), limit });
        }
        let count = a.len().unwrap_or(b.count);
        if b.count != 1 && count != b.count {
            return Err(Error::LengthMismatch { what: "a", expected: b.count, found: count });
        }
        let bits = a.bits() + b.bits;
        answers.check(bits, count)?;
        match (&b.form, answers) {
            (Form::Plain(factors), answers) => {
                let b = if b.count == 1 { factors.shared(0) } else { factors.into() };
                Multiply { a, b: Some(b) }.compute(engine, answers)
            }
            (_, Answers::Plan(slot)) => {
                let request = Request::new(Op::Mul, a.bits().max(b.bits), count);
                *slot = Some(backends.plan_on_cpu(&request)?);
                Ok(())
            }
            (Form::Host(multiplier, factor), answers) => {
                let a = OnHost::of(a)?;
                let found = match count == 0 || a.operand().bits() == 0 || b.bits == 0 {
                    true => Batch::try_zeros(bits, count),
                    false => engine.cpu().mul_prepared(a.operand(), (factor, b.bits), *multiplier, count),
                };
                backends.put(found, answers)
            }
            (Form::Points(points), answers) => {
                let elsewhere = || Error::Unavailable("another engine prepared the factors".to_owned());
                let cuda = backends.cuda.as_ref().ok_or_else(elsewhere)?;
                let a = OnHost::unless(a, |view| points.is_with(view))?;
                let (products, seconds) = cuda.multiply_transformed(a.operand(), points)?;
                backends.add_kernel_seconds(seconds);
                match answers {
                    Answers::Device(slot, _) => *slot = Some(products),
                    answers => backends.put(products.download(), answers)?,
                }
                Ok(())
            }
        }
    }
}

impl<P: Place> Engine<P> {
    /// Full products `a b` with prepared factors b: one for each item, or one for all. Their width is the sum
    /// of both widths.
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
