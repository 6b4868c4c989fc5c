//! The scheme as circuits see it.

use super::eval::sum_bits;
use super::{Ciphertexts, Error, GentryHalevi};
use crate::circuit::Scheme;

/// Gates on encrypted bits. Noise is `log2` of a bound, as [`Ciphertexts::noise`] has it.
impl Scheme for GentryHalevi<'_> {
    type Bits = Ciphertexts;
    type Noise = f64;
    type Error = Error;

    fn len(&self, bits: &Ciphertexts) -> usize {
        bits.len()
    }

    fn select(&self, bits: &Ciphertexts, places: &[usize]) -> Result<Ciphertexts, Error> {
        bits.select(self.engine(), places)
    }

    fn join(&self, batches: &[&Ciphertexts]) -> Result<Ciphertexts, Error> {
        match batches {
            [] => self.constants(&[]),
            _ => Ciphertexts::join(self.engine(), batches),
        }
    }

    fn constant(&self, bit: bool, count: usize) -> Result<Ciphertexts, Error> {
        self.constants(&vec![bit; count])
    }

    fn not(&self, bits: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.not(bits)
    }

    fn xor(&self, left: &Ciphertexts, right: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.xor(left, right)
    }

    fn and(&self, left: &Ciphertexts, right: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.and(left, right)
    }

    fn recrypt(&self, bits: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.recrypt(bits)
    }

    fn noise(&self, bits: &Ciphertexts) -> Vec<f64> {
        bits.noise().to_vec()
    }

    fn noise_of_constant(&self) -> f64 {
        0.0
    }

    fn after_xor(&self, left: f64, right: f64) -> f64 {
        sum_bits(left, right)
    }

    fn after_and(&self, left: f64, right: f64) -> f64 {
        left + right
    }

    /// `None` for a key of a custom setting whose recrypted bits could not be recrypted again.
    fn after_recrypt(&self, _: f64) -> Option<f64> {
        let noise = self.key().recrypted_noise();
        (Scheme::budget(self, noise) >= self.recrypt_needs()).then_some(noise)
    }

    fn is_safe(&self, noise: f64) -> bool {
        let needed = if self.after_recrypt(noise).is_some() { self.recrypt_needs() } else { 0.0 };
        Scheme::budget(self, noise) >= needed
    }

    fn budget(&self, noise: f64) -> f64 {
        self.key().capacity() - noise
    }
}
