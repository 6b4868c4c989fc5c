//! Batches of ciphertexts.

use super::Error;
use super::keys::{Fingerprint, PublicKey};
use super::parts::{Parts, Section, decode_numbers, encode_numbers};
use modmill::{Batch, Engine, Resident};

/// Encrypted bits: numbers modulo d, and a bound on the noise of each.
///
/// The numbers stay on the engine's device, if it has one. The bounds are public: they follow from the
/// operations alone.
#[derive(Debug, Clone)]
pub struct Ciphertexts {
    numbers: Resident,
    noise: Vec<f64>,
    key: Fingerprint,
}

impl Ciphertexts {
    pub(super) fn new(numbers: Resident, noise: Vec<f64>, key: Fingerprint) -> Self {
        debug_assert_eq!(numbers.len(), noise.len());
        Self { numbers, noise, key }
    }

    /// The number of ciphertexts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.noise.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.noise.is_empty()
    }

    /// The numbers.
    #[must_use]
    pub fn numbers(&self) -> &Resident {
        &self.numbers
    }

    /// Bounds on the noise of each ciphertext, in bits: `log2` of the greatest magnitude of its noise
    /// polynomial at a root of `x^n + 1`.
    #[must_use]
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// The fingerprint of the public key.
    #[must_use]
    pub fn key(&self) -> &Fingerprint {
        &self.key
    }

    /// The ciphertexts at some positions, in the order of the positions, which may repeat.
    pub fn select(&self, engine: &Engine, positions: &[usize]) -> Result<Self, Error> {
        let len = self.len();
        if let Some(&index) = positions.iter().find(|position| **position >= len) {
            return Err(Error::Index { index, len });
        }
        let numbers = match positions.is_empty() {
            true => engine.upload(&Batch::try_zeros(self.numbers.bits(), 0)?)?,
            false => engine.on_device().gather(&self.numbers, positions)?,
        };
        Ok(Self::new(numbers, positions.iter().map(|&position| self.noise[position]).collect(), self.key))
    }

    /// All ciphertexts of several batches, one batch after the other. There is at least one batch.
    pub fn join(engine: &Engine, batches: &[&Self]) -> Result<Self, Error> {
        let [first, others @ ..] = batches else { return Err(Error::Length { expected: 1, found: 0 }) };
        if others.iter().any(|batch| batch.key != first.key) {
            return Err(Error::AnotherKey("a ciphertext"));
        }
        let noise = batches.iter().flat_map(|batch| batch.noise.iter().copied()).collect();
        let numbers: Vec<&Resident> = batches.iter().map(|batch| &batch.numbers).collect();
        Ok(Self::new(engine.on_device().join(&numbers)?, noise, first.key))
    }

    /// Each ciphertext as a batch of its own.
    pub fn split(&self, engine: &Engine) -> Result<Vec<Self>, Error> {
        (0..self.len()).map(|position| self.select(engine, &[position])).collect()
    }

    /// The parts of the batch, by name: `fingerprint`, `bounds` with 8 bytes an item, `numbers`.
    pub fn sections(&self) -> Result<Vec<Section>, Error> {
        let bounds = self.noise.iter().flat_map(|noise| noise.to_le_bytes()).collect();
        Ok(vec![
            Section::new("fingerprint", self.key.to_vec()),
            Section::new("bounds", bounds),
            Section::new("numbers", encode_numbers(&self.numbers.download()?)),
        ])
    }

    /// Ciphertexts from their parts, whose lengths and ranges are checked. The bounds on noise are taken as
    /// they are: whoever stored the ciphertexts answers for them.
    pub fn from_sections<'a>(
        engine: &Engine,
        key: &PublicKey,
        sections: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Self, Error> {
        let parts = Parts::new(sections);
        if parts.get("fingerprint")? != key.fingerprint() {
            return Err(Error::AnotherKey("a ciphertext"));
        }
        let (bounds, rest) = parts.get("bounds")?.as_chunks::<8>();
        let noise: Vec<f64> = bounds.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        if !rest.is_empty() || noise.iter().any(|noise| !(0.0..=key.capacity()).contains(noise)) {
            return Err(Error::part("bounds", "holds a number out of range"));
        }
        let numbers = decode_numbers("numbers", parts.get("numbers")?, noise.len(), key.modulus())?;
        Ok(Self::new(engine.upload(&numbers)?, noise, *key.fingerprint()))
    }
}
