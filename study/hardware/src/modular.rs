//! Chapter 7's modular multiplier: Montgomery's product by transforms of 1024 points.

mod constants;
mod passes;
mod power;
mod radix32;
mod transform;

use crate::digits;
use crate::error::Error;
use crate::memory::Memory;
use crate::twiddle::Twiddles;
use modmill_core::limbs;
pub use power::ModularPower;

/// Points of a transform.
const POINTS: usize = 1024;
/// Points of a butterfly, banks of a memory, and rows of a bank.
const SIDE: usize = 32;
/// Digits of an operand. The other half of the samples is zero.
const DIGITS: usize = POINTS / 2;

/// How the second operand of a modular product is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As a number: its transform is computed first.
    Number,
    /// As the transform that [`ModularMultiplier::prepare`] left in memory Y.
    Prepared,
    /// As the first operand itself: a square.
    Same,
}

/// A phase of a modular product and its cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// The name of the result.
    pub name: &'static str,
    /// Its cycles.
    pub cycles: u64,
}

/// A modular product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModularProduct {
    /// `x y R^-1 mod M`, limbs with the least significant first, where `R = 2^(512 b)` for digits of b bits.
    pub limbs: Vec<u64>,
    /// The phases in order.
    pub phases: Vec<Phase>,
}

impl ModularProduct {
    /// The cycles of all phases.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.phases.iter().map(|phase| phase.cycles).sum()
    }
}

/// The modular multiplier of chapter 7 for one modulus: one radix-16 unit, eight modular multipliers,
/// memories of 32 banks.
///
/// ```
/// use modmill_hardware::{Form, ModularMultiplier};
/// let mut machine = ModularMultiplier::new(16, &[1_000_003])?;
/// let square = machine.multiply(&[1234], &[], Form::Same)?;
/// assert_eq!(square.cycles(), 2030);
/// assert_eq!(machine.multiply(&[1234], &[1234], Form::Number)?.cycles(), 2330);
/// # Ok::<(), modmill_hardware::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModularMultiplier {
    digit_bits: u32,
    modulus: Vec<u64>,
    /// Digits of `R - M`.
    complement: Memory,
    twiddles: Twiddles,
    cycle: u64,
    /// The samples that are transformed.
    x: Memory,
    /// The transform of the second operand.
    y: Memory,
    /// T, and then the difference of the last subtraction.
    t: Memory,
    /// The transforms of M' and M.
    constants: [Memory; 2],
    phases: Vec<Phase>,
}

impl ModularMultiplier {
    /// The machine for `modulus` with digits of 16 bits (moduli up to 8192 bits) or 24 bits (up to 12 288).
    ///
    /// # Errors
    ///
    /// [`Error::Design`] for other digits, [`Error::Modulus`] for an even modulus or 1,
    /// [`Error::OperandTooLong`] for one that is too long.
    pub fn new(digit_bits: u32, modulus: &[u64]) -> Result<Self, Error> {
        if ![16, 24].contains(&digit_bits) {
            return Err(Error::Design(format!("digits have 16 or 24 bits, not {digit_bits}")));
        }
        let digits = digits::split("modulus", modulus, digit_bits, DIGITS)?;
        if digits[0] % 2 == 0 || limbs::bit_length(modulus) < 2 {
            return Err(Error::Modulus);
        }
        let length = DIGITS * digit_bits as usize / 64;
        let mut modulus = modulus.to_vec();
        modulus.resize(length, 0);
        let memory = |name| Memory::new(name, SIDE, SIDE);
        let mut machine = Self {
            digit_bits,
            complement: memory("R - M"),
            twiddles: Twiddles::new(),
            cycle: 0,
            x: memory("X"),
            y: memory("Y"),
            t: memory("T"),
            constants: [memory("M'"), memory("M")],
            phases: Vec::new(),
            modulus,
        };
        machine.set_up(&digits)?;
        Ok(machine)
    }

    /// Digits of an operand that is below the modulus.
    fn operand(&self, name: &'static str, number: &[u64]) -> Result<Vec<u64>, Error> {
        let digits = digits::split(name, number, self.digit_bits, DIGITS)?;
        let mut difference = number.to_vec();
        difference.resize(number.len().max(self.modulus.len()), 0);
        let borrow = limbs::sub_assign(&mut difference, &self.modulus);
        if borrow == 0 { Err(Error::NotReduced(name)) } else { Ok(digits) }
    }

    /// Leaves the transform of `y` in memory Y for products in the form [`Form::Prepared`]. Returns the
    /// cycles.
    ///
    /// # Errors
    ///
    /// [`Error::NotReduced`] and [`Error::OperandTooLong`].
    pub fn prepare(&mut self, y: &[u64]) -> Result<u64, Error> {
        let digits = self.operand("y", y)?;
        let from = self.cycle;
        self.transform_y(&digits)?;
        self.phases.clear();
        Ok(self.cycle - from)
    }

    /// Montgomery's product `x y R^-1 mod M` (algorithm 7.1). `y` is read in the form [`Form::Number`] alone.
    ///
    /// # Errors
    ///
    /// [`Error::NotReduced`] and [`Error::OperandTooLong`]; [`Error::ReadTooEarly`] if nothing was prepared.
    pub fn multiply(&mut self, x: &[u64], y: &[u64], form: Form) -> Result<ModularProduct, Error> {
        let x = self.operand("x", x)?;
        self.phases.clear();
        if form == Form::Number {
            let y = self.operand("y", y)?;
            self.transform_y(&y)?;
        }
        self.place_digits(&x)?;
        let limbs = self.montgomery(form)?;
        Ok(ModularProduct { limbs, phases: std::mem::take(&mut self.phases) })
    }

    /// Runs `work` as a phase of this name.
    fn phase<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let from = self.cycle;
        let value = work(self)?;
        self.phases.push(Phase { name, cycles: self.cycle - from });
        Ok(value)
    }
}
