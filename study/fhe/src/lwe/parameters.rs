//! Parameters: E.Setup.

use super::error::Error;
use super::noise::Noise;
use super::random::GREATEST;
use modmill::matrix::ResidueModuli;

/// The greatest dimension, and the greatest number of samples.
const MOST: usize = 1 << 24;

/// The parameters of the scheme: dimension n, number N of samples of the public key, moduli with their
/// product M, and the digits of key switching.
///
/// # Examples
///
/// ```
/// use modmill_fhe::lwe::Parameters;
///
/// let parameters = Parameters::leveled(16, 4)?;
/// assert_eq!(parameters.depth(), 4);
/// # Ok::<(), modmill_fhe::lwe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    dimension: usize,
    samples: usize,
    moduli: ResidueModuli,
    digit_bits: u32,
}

impl Parameters {
    /// Parameters with these moduli. Fresh ciphertexts must decrypt.
    pub fn new(dimension: usize, samples: usize, moduli: ResidueModuli) -> Result<Self, Error> {
        for (what, value) in [("the dimension", dimension), ("the number of samples", samples)] {
            if value == 0 || value > MOST {
                return Err(Error::Parameter { what, value, least: 1, most: MOST });
            }
        }
        let parameters = Self { dimension, samples, moduli, digit_bits: 1 };
        let fresh = Noise::fresh(samples);
        match fresh.fits(&parameters.moduli) {
            true => Ok(parameters),
            false => {
                Err(Error::NoRoom { noise_bits: fresh.bits(), modulus_bits: parameters.moduli.bits() as u32 })
            }
        }
    }

    /// Parameters for circuits: the `count` greatest primes below 2^32 as moduli, and as many samples as hide
    /// the message whatever the public key (the leftover hash lemma with 128 bits to spare):
    /// `N = (n + 1) log2 M + 256`.
    pub fn leveled(dimension: usize, count: usize) -> Result<Self, Error> {
        let moduli = ResidueModuli::largest(count)?;
        let samples = (dimension.saturating_add(1)).saturating_mul(moduli.bits()).saturating_add(256);
        Self::new(dimension, samples, moduli)
    }

    /// The thesis's setting: a square matrix of 1024-bit integers, N = n. A benchmark, and no secure
    /// parameters.
    pub fn benchmark(dimension: usize) -> Result<Self, Error> {
        Self::new(dimension, dimension, ResidueModuli::largest(32)?)
    }

    /// These parameters with digits of `bits` bits in key switching, 1 to 16. More bits make keys smaller and
    /// noise greater.
    pub fn with_digit_bits(self, bits: u32) -> Result<Self, Error> {
        match bits {
            1..=16 => Ok(Self { digit_bits: bits, ..self }),
            _ => {
                let value = bits as usize;
                Err(Error::Parameter { what: "the bits of a digit", value, least: 1, most: 16 })
            }
        }
    }

    /// The dimension n: elements of the secret vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number N of samples: rows of the public key.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The moduli.
    #[must_use]
    pub fn moduli(&self) -> &ResidueModuli {
        &self.moduli
    }

    /// The bits of a digit in key switching.
    #[must_use]
    pub fn digit_bits(&self) -> u32 {
        self.digit_bits
    }

    /// Digits of a residue.
    pub(super) fn digits(&self) -> usize {
        32usize.div_ceil(self.digit_bits as usize)
    }

    /// Elements of a tensor product: pairs i <= j of the n + 1 elements.
    pub(super) fn pairs(&self) -> usize {
        (self.dimension + 1) * (self.dimension + 2) / 2
    }

    /// A bound of `|s_0| + ... + |s_n|`, with s_0 = 1.
    pub(super) fn secret_sum(&self) -> f64 {
        1.0 + self.dimension as f64 * f64::from(GREATEST)
    }

    /// The greatest bits of a modulus that this dimension carries at 128 bits of security, by the table of
    /// the homomorphic-encryption guidelines of 2024 (ternary secret, sigma of about 3.2); `None` below
    /// dimension 1024.
    #[must_use]
    pub fn secure_modulus_bits(dimension: usize) -> Option<usize> {
        const TABLE: [(usize, usize); 8] = [
            (1024, 26),
            (2048, 53),
            (4096, 106),
            (8192, 214),
            (16_384, 430),
            (32_768, 868),
            (65_536, 1747),
            (131_072, 3523),
        ];
        TABLE.iter().rev().find(|(least, _)| *least <= dimension).map(|(_, bits)| *bits)
    }

    /// Whether the table of [`Parameters::secure_modulus_bits`] covers these parameters, and the public key
    /// has enough samples for the leftover hash lemma.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        let bits = self.moduli.bits();
        Self::secure_modulus_bits(self.dimension).is_some_and(|most| bits <= most)
            && self.samples >= (self.dimension + 1) * bits + 256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_parameters_are_refused() {
        let moduli = || ResidueModuli::largest(2).unwrap();
        for (dimension, samples) in [(0, 1), (1, 0), (usize::MAX, 1), (1, usize::MAX)] {
            assert!(matches!(Parameters::new(dimension, samples, moduli()), Err(Error::Parameter { .. })));
        }
        assert!(matches!(Parameters::leveled(usize::MAX, 2), Err(Error::Parameter { .. })));
        assert!(matches!(Parameters::leveled(8, 0), Err(Error::Engine(_))));
        let small = ResidueModuli::new(&[1001]).unwrap();
        assert!(matches!(Parameters::new(8, 100, small), Err(Error::NoRoom { .. })));
        for bits in [0, 17] {
            assert!(Parameters::leveled(8, 2).unwrap().with_digit_bits(bits).is_err());
        }
    }

    #[test]
    fn the_benchmark_is_not_secure() {
        assert!(!Parameters::benchmark(9326).unwrap().is_secure());
        assert!(!Parameters::leveled(64, 4).unwrap().is_secure());
        assert_eq!(Parameters::secure_modulus_bits(1023), None);
        assert_eq!(Parameters::secure_modulus_bits(61_376), Some(868));
        assert!(Parameters::leveled(2048, 1).unwrap().is_secure());
    }
}
