//! One party's secret and its steps.

use crate::{Elements, Error, Group, hash};
use modmill::{Batch, Engine};
use rayon::prelude::*;
use std::fmt;
use zeroize::Zeroizing;

/// The domain of the hash into a group, before the group's name.
const DOMAIN: &str = "modmill-psi hash to group 1 ";

/// Bytes of a hash beyond those of the prime: numbers of 128 bits more are uniform modulo the prime but for
/// 2^-128.
const MORE: usize = 16;

/// A party: a group and a secret exponent, which is zeroized on drop.
///
/// A `Party` serves one intersection. Items that it blinds in two runs look the same in both.
pub struct Party {
    group: Group,
    /// One number, `2 s` for a random s of [`Group::exponent_bits`] bits. Raised to an even exponent, every
    /// number becomes a square: the hash of an item enters the group, and what the other party sent cannot
    /// tell by its order whether s is even.
    exponent: Batch,
}

impl Party {
    /// A party with a new secret exponent from the operating system's generator.
    pub fn new(group: Group) -> Result<Self, Error> {
        let bits = group.exponent_bits();
        let mut octets = Zeroizing::new([0; 64]);
        let octets = &mut octets[..bits.div_ceil(8)];
        // Zero would send every item to 1. It is drawn with a probability below 2^-224.
        while octets.iter().all(|&octet| octet == 0) {
            getrandom::fill(octets).map_err(|error| Error::Random(error.to_string()))?;
            octets[0] &= 0xff >> ((8 - bits % 8) % 8);
        }
        // One byte more than the bits need: twice the number is shifted into it.
        let mut exponent = Batch::from_be_bytes([Zeroizing::new([&[0], &*octets].concat())]);
        let mut carry = 0;
        for limb in exponent.get_mut(0) {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 63);
        }
        Ok(Self { group, exponent: exponent.with_bits(bits + 1)? })
    }

    /// The secret exponent as big-endian bytes, for another process that works for the same party. Whoever
    /// has them can tell whether a guess is among the items that the party has blinded.
    ///
    /// ```
    /// use modmill_psi::{Group, Party};
    ///
    /// let engine = modmill::Engine::new()?;
    /// let party = Party::new(Group::Ffdhe2048)?;
    /// let again = Party::from_octets(party.group(), &party.to_octets())?;
    /// assert_eq!(again.blind(&engine, &["ann"])?, party.blind(&engine, &["ann"])?);
    /// # Ok::<(), modmill_psi::Error>(())
    /// ```
    #[must_use]
    pub fn to_octets(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.exponent.to_be_bytes(0))
    }

    /// The party whose secret [`Party::to_octets`] wrote.
    pub fn from_octets(group: Group, octets: &[u8]) -> Result<Self, Error> {
        let bits = group.exponent_bits() + 1;
        let wrong = || Error::Exponent { group, bits };
        // A longer number is refused before it is read. Bytes of whole limbs may have leading zeros.
        if octets.len() > bits.div_ceil(64) * 8 {
            return Err(wrong());
        }
        let exponent = Batch::from_be_bytes([octets]).with_bits(bits).map_err(|_| wrong())?;
        let limbs = exponent.get(0);
        let is_odd = limbs.first().is_none_or(|low| low & 1 == 1);
        match is_odd || limbs.iter().fold(0, |sum, limb| sum | limb) == 0 {
            true => Err(wrong()),
            false => Ok(Self { group, exponent }),
        }
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// Blinds the party's own items: hashes each into the group and raises the hash to the secret exponent.
    ///
    /// The time depends on the number of items and on their lengths, not on their bytes.
    pub fn blind<T: AsRef<[u8]> + Sync>(&self, engine: &Engine, items: &[T]) -> Result<Elements, Error> {
        let octets = self.group.octets() + MORE;
        let domain = [DOMAIN, self.group.name()].concat();
        let mut hashes = Batch::try_zeros(8 * octets, items.len())?;
        let rows = hashes.as_limbs_mut().par_chunks_exact_mut(octets / 8);
        rows.zip(items).for_each_init(
            || Zeroizing::new(vec![0; octets]),
            |hash, (row, item)| {
                hash::expand(item.as_ref(), domain.as_bytes(), hash);
                for (limb, octets) in row.iter_mut().rev().zip(hash.as_chunks().0) {
                    *limb = u64::from_be_bytes(*octets);
                }
            },
        );
        self.raise(engine, &hashes)
    }

    /// Blinds what the other party has blinded. Elements keep their order.
    pub fn blind_again(&self, engine: &Engine, elements: &Elements) -> Result<Elements, Error> {
        if elements.group() != self.group {
            return Err(Error::OtherGroup { expected: self.group, found: elements.group() });
        }
        self.raise(engine, elements.numbers())
    }

    fn raise(&self, engine: &Engine, numbers: &Batch) -> Result<Elements, Error> {
        let powers = engine.pow(numbers, self.exponent.shared(0), self.group.modulus())?;
        Elements::new(self.group, powers)
    }
}

impl fmt::Debug for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Party").field("group", &self.group).finish_non_exhaustive()
    }
}
