//! Computing with encrypted bits: XOR is a sum, AND a product, modulo d.
//!
//! The norm of a sum of noise polynomials is at most the sum of their norms, that of a product at most the
//! product. An operation whose answers might not decrypt is refused before anything is computed.

use super::Error;
use super::ciphertext::Ciphertexts;
use super::scheme::GentryHalevi;
use modmill::{Batch, Operand, Resident};

impl GentryHalevi<'_> {
    /// `a XOR b` of each pair of bits.
    pub fn xor(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let noise = self.pairwise(a, b, sum_bits)?;
        Ok(self.ciphertexts(self.add_mod(a.numbers(), b.numbers().into())?, noise))
    }

    /// `a AND b` of each pair of bits.
    pub fn and(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let noise = self.pairwise(a, b, |a, b| a + b)?;
        let numbers = match a.is_empty() {
            true => a.numbers().clone(),
            false => self.engine.on_device().mul_mod(a.numbers(), b.numbers(), self.key.modulus())?,
        };
        Ok(self.ciphertexts(numbers, noise))
    }

    /// `NOT a` of each bit.
    pub fn not(&self, a: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_key(&[a])?;
        let noise: Vec<f64> = a.noise().iter().map(|&noise| sum_bits(noise, 0.0)).collect();
        self.check_budget(&noise, 0.0)?;
        let one = Operand::Shared { bits: 1, value: &[1] };
        Ok(self.ciphertexts(self.add_mod(a.numbers(), one)?, noise))
    }

    /// Bits that everyone knows, as ciphertexts without noise.
    pub fn constants(&self, bits: &[bool]) -> Result<Ciphertexts, Error> {
        let mut numbers = Batch::try_zeros(self.key.modulus().bits(), bits.len())?;
        for (index, &bit) in bits.iter().enumerate() {
            numbers.get_mut(index)[0] = bit.into();
        }
        Ok(self.ciphertexts(self.engine.upload(&numbers)?, vec![0.0; bits.len()]))
    }

    /// The noise of an operation on pairs, if it leaves any budget.
    fn pairwise(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        combine: impl Fn(f64, f64) -> f64,
    ) -> Result<Vec<f64>, Error> {
        self.check_key(&[a, b])?;
        if a.len() != b.len() {
            return Err(Error::Length { expected: a.len(), found: b.len() });
        }
        let noise: Vec<f64> = a.noise().iter().zip(b.noise()).map(|(&a, &b)| combine(a, b)).collect();
        self.check_budget(&noise, 0.0)?;
        Ok(noise)
    }

    /// `a + b mod d` for numbers below d.
    fn add_mod(&self, a: &Resident, b: Operand<'_>) -> Result<Resident, Error> {
        if a.is_empty() {
            return Ok(a.clone());
        }
        let device = self.engine.on_device();
        let d = self.d.shared(0);
        let sums = device.add(a, b)?;
        let differences = device.sub(&sums, d)?;
        let is_below = device.less(&sums, d)?;
        Ok(device.select(&is_below, &sums, &differences)?.narrowed(self.key.modulus().bits()))
    }
}

/// `log2(2^a + 2^b)`.
pub(super) fn sum_bits(a: f64, b: f64) -> f64 {
    let (greater, less) = (a.max(b), a.min(b));
    greater + (less - greater).exp2().ln_1p() / std::f64::consts::LN_2
}
