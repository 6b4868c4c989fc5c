//! Blinded items, and their tags.

use crate::{Error, Group};
use modmill::Batch;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// Bytes of a [`Tag`].
///
/// Two different items have the same tag with a probability of 2^-128. For sets of 2^30 items each, the
/// probability that any two have is 2^-68.
pub const TAG_OCTETS: usize = 16;

/// The short name of an item that both parties have blinded: the first bytes of a SHA-256 digest.
pub type Tag = [u8; TAG_OCTETS];

/// Elements of a group: items that were blinded by one party or by both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elements {
    group: Group,
    numbers: Batch,
}

impl Elements {
    /// Elements of `group` from their numbers. Every number must be between 2 and p - 2.
    ///
    /// 0, 1 and p - 1 have powers that do not depend on the exponent as those of other numbers do. A number
    /// that is no square is let in: exponents are even, so that its powers are squares, and they tell nothing
    /// about the exponent.
    pub fn new(group: Group, numbers: Batch) -> Result<Self, Error> {
        let prime = group.modulus().value();
        // p is odd, so that p - 1 differs in the lowest limb only.
        let is_inside = |number: &[u64]| {
            let (low, high) = number.split_first().unwrap_or((&0, &[]));
            let is_small = *low <= 1 && high.iter().all(|&limb| limb == 0);
            let below = number.iter().rev().cmp(prime.iter().rev()).is_lt();
            let is_minus_one = *low == prime[0] - 1 && high == &prime[1..];
            !is_small && below && !is_minus_one
        };
        let numbers =
            if numbers.bits() == group.bits() { numbers } else { numbers.with_bits(group.bits())? };
        let outside = numbers.iter().position(|number| !is_inside(number));
        match outside {
            None => Ok(Self { group, numbers }),
            Some(index) => Err(Error::Element { index }),
        }
    }

    /// Elements of `group` from big-endian bytes, [`Group::octets`] for each.
    ///
    /// ```
    /// use modmill_psi::{Elements, Error, Group};
    ///
    /// let octets = [[0; 255].as_slice(), &[4]].concat();
    /// let elements = Elements::from_octets(Group::Ffdhe2048, &octets)?;
    /// assert_eq!((elements.len(), elements.to_octets()), (1, octets));
    /// assert!(matches!(Elements::from_octets(Group::Ffdhe2048, &[0; 256]), Err(Error::Element { index: 0 })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_octets(group: Group, octets: &[u8]) -> Result<Self, Error> {
        let element = group.octets();
        if !octets.len().is_multiple_of(element) {
            return Err(Error::Ragged { octets: octets.len(), element });
        }
        let mut numbers = Batch::try_zeros(group.bits(), octets.len() / element)?;
        let rows = numbers.as_limbs_mut().par_chunks_exact_mut(element / 8);
        rows.zip(octets.par_chunks_exact(element)).for_each(|(row, octets)| {
            for (limb, octets) in row.iter_mut().rev().zip(octets.as_chunks().0) {
                *limb = u64::from_be_bytes(*octets);
            }
        });
        Self::new(group, numbers)
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// The numbers, each below the prime of the group.
    #[must_use]
    pub fn numbers(&self) -> &Batch {
        &self.numbers
    }

    /// The numbers, each below the prime of the group.
    #[must_use]
    pub fn into_numbers(self) -> Batch {
        self.numbers
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The elements in big-endian bytes, [`Group::octets`] for each.
    #[must_use]
    pub fn to_octets(&self) -> Vec<u8> {
        let element = self.group.octets();
        let mut octets = vec![0; element * self.len()];
        let rows = self.numbers.as_limbs().par_chunks_exact(element / 8);
        rows.zip(octets.par_chunks_exact_mut(element)).for_each(|(row, octets)| write(row, octets));
        octets
    }

    /// The tags of the elements. Tags are compared where both parties have blinded the elements.
    #[must_use]
    pub fn tags(&self) -> Vec<Tag> {
        let element = self.group.octets();
        let rows = self.numbers.as_limbs().par_chunks_exact(element / 8);
        let tag = |octets: &mut Vec<u8>, row: &[u64]| {
            write(row, octets);
            let digest = Sha256::new().chain_update("modmill-psi tag 1 ").chain_update(self.group.name());
            let digest: [u8; 32] = digest.chain_update(octets).finalize().into();
            std::array::from_fn(|index| digest[index])
        };
        rows.map_init(|| vec![0; element], tag).collect()
    }
}

/// Writes a number in big-endian bytes.
fn write(row: &[u64], octets: &mut [u8]) {
    for (limb, octets) in row.iter().rev().zip(octets.as_chunks_mut().0) {
        *octets = limb.to_be_bytes();
    }
}
