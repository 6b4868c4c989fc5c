//! Sums modulo one long number, added before they are reduced.

use crate::Engine;
use crate::near::{OnHost, with_view};
use modmill_core::{Error, Modulus, Operand, Resident, Sums};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most numbers of a weighted sum: a device adds products of two bytes in words, and `2^16 255^2 < 2^32`.
const MOST_WEIGHTED: usize = 1 << 16;

/// A modulus for sums of products and for sums of numbers with small weights ([`ModularSums::new`]).
///
/// A transform of a number serves all products that the number is in, and a sum of products is transformed
/// back and reduced once. So thousands of products that make up a few sums cost little more than the sums.
///
/// On an engine with GPUs the modulus, the factors and the answers stay on one of them.
pub struct ModularSums<'e> {
    engine: &'e Engine,
    bits: usize,
    most: usize,
    place: Place,
    /// Tells factors that this transformed from others.
    number: u64,
}

enum Place {
    Host(Box<modmill_cpu::long::ModularSums>),
    Device(Box<crate::gpu::ModularSums>),
}

/// Factors of sums of products, transformed ([`ModularSums::factors`]).
pub struct SumFactors {
    place: Factors,
    /// The number of the `ModularSums` that transformed them.
    made_by: u64,
}

enum Factors {
    Host(modmill_cpu::long::SumFactors),
    Device(crate::gpu::SumFactors),
}

impl SumFactors {
    /// The number of factors.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.place {
            Factors::Host(factors) => factors.len(),
            Factors::Device(factors) => factors.len(),
        }
    }

    fn on_host(&self) -> Option<&modmill_cpu::long::SumFactors> {
        if let Factors::Host(factors) = &self.place { Some(factors) } else { None }
    }

    fn on_device(&self) -> Option<&crate::gpu::SumFactors> {
        if let Factors::Device(factors) = &self.place { Some(factors) } else { None }
    }

    /// Whether there are no factors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'e> ModularSums<'e> {
    /// A modulus for sums of at most `most` products of two numbers, and for weights that add up to at most
    /// `most`.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::sums::{ModularSums, Sums};
    /// use modmill::{Batch, Engine, Modulus};
    ///
    /// let engine = Engine::new()?;
    /// let modular = ModularSums::new(&engine, &Modulus::from_hex("fffffffb")?, 10)?;
    /// let numbers = Batch::from_hex(["3", "5", "fffffffa"])?; // x_0, x_1 and x_2
    /// let mut sums = Sums::default();
    /// sums.push([(0, &[1, 2][..]), (1, &[1])]); // x_0 (x_1 + x_2) + x_1 x_1
    /// let factors = modular.factors(&numbers)?;
    /// assert_eq!(modular.sums_of_products(&[&factors], &sums)?.download()?.as_limbs(), [37]);
    /// let numbers = engine.upload(&numbers)?;
    /// assert_eq!(modular.weighted_sums(&numbers, &[1, 2, 3])?.download()?.as_limbs(), [10]);
    /// # Ok::<(), modmill::Error>(())
    /// ```
    pub fn new(engine: &'e Engine, modulus: &Modulus, most: usize) -> Result<Self, Error> {
        let place = match &engine.backends().cuda {
            Some(cuda) => Place::Device(Box::new(cuda.modular_sums(modulus.value(), most)?)),
            None => {
                let sums = engine.backends().cpu.modular_sums(modulus.value(), most)?;
                let none =
                    || Error::Unavailable(format!("there are no transforms for sums of {most} products"));
                Place::Host(Box::new(sums.ok_or_else(none)?))
            }
        };
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { engine, bits: modulus.bits(), most, place, number })
    }
}

