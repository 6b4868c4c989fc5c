//! One party's secret and its steps.

use crate::{Elements, Error, Group, hash};
use modmill::{Batch, Engine};
use rayon::prelude::*;
use std::fmt;
use zeroize::Zeroizing;

/// The domain of the hash into a group, before the group's name.
const DOMAIN: &str = "modmill-psi hash to group 1 ";

/// Octets of a hash beyond those of the prime: numbers of 128 bits more are uniform modulo the prime but for 2^-128.
const MORE: usize = 16;

/// A party: a secret exponent and the engine that computes with it.
///
/// A `Party` serves one intersection. Items that it blinds in two runs look the same in both.
pub struct Party<'a> {
    engine: &'a Engine,
    group: Group,
    /// One number, `2 s` for a random s of [`Group::exponent_bits`] bits. Raised to an even exponent, every number becomes a square:
    /// the hash of an item enters the group, and what the other party sent cannot tell by its order whether s is even.
    exponent: Batch,
}

impl<'a> Party<'a> {
    /// A party with a new secret exponent from the operating system's generator.
    pub fn new(engine: &'a Engine, group: Group) -> Result<Self, Error> {
        let bits = group.exponent_bits();
        let mut octets = Zeroizing::new([0; 64]);
        let octets = &mut octets[..bits.div_ceil(8)];
        // Zero would send every item to 1. It is drawn with a probability below 2^-224.
        while octets.iter().all(|&octet| octet == 0) {
            getrandom::fill(octets).map_err(|error| Error::Random(error.to_string()))?;
            octets[0] &= 0xff >> ((8 - bits % 8) % 8);
        }
        let secret = Batch::from_be_bytes([&*octets]).with_bits(bits)?;
        let exponent = engine.shift_left(&secret, 1)?.with_bits(bits + 1)?;
        Ok(Self { engine, group, exponent })
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// Blinds the party's own items: hashes each into the group and raises the hash to the secret exponent.
    ///
    /// The time depends on the number of items and on their lengths, not on their octets.
    pub fn blind<T: AsRef<[u8]> + Sync>(&self, items: &[T]) -> Result<Elements, Error> {
        let octets = self.group.octets() + MORE;
        let domain = [DOMAIN, self.group.name()].concat();
        let mut hashes = Batch::zeros(8 * octets, items.len());
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
        self.raise(&hashes)
    }

    /// Blinds what the other party has blinded. Elements keep their order.
    pub fn blind_again(&self, elements: &Elements) -> Result<Elements, Error> {
        if elements.group() != self.group {
            return Err(Error::OtherGroup { expected: self.group, found: elements.group() });
        }
        self.raise(elements.numbers())
    }

    fn raise(&self, numbers: &Batch) -> Result<Elements, Error> {
        let powers = self.engine.pow(numbers, self.exponent.shared(0), self.group.modulus())?;
        Elements::new(self.group, powers)
    }
}

impl fmt::Debug for Party<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Party").field("group", &self.group).finish_non_exhaustive()
    }
}
