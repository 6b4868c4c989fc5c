//! The evaluation key: products of elements of the secret, encrypted under the secret itself.

use super::error::Error;
use super::parameters::Parameters;
use super::public_key::samples;
use super::random;
use super::secret_key::SecretKey;
use modmill::Engine;
use modmill::matrix::ResidueVectors;
use std::fmt;

/// The key that brings a product back to n + 1 elements: samples `[b | -A']` with
/// `b = A' s' + 2e + 2^(w t) s_i s_j`, the last term modulo one of the moduli and zero modulo all others.
/// There is a row for each modulus, pair `i <= j` and digit t, in this order, so that the rows of the first
/// moduli are the key for ciphertexts that have lost the others.
///
/// The key encrypts functions of the secret under that secret. That this is safe is an assumption (circular
/// security), as in most implementations.
#[derive(Clone)]
pub struct EvaluationKey {
    parameters: Parameters,
    seed: [u8; 32],
    b: ResidueVectors,
}

impl EvaluationKey {
    /// A new key for a secret key.
    pub fn generate(engine: &Engine, secret: &SecretKey) -> Result<Self, Error> {
        let parameters = secret.parameters().clone();
        let seed = random::seed()?;
        let rows = rows(&parameters, parameters.moduli().len());
        let mut b = samples(engine, secret, rows, seed)?;
        let (pairs, digits) = (secret.pairs(), parameters.digits());
        for (place, modulus) in parameters.moduli().words().iter().enumerate() {
            let plane = &mut b.as_mut_slice()[place * rows..][..rows];
            let own = &mut plane[place * pairs.len() * digits..][..pairs.len() * digits];
            for (rows, &pair) in own.chunks_mut(digits).zip(pairs.iter()) {
                let mut term = modulus.signed(pair);
                for residue in rows {
                    *residue = modulus.add(*residue, term);
                    term = modulus.mul(term, modulus.reduce(1 << parameters.digit_bits()));
                }
            }
        }
        Ok(Self { parameters, seed, b })
    }

    /// A key from the seed of A' and the residues of b: those of all rows for the first modulus, then for the
    /// second, and so on.
    pub fn from_parts(parameters: &Parameters, seed: [u8; 32], b: Vec<u32>) -> Result<Self, Error> {
        let rows = rows(parameters, parameters.moduli().len());
        let b = ResidueVectors::from_words(parameters.moduli(), 1, rows, b)?;
        Ok(Self { parameters: parameters.clone(), seed, b })
    }

    /// The seed of A' and the residues of b, as [`EvaluationKey::from_parts`] takes them.
    #[must_use]
    pub fn to_parts(&self) -> (&[u8; 32], &[u32]) {
        (&self.seed, self.b.as_slice())
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    pub(super) fn seed(&self) -> [u8; 32] {
        self.seed
    }

    pub(super) fn b(&self) -> &ResidueVectors {
        &self.b
    }
}

/// Rows of the key for ciphertexts with the first `moduli` moduli.
pub(super) fn rows(parameters: &Parameters, moduli: usize) -> usize {
    moduli * parameters.pairs() * parameters.digits()
}

impl fmt::Debug for EvaluationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EvaluationKey({} rows)", self.b.length())
    }
}
