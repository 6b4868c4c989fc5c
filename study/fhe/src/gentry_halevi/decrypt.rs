//! Decryption, and the exact budget that only the owner of the secret key can measure.

use super::Error;
use super::ciphertext::Ciphertexts;
use super::keys::SecretKey;
use super::residue::exceeds_half;
use super::scheme::GentryHalevi;
use modmill::Resident;
use modmill_core::limbs::{bit_length, sub_from};

impl GentryHalevi<'_> {
    /// The bits of ciphertexts: the lowest bit of `c w mod d`, centred.
    ///
    /// A ciphertext with more noise than the key tolerates decrypts to any bit; operations refuse to make
    /// such.
    pub fn decrypt(&self, secret: &SecretKey, ciphertexts: &Ciphertexts) -> Result<Vec<bool>, Error> {
        if ciphertexts.is_empty() {
            return Ok(Vec::new());
        }
        // The bit is the lowest one, and the other one if the product is above d/2: d is odd.
        let device = self.engine.on_device();
        let products = self.products(secret, ciphertexts)?;
        let is_above = device.less(self.d.shared(0), &device.add(&products, &products)?)?.download()?;
        let lowest = device.shift_right(&products.narrowed(1), 0)?.download()?;
        Ok(lowest
            .iter()
            .zip(is_above.iter())
            .map(|(lowest, above)| (lowest[0] ^ above[0]) & 1 == 1)
            .collect())
    }

    /// The budget of each ciphertext in bits: how much smaller than d the number `c w mod d` is, centred. A
    /// ciphertext decrypts if it has any. [`GentryHalevi::budget`] is never greater.
    pub fn exact_budget(&self, secret: &SecretKey, ciphertexts: &Ciphertexts) -> Result<Vec<usize>, Error> {
        let (d, bits) = (self.key.modulus().value(), self.key.modulus().bits());
        let mut products = self.products(secret, ciphertexts)?.download()?;
        let mut budget = |index: usize| {
            let product = products.get_mut(index);
            if exceeds_half(product, d) == 1 {
                sub_from(product, d);
            }
            bits - bit_length(product)
        };
        Ok((0..ciphertexts.len()).map(&mut budget).collect())
    }

    /// The budget of each ciphertext in bits, as anyone can compute it from the operations that made it: at
    /// most the exact one. Decryption needs 0, recryption [`GentryHalevi::recrypt_needs`].
    #[must_use]
    pub fn budget(&self, ciphertexts: &Ciphertexts) -> Vec<f64> {
        ciphertexts.noise().iter().map(|noise| self.key.capacity() - noise).collect()
    }

    /// `c w mod d`.
    fn products(&self, secret: &SecretKey, ciphertexts: &Ciphertexts) -> Result<Resident, Error> {
        self.check_key(&[ciphertexts])?;
        if secret.fingerprint() != self.key.fingerprint() {
            return Err(Error::AnotherKey("the secret key"));
        }
        if ciphertexts.is_empty() {
            return Ok(ciphertexts.numbers().clone());
        }
        let device = self.engine.on_device();
        Ok(device.mul_mod(ciphertexts.numbers(), secret.w().shared(0), self.key.modulus())?)
    }
}
