//! The secret key: E.SecretKeyGen and E.Dec.

use super::ciphertexts::Ciphertexts;
use super::error::Error;
use super::parameters::Parameters;
use super::random::{self, GREATEST};
use modmill::Batch;
use modmill::matrix::{ResidueModuli, ResidueVectors};
use std::fmt;
use zeroize::Zeroizing;

/// The secret vector `s = (1, s')`, with s' from the error distribution. Cleared when dropped.
#[derive(Clone)]
pub struct SecretKey {
    parameters: Parameters,
    /// s'.
    elements: Zeroizing<Vec<i8>>,
}

impl SecretKey {
    /// A new key.
    pub fn generate(parameters: &Parameters) -> Result<Self, Error> {
        Ok(Self { parameters: parameters.clone(), elements: random::errors(parameters.dimension())? })
    }

    /// A key from the elements of s'. There must be n of them, none beyond 21.
    pub fn from_parts(parameters: &Parameters, elements: Vec<i8>) -> Result<Self, Error> {
        let elements = Zeroizing::new(elements);
        let parts = |reason| Err(Error::Parts { what: "a secret key", reason });
        if elements.len() != parameters.dimension() {
            return parts(format!("{} elements where {} belong", elements.len(), parameters.dimension()));
        }
        if elements.iter().any(|&element| i32::from(element).abs() > GREATEST) {
            return parts(format!("an element is beyond {GREATEST}"));
        }
        Ok(Self { parameters: parameters.clone(), elements })
    }

    /// The elements of s', to be kept secret.
    #[must_use]
    pub fn to_parts(&self) -> &[i8] {
        &self.elements
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The residues of s' as one vector.
    pub(super) fn residues(&self) -> Result<ResidueVectors, Error> {
        let length = self.elements.len();
        let moduli = self.parameters.moduli();
        let mut residues = ResidueVectors::zeros(moduli, 1, length)?;
        for (plane, modulus) in residues.as_mut_slice().chunks_mut(length).zip(moduli.words()) {
            for (residue, &element) in plane.iter_mut().zip(self.elements.iter()) {
                *residue = modulus.signed(element.into());
            }
        }
        Ok(residues)
    }

    /// The products `s_i s_j` for `i <= j`, with s_0 = 1.
    pub(super) fn pairs(&self) -> Zeroizing<Vec<i32>> {
        let all: Zeroizing<Vec<i32>> =
            Zeroizing::new(std::iter::once(1).chain(self.elements.iter().map(|&x| i32::from(x))).collect());
        let pairs = (0..all.len()).flat_map(|i| (i..all.len()).map(move |j| (i, j)));
        Zeroizing::new(pairs.map(|(i, j)| all[i] * all[j]).collect())
    }

    /// Decrypts: `m = [[<c, s>]_M]_2`, with `[.]_M` centred in (-M/2, M/2]. The instructions are the same for
    /// all keys and messages.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Vec<bool>, Error> {
        let moduli = ciphertexts.moduli();
        let phases = self.phases(ciphertexts)?;
        // A phase above M/2 stands for phase - M, and M is odd.
        let bit =
            |phase: &[u64]| (phase.first().copied().unwrap_or(0) ^ is_above_half(phase, moduli)) & 1 == 1;
        Ok(phases.iter().map(bit).collect())
    }

    /// The bits of the noise of each ciphertext: those of `|[<c, s>]_M|`. Decryption is right while they are
    /// fewer than those of M/2. Its time depends on the noise.
    pub fn noise_bits_vartime(&self, ciphertexts: &Ciphertexts) -> Result<Vec<usize>, Error> {
        let moduli = ciphertexts.moduli();
        let bits = |phase: &[u64]| {
            let mut centred = Zeroizing::new(phase.to_vec());
            if is_above_half(phase, moduli) == 1 {
                let mut borrow = false;
                for (limb, &modulus) in centred.iter_mut().zip(moduli.product()) {
                    let (difference, first) = modulus.overflowing_sub(*limb);
                    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
                    (*limb, borrow) = (difference, first | second);
                }
            }
            let top = centred.iter().rposition(|&limb| limb != 0);
            top.map_or(0, |top| 64 * (top + 1) - centred[top].leading_zeros() as usize)
        };
        Ok(self.phases(ciphertexts)?.iter().map(bits).collect())
    }

    /// `<c, s> mod M`, one number for each ciphertext.
    fn phases(&self, ciphertexts: &Ciphertexts) -> Result<Batch, Error> {
        ciphertexts.check(&self.parameters)?;
        let (moduli, vectors) = (ciphertexts.moduli(), ciphertexts.vectors());
        let secret = self.residues()?;
        let mut phases = ResidueVectors::zeros(moduli, 1, vectors.count())?;
        let count = vectors.count();
        for vector in 0..count {
            for (place, modulus) in moduli.words().iter().enumerate() {
                let (first, others) = vectors.plane(vector, place).split_at(1);
                let (mut low, mut high) = (u64::from(first[0]), 0);
                // Halves of at most 2^24 products: below 2^56.
                for (&c, &s) in others.iter().zip(secret.plane(0, place)) {
                    let product = u64::from(c) * u64::from(s);
                    low += product & 0xffff_ffff;
                    high += product >> 32;
                }
                phases.as_mut_slice()[place * count + vector] = modulus.reduce_wide(low, high);
            }
        }
        Ok(moduli.compose(&phases)?)
    }
}

/// 1 if `2 x > M`, else 0; by the same instructions for all x below M.
fn is_above_half(x: &[u64], moduli: &ResidueModuli) -> u64 {
    let (mut borrow, mut shifted_out) = (0, 0);
    for (&limb, &modulus) in x.iter().zip(moduli.product()) {
        let double = limb << 1 | shifted_out;
        shifted_out = limb >> 63;
        let (difference, first) = modulus.overflowing_sub(double);
        borrow = u64::from(first) | u64::from(difference.overflowing_sub(borrow).1);
    }
    borrow | shifted_out
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(dimension {})", self.parameters.dimension())
    }
}
