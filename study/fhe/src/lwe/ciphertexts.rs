//! Batches of ciphertexts.

use super::error::Error;
use super::noise::Noise;
use super::parameters::Parameters;
use modmill::matrix::{ResidueModuli, ResidueVectors};
use std::fmt;

/// Encrypted bits: one vector of n + 1 integers each, modulo the product of the first moduli of the
/// parameters. Products drop moduli.
#[derive(Clone, PartialEq)]
pub struct Ciphertexts {
    parameters: Parameters,
    vectors: ResidueVectors,
    noise: Noise,
}

impl Ciphertexts {
    pub(super) fn new(parameters: &Parameters, vectors: ResidueVectors, noise: Noise) -> Self {
        Self { parameters: parameters.clone(), vectors, noise }
    }

    /// Ciphertexts from their parts: the number of moduli that are left, the logarithm of the bound of the
    /// noise, the number of ciphertexts, and their residues: for each ciphertext those of its n + 1 elements
    /// for the first modulus, then for the second, and so on. The bound must be one that decrypts, and no
    /// less than what encryption or the drop of a modulus leave.
    pub fn from_parts(
        parameters: &Parameters,
        moduli: usize,
        noise_log2: f64,
        count: usize,
        words: Vec<u32>,
    ) -> Result<Self, Error> {
        let moduli = parameters.moduli().first(moduli)?;
        let parts = |reason: &str| Error::Parts { what: "ciphertexts", reason: reason.to_owned() };
        let noise =
            Noise::from_log2(noise_log2).ok_or_else(|| parts("the bound of the noise is no number"))?;
        if !noise.fits(&moduli) {
            return Err(parts("the bound of the noise is beyond the modulus"));
        }
        let is_whole = moduli.len() == parameters.moduli().len();
        let least =
            if is_whole { Noise::fresh(parameters.samples()) } else { Noise::of(parameters.secret_sum()) };
        if noise < least {
            return Err(parts("the bound of the noise is below that of any ciphertext"));
        }
        let vectors = ResidueVectors::from_words(&moduli, count, parameters.dimension() + 1, words)?;
        Ok(Self { parameters: parameters.clone(), vectors, noise })
    }

    /// The number of moduli, the logarithm of the bound of the noise, the number of ciphertexts and their
    /// residues, as [`Ciphertexts::from_parts`] takes them.
    #[must_use]
    pub fn to_parts(&self) -> (usize, f64, usize, &[u32]) {
        (self.moduli().len(), self.noise.log2(), self.vectors.count(), self.vectors.as_slice())
    }

    /// The number of ciphertexts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vectors.count()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The moduli that are left.
    #[must_use]
    pub fn moduli(&self) -> &ResidueModuli {
        self.vectors.moduli()
    }

    /// The bits of the bound of the noise, in every one of these ciphertexts.
    #[must_use]
    pub fn noise_bits(&self) -> u32 {
        self.noise.bits()
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    pub(super) fn noise(&self) -> Noise {
        self.noise
    }

    pub(super) fn vectors(&self) -> &ResidueVectors {
        &self.vectors
    }

    /// An error if they belong to other parameters.
    pub(super) fn check(&self, parameters: &Parameters) -> Result<(), Error> {
        match self.parameters == *parameters {
            true => Ok(()),
            false => Err(Error::OtherParameters("a batch of ciphertexts")),
        }
    }
}

impl fmt::Debug for Ciphertexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, bits) = (self.len(), self.moduli().bits());
        write!(f, "Ciphertexts({count}, {bits} bits of modulus, noise below 2^{})", self.noise_bits())
    }
}
