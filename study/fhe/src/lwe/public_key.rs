//! The public key: E.PublicKeyGen.

use super::error::Error;
use super::parameters::Parameters;
use super::random;
use super::secret_key::SecretKey;
use modmill::Engine;
use modmill::matrix::{Placement, ResidueMatrix, ResidueVectors, SeededRows};
use std::fmt;

/// The public key `A = [b | -A']` with `b = A' s' + 2e`: A' is the matrix of N rows and n columns that a seed
/// expands to. `A s = 2e`, so that A hides nothing but the errors.
#[derive(Clone)]
pub struct PublicKey {
    parameters: Parameters,
    seed: [u8; 32],
    /// b, as one vector of N elements.
    b: ResidueVectors,
}

impl PublicKey {
    /// A new key for a secret key.
    pub fn generate(engine: &Engine, secret: &SecretKey) -> Result<Self, Error> {
        let parameters = secret.parameters().clone();
        let seed = random::seed()?;
        let b = samples(engine, secret, parameters.samples(), seed)?;
        Ok(Self { parameters, seed, b })
    }

    /// A key from the seed of A' and the residues of b: those of all rows for the first modulus, then for the
    /// second, and so on.
    pub fn from_parts(parameters: &Parameters, seed: [u8; 32], b: Vec<u32>) -> Result<Self, Error> {
        let b = ResidueVectors::from_words(parameters.moduli(), 1, parameters.samples(), b)?;
        Ok(Self { parameters: parameters.clone(), seed, b })
    }

    /// The seed of A' and the residues of b, as [`PublicKey::from_parts`] takes them.
    #[must_use]
    pub fn to_parts(&self) -> (&[u8; 32], &[u32]) {
        (&self.seed, self.b.as_slice())
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// b.
    pub(super) fn b(&self) -> &ResidueVectors {
        &self.b
    }

    /// A'.
    pub(super) fn matrix(&self) -> Result<SeededRows, Error> {
        let (rows, columns) = (self.parameters.samples(), self.parameters.dimension());
        Ok(SeededRows::new(self.parameters.moduli(), rows, columns, self.seed)?)
    }
}

/// `A' s' + 2e` for the matrix A' of `rows` rows that `seed` expands to.
pub(super) fn samples(
    engine: &Engine,
    secret: &SecretKey,
    rows: usize,
    seed: [u8; 32],
) -> Result<ResidueVectors, Error> {
    let parameters = secret.parameters();
    let source = SeededRows::new(parameters.moduli(), rows, parameters.dimension(), seed)?;
    let matrix = ResidueMatrix::new(engine, source, Placement::Streamed)?;
    let mut b = matrix.multiply_rows(engine, &secret.residues()?)?;
    let errors = random::errors(rows)?;
    for (plane, modulus) in b.as_mut_slice().chunks_mut(rows).zip(parameters.moduli().words()) {
        for (residue, &error) in plane.iter_mut().zip(errors.iter()) {
            *residue = modulus.add(*residue, modulus.signed(2 * i32::from(error)));
        }
    }
    Ok(b)
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} x {})", self.parameters.samples(), self.parameters.dimension())
    }
}
