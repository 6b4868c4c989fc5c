//! Pairwise coprime odd moduli of at most 32 bits.

use super::word::WordModulus;
use crate::error::Error;
use crate::limbs;
use crate::rns::primes::is_prime;
use std::sync::Arc;

/// The most moduli: 8192 bits.
pub const MAX_MODULI: usize = 256;

/// Pairwise coprime odd moduli `m_0, ..., m_(k-1)` of at most 32 bits, and what joins residues to integers
/// modulo their product M. Clones share it.
///
/// # Examples
///
/// ```
/// use modmill_core::{Batch, ResidueModuli};
///
/// let moduli = ResidueModuli::largest(32)?;
/// assert_eq!(moduli.bits(), 1024);
/// let numbers = Batch::from_hex(["deadbeef00112233", "5"])?;
/// let residues = moduli.decompose(&numbers)?;
/// assert_eq!(moduli.compose(&residues)?.to_hex(1), "5");
/// # Ok::<(), modmill_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResidueModuli(Arc<Joint>);

#[derive(Debug)]
pub(super) struct Joint {
    pub(super) moduli: Vec<WordModulus>,
    /// M.
    pub(super) product: Vec<u64>,
    /// `M / m_i`, each as long as M.
    pub(super) cofactors: Vec<Vec<u64>>,
    /// `(M / m_i)^-1 mod m_i`.
    pub(super) inverses: Vec<u32>,
}

impl PartialEq for ResidueModuli {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.moduli == other.0.moduli
    }
}

impl Eq for ResidueModuli {}

impl ResidueModuli {
    /// A set of moduli. They must be odd, at least 3, pairwise coprime, and at most [`MAX_MODULI`] in number.
    pub fn new(moduli: &[u32]) -> Result<Self, Error> {
        if moduli.is_empty() || moduli.len() > MAX_MODULI {
            let (value, most) = (moduli.len(), MAX_MODULI);
            return Err(Error::OutOfRange { what: "the number of moduli", value, least: 1, most });
        }
        let words = moduli.iter().map(|&modulus| WordModulus::new(modulus)).collect::<Result<Vec<_>, _>>()?;
        for (place, &first) in moduli.iter().enumerate() {
            let shares = |second: &&u32| greatest_common_divisor(first, **second) != 1;
            if let Some(&second) = moduli[place + 1..].iter().find(shares) {
                return Err(Error::NotCoprime { first, second });
            }
        }
        let product_of = |left_out: Option<usize>| {
            let mut product = vec![0; moduli.len().div_ceil(2)];
            product[0] = 1;
            let factors = moduli.iter().enumerate().filter(|(place, _)| Some(*place) != left_out);
            factors.for_each(|(_, &factor)| multiply_by(&mut product, factor));
            product
        };
        let cofactors: Vec<Vec<u64>> = (0..moduli.len()).map(|place| product_of(Some(place))).collect();
        let inverses = words.iter().zip(&cofactors).map(|(modulus, cofactor)| {
            let residue = residue_of(*modulus, cofactor);
            modulus.inverse_vartime(residue).unwrap_or(1)
        });
        let inverses = inverses.collect();
        Ok(Self(Arc::new(Joint { product: product_of(None), moduli: words, cofactors, inverses })))
    }

    /// The `count` greatest primes below 2^32: a uniform word is a residue of such a prime but for one of
    /// many millions, and M has 32 bits for each.
    pub fn largest(count: usize) -> Result<Self, Error> {
        let primes = (0..=u32::MAX).rev().filter(|&candidate| is_prime(candidate));
        Self::new(&primes.take(count.min(MAX_MODULI + 1)).collect::<Vec<_>>())
    }

    /// The number k of moduli.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always at least one")]
    pub fn len(&self) -> usize {
        self.0.moduli.len()
    }

    /// The moduli.
    #[must_use]
    pub fn words(&self) -> &[WordModulus] {
        &self.0.moduli
    }

    /// The moduli as plain words.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u32> {
        self.0.moduli.iter().map(|modulus| modulus.get()).collect()
    }

    /// The product M of all moduli, least significant limb first.
    #[must_use]
    pub fn product(&self) -> &[u64] {
        &self.0.product
    }

    /// The bits of M.
    #[must_use]
    pub fn bits(&self) -> usize {
        limbs::bit_length(&self.0.product)
    }

    /// `(M / m_i)^-1 mod m_i` for each modulus.
    #[must_use]
    pub fn inverse_cofactors(&self) -> &[u32] {
        &self.0.inverses
    }

    /// The first `count` moduli. It is an error if `count` is 0 or greater than the number of moduli.
    pub fn first(&self, count: usize) -> Result<Self, Error> {
        match self.0.moduli.get(..count) {
            Some(first) => Self::new(&first.iter().map(|modulus| modulus.get()).collect::<Vec<_>>()),
            None => Err(Error::OutOfRange {
                what: "the number of moduli",
                value: count,
                least: 1,
                most: self.len(),
            }),
        }
    }

    pub(super) fn joint(&self) -> &Joint {
        &self.0
    }
}

/// A number modulo a word, by the same instructions for all numbers of the same length.
pub(super) fn residue_of(modulus: WordModulus, number: &[u64]) -> u32 {
    let halves = number.iter().rev().flat_map(|limb| [limb >> 32, limb & 0xffff_ffff]);
    halves.fold(0, |residue, half| modulus.reduce(u64::from(residue) << 32 | half))
}

/// `number *= factor`; the number has room for the product.
fn multiply_by(number: &mut [u64], factor: u32) {
    let mut carry = 0;
    for limb in number {
        let product = u128::from(*limb) * u128::from(factor) + carry;
        *limb = product as u64;
        carry = product >> 64;
    }
}

fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_are_checked() {
        assert!(matches!(ResidueModuli::new(&[]), Err(Error::OutOfRange { .. })));
        assert!(matches!(ResidueModuli::new(&[7, 1]), Err(Error::OutOfRange { value: 1, .. })));
        assert_eq!(ResidueModuli::new(&[7, 8]), Err(Error::EvenModulus(8)));
        assert_eq!(ResidueModuli::new(&[7, 15, 25]), Err(Error::NotCoprime { first: 15, second: 25 }));
        assert!(ResidueModuli::new(&vec![3; MAX_MODULI + 1]).is_err());
        assert!(ResidueModuli::largest(usize::MAX).is_err());
        let moduli = ResidueModuli::largest(32).unwrap();
        assert_eq!((moduli.len(), moduli.bits(), moduli.to_vec()[0]), (32, 1024, u32::MAX - 4));
        assert_eq!(moduli.first(3).unwrap().to_vec(), moduli.to_vec()[..3]);
        assert!(moduli.first(0).is_err() && moduli.first(33).is_err());
    }
}
