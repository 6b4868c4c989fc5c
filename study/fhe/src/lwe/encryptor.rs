//! Encryption of batches of bits: E.Enc.

use super::ciphertexts::Ciphertexts;
use super::error::Error;
use super::noise::Noise;
use super::parameters::Parameters;
use super::public_key::PublicKey;
use super::random;
use modmill::Engine;
use modmill::matrix::{BitVectors, MemoryRows, Placement, ResidueMatrix, ResidueVectors};
use rayon::prelude::*;

/// Encrypts with a public key whose matrix is ready on an engine.
pub struct Encryptor<'e> {
    engine: &'e Engine,
    parameters: Parameters,
    /// A'.
    matrix: ResidueMatrix,
    /// b, as a matrix of one column.
    b: ResidueMatrix,
}

impl PublicKey {
    /// An encryptor with this key on an engine. A held matrix is on a GPU, or in memory.
    pub fn encryptor<'e>(&self, engine: &'e Engine, placement: Placement) -> Result<Encryptor<'e>, Error> {
        Encryptor::new(engine, self, placement)
    }
}

impl<'e> Encryptor<'e> {
    pub(super) fn new(engine: &'e Engine, key: &PublicKey, placement: Placement) -> Result<Self, Error> {
        let parameters = key.parameters().clone();
        let (rows, moduli) = (parameters.samples(), parameters.moduli());
        let words =
            (0..rows * moduli.len()).map(|word| key.b().plane(0, word % moduli.len())[word / moduli.len()]);
        let b = MemoryRows::new(moduli, rows, 1, words.collect())?;
        Ok(Self {
            engine,
            matrix: ResidueMatrix::new(engine, key.matrix()?, placement)?,
            b: ResidueMatrix::new(engine, b, Placement::Held)?,
            parameters,
        })
    }

    /// This encryptor with a function that is told how many rows of the matrix are done, and how many there
    /// are.
    #[must_use]
    pub fn with_progress(self, progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self { matrix: self.matrix.with_progress(progress), ..self }
    }

    /// Encrypts bits: `c = (m, 0, ..., 0) + A^T r` with a new vector r of N bits for each. `A^T r` is a sum
    /// of the rows that r selects, and needs no products. r is secret: all rows are read, and masks select.
    pub fn encrypt(&self, messages: &[bool]) -> Result<Ciphertexts, Error> {
        let vectors = random::bits(messages.len(), self.parameters.samples())?;
        self.encrypt_with(messages, &vectors)
    }

    /// Encrypts messages with these vectors r.
    fn encrypt_with(&self, messages: &[bool], vectors: &BitVectors) -> Result<Ciphertexts, Error> {
        let (moduli, dimension) = (self.parameters.moduli(), self.parameters.dimension());
        let first = self.b.multiply(self.engine, vectors)?;
        let others = self.matrix.multiply(self.engine, vectors)?;
        let mut sums = ResidueVectors::zeros(moduli, messages.len(), dimension + 1)?;
        self.engine.install(|| {
            let planes = sums.as_mut_slice().par_chunks_mut(dimension + 1);
            let planes = planes.zip(others.as_slice().par_chunks(dimension)).enumerate();
            planes.for_each(|(index, (plane, others))| {
                let modulus = moduli.words()[index % moduli.len()];
                plane[0] = modulus.add(first.as_slice()[index], u32::from(messages[index / moduli.len()]));
                plane[1..].iter_mut().zip(others).for_each(|(sum, &other)| *sum = modulus.negate(other));
            });
        });
        Ok(Ciphertexts::new(&self.parameters, sums, Noise::fresh(self.parameters.samples())))
    }
}