impl ModularSums<'_> {
    /// Transforms numbers whose declared width is not greater than the modulus's.
    pub fn factors<'a>(&self, numbers: impl Into<Operand<'a>>) -> Result<SumFactors, Error> {
        let numbers = numbers.into();
        self.check("a factor", numbers.bits())?;
        let cuda = self.engine.backends().cuda.as_ref();
        let place = match (&self.place, cuda) {
            (Place::Device(modular), Some(cuda)) => {
                let near = OnHost::unless(numbers, |view| modular.is_with(view))?;
                Factors::Device(cuda.sum_factors(modular, near.operand())?)
            }
            (Place::Host(modular), _) => {
                let near = OnHost::of(numbers)?;
                let cpu = &self.engine.backends().cpu;
                Factors::Host(with_view(near.operand(), |view| cpu.sum_factors(modular, view))?)
            }
            (Place::Device(_), None) => return Err(elsewhere()),
        };
        Ok(SumFactors { place, made_by: self.number })
    }

    /// The sums, in order. Indices run through all groups of factors, one after the other.
    ///
    /// It is an error if a sum names a number that is not there, or has more products than this was made for,
    /// and if factors were transformed by another `ModularSums`.
    pub fn sums_of_products(&self, factors: &[&SumFactors], sums: &Sums) -> Result<Resident, Error> {
        let found = factors.iter().map(|group| group.len()).sum();
        if sums.numbers() > found {
            return Err(Error::LengthMismatch { what: "the factors", expected: sums.numbers(), found });
        }
        if factors.iter().any(|group| group.made_by != self.number) {
            return Err(elsewhere());
        }
        self.check_most("the products of a sum", sums.most_products())?;
        let backends = self.engine.backends();
        match (&self.place, &backends.cuda) {
            (Place::Device(modular), Some(cuda)) => {
                let groups: Vec<_> = factors.iter().filter_map(|group| group.on_device()).collect();
                let (answers, seconds) = cuda.sums_of_products(modular, &groups, sums)?;
                backends.add_kernel_seconds(seconds);
                Ok(answers)
            }
            (Place::Host(modular), _) => {
                let groups: Vec<_> = factors.iter().filter_map(|group| group.on_host()).collect();
                self.engine
                    .backends()
                    .upload_answers(backends.cpu.sums_of_products(modular, &groups, sums)?, None)
            }
            (Place::Device(_), None) => Err(elsewhere()),
        }
    }

    /// Sums of `numbers` with weights: for each sum a byte for each number. The numbers are read in an order
    /// that does not depend on the weights, which may be secret. There are at most 65 536 numbers.
    pub fn weighted_sums<'a>(
        &self,
        numbers: impl Into<Operand<'a>>,
        weights: &[u8],
    ) -> Result<Resident, Error> {
        let numbers = numbers.into();
        self.check("a number", numbers.bits())?;
        let count = numbers.len().unwrap_or(1);
        if count == 0 || !weights.len().is_multiple_of(count) {
            return Err(Error::LengthMismatch { what: "the weights", expected: count, found: weights.len() });
        }
        if count > MOST_WEIGHTED {
            let what = "the numbers of a weighted sum";
            return Err(Error::OutOfRange { what, value: count, least: 1, most: MOST_WEIGHTED });
        }
        let total = |sum: &[u8]| sum.iter().map(|&weight| usize::from(weight)).sum();
        let heaviest = weights.chunks_exact(count).map(total).max();
        self.check_most("the weights of a sum", heaviest.unwrap_or(0))?;
        let backends = self.engine.backends();
        match (&self.place, &backends.cuda) {
            (Place::Device(modular), Some(cuda)) => {
                let near = OnHost::unless(numbers, |view| modular.is_with(view))?;
                let (answers, seconds) = cuda.weighted_sums(modular, near.operand(), weights)?;
                backends.add_kernel_seconds(seconds);
                Ok(answers)
            }
            (Place::Host(modular), _) => {
                let near = OnHost::of(numbers)?;
                let answers =
                    with_view(near.operand(), |view| backends.cpu.weighted_sums(modular, view, weights))?;
                self.engine.backends().upload_answers(answers, None)
            }
            (Place::Device(_), None) => Err(elsewhere()),
        }
    }

    fn check(&self, what: &'static str, bits: usize) -> Result<(), Error> {
        match bits > self.bits {
            true => Err(Error::TooLong { what, bits, limit: self.bits }),
            false => Ok(()),
        }
    }

    fn check_most(&self, what: &'static str, value: usize) -> Result<(), Error> {
        match value > self.most {
            true => Err(Error::OutOfRange { what, value, least: 0, most: self.most }),
            false => Ok(()),
        }
    }
}

fn elsewhere() -> Error {
    Error::Unavailable("the factors were transformed for another modulus or engine".to_owned())
}
