//! Homomorphic operations on batches of ciphertexts.

use super::ciphertexts::Ciphertexts;
use super::error::Error;
use super::evaluation_key::EvaluationKey;
use super::level::level_rows;
use super::noise::Noise;
use super::parameters::Parameters;
use super::switch::{bits_of, digits_of, drop_modulus, tensor};
use modmill::Engine;
use modmill::matrix::{Placement, ResidueMatrix, ResidueVectors};
use std::borrow::Cow;

/// Computes with ciphertexts, with an evaluation key whose matrices are ready on an engine.
pub struct Evaluator<'e> {
    engine: &'e Engine,
    parameters: Parameters,
    /// The key's matrix for one modulus, for two, and so on.
    levels: Vec<ResidueMatrix>,
}

impl<'e> Evaluator<'e> {
    /// An evaluator on an engine.
    pub fn new(engine: &'e Engine, key: &EvaluationKey, placement: Placement) -> Result<Self, Error> {
        let counts = 1..=key.parameters().moduli().len();
        let levels = counts.map(|count| Ok(ResidueMatrix::new(engine, level_rows(key, count)?, placement)?));
        let levels = levels.collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { engine, parameters: key.parameters().clone(), levels })
    }

    /// Exclusive or, bit by bit: sums. Operands with different numbers of moduli are brought to the smaller
    /// one.
    pub fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let (a, b) = self.aligned(a, b)?;
        let noise = a.noise().plus(b.noise());
        noise.check(a.moduli())?;
        let mut sums = a.vectors().clone();
        let length = sums.length();
        let planes = sums.as_mut_slice().chunks_mut(length).zip(b.vectors().as_slice().chunks(length));
        for (index, (plane, others)) in planes.enumerate() {
            let modulus = a.moduli().words()[index % a.moduli().len()];
            plane.iter_mut().zip(others).for_each(|(sum, &other)| *sum = modulus.add(*sum, other));
        }
        Ok(Ciphertexts::new(&self.parameters, sums, noise))
    }

    /// Exclusive or with public bits, one for each ciphertext: adds 0 or 1 to the first element.
    pub fn add_plain(&self, a: &Ciphertexts, bits: &[bool]) -> Result<Ciphertexts, Error> {
        a.check(&self.parameters)?;
        if a.len() != bits.len() {
            return Err(Error::Count { first: a.len(), second: bits.len() });
        }
        let noise = a.noise().plus(Noise::of(1.0));
        noise.check(a.moduli())?;
        let (mut sums, moduli) = (a.vectors().clone(), a.moduli());
        let length = sums.length();
        for (index, plane) in sums.as_mut_slice().chunks_mut(length).enumerate() {
            let modulus = moduli.words()[index % moduli.len()];
            plane[0] = modulus.add(plane[0], u32::from(bits[index / moduli.len()]));
        }
        Ok(Ciphertexts::new(&self.parameters, sums, noise))
    }

    /// Not, bit by bit.
    pub fn not(&self, a: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.add_plain(a, &vec![true; a.len()])
    }

    /// And, bit by bit: tensor products, brought back to n + 1 elements by key switching, and divided by the
    /// last modulus unless it is the only one. It is [`Error::TooDeep`], and nothing is computed, if the
    /// bound of the noise is beyond the modulus.
    pub fn multiply(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let (a, b) = self.aligned(a, b)?;
        let count = a.moduli().len();
        let (noise, left) = a.noise().after_product(b.noise(), &self.parameters, count)?;
        let products = self.engine.install(|| tensor(a.vectors(), b.vectors()))?;
        let switched = self.switch_keys(&products)?;
        let vectors = if left < count { self.engine.install(|| drop_modulus(&switched))? } else { switched };
        Ok(Ciphertexts::new(&self.parameters, vectors, noise))
    }

    /// Divides ciphertexts by their last moduli until `count` are left.
    pub fn lower(&self, a: &Ciphertexts, count: usize) -> Result<Ciphertexts, Error> {
        a.check(&self.parameters)?;
        let now = a.moduli().len();
        if count == 0 || count > now {
            return Err(Error::Parameter { what: "the number of moduli", value: count, least: 1, most: now });
        }
        let mut noise = a.noise();
        for place in (count..now).rev() {
            noise = noise.after_drop(&self.parameters, a.moduli().words()[place].get());
            noise.check(&a.moduli().first(place)?)?;
        }
        let mut vectors = Cow::Borrowed(a.vectors());
        for _ in count..now {
            vectors = Cow::Owned(drop_modulus(&vectors)?);
        }
        Ok(Ciphertexts::new(&self.parameters, vectors.into_owned(), noise))
    }

    /// Both operands with as many moduli as the one that has fewer.
    fn aligned<'a>(
        &self,
        a: &'a Ciphertexts,
        b: &'a Ciphertexts,
    ) -> Result<(Cow<'a, Ciphertexts>, Cow<'a, Ciphertexts>), Error> {
        a.check(&self.parameters)?;
        b.check(&self.parameters)?;
        if a.len() != b.len() {
            return Err(Error::Count { first: a.len(), second: b.len() });
        }
        let count = a.moduli().len().min(b.moduli().len());
        let lowered = |one: &'a Ciphertexts| match one.moduli().len() == count {
            true => Ok(Cow::Borrowed(one)),
            false => self.lower(one, count).map(Cow::Owned),
        };
        Ok((lowered(a)?, lowered(b)?))
    }

    /// Tensor products as ciphertexts of n + 1 elements: their digits select rows of the key.
    fn switch_keys(&self, products: &ResidueVectors) -> Result<ResidueVectors, Error> {
        let matrix = &self.levels[products.moduli().len() - 1];
        // The digits of ciphertexts are public.
        Ok(match self.parameters.digit_bits() {
            1 => matrix.multiply_vartime(self.engine, &bits_of(products)?)?,
            _ => matrix.multiply(self.engine, &digits_of(products, &self.parameters)?)?,
        })
    }
}
