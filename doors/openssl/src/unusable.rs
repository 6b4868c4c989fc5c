//! Numbers that are no key of RSA.

use crate::failure::Failure;
use crate::names::param;
use crate::params::{Given, Numbers};
use zeroize::Zeroizing;

/// The numbers of a key whose modulus is 0 or 1. No provider can compute with them, and OpenSSL takes them
/// nevertheless: programs may hold them, read them and prepare operations that then fail.
#[derive(Clone, PartialEq)]
pub(crate) struct Unusable(Numbers);

/// A big-endian number without zeros in front.
fn significant(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|octet| **octet == 0).count();
    &number[zeros..]
}

impl Unusable {
    /// Whether a key with this modulus is unusable.
    pub(crate) fn has(modulus: &[u8]) -> bool {
        matches!(significant(modulus), [] | [1])
    }

    /// Reads the numbers of a key, those of the private half too if `with_private`.
    pub(crate) fn read(given: Given<'_>, with_private: bool) -> Result<Self, Failure> {
        let mut numbers = given.numbers()?;
        for (_, number) in &mut numbers {
            *number = Zeroizing::new(match significant(number) {
                [] => vec![0],
                octets => octets.to_vec(),
            });
        }
        let all = Self(numbers);
        Ok(if with_private { all } else { all.public() })
    }

    /// All numbers, without zeros in front.
    pub(crate) fn numbers(&self) -> &Numbers {
        &self.0
    }

    /// The modulus and the public exponent alone.
    pub(crate) fn public(&self) -> Self {
        let is_public = |name| [param::N, param::E].contains(name);
        Self(self.0.iter().filter(|(name, _)| is_public(name)).cloned().collect())
    }

    /// Whether there is a private exponent.
    pub(crate) fn has_private(&self) -> bool {
        self.0.iter().any(|(name, _)| *name == param::D)
    }

    /// The bits of the modulus: 0 has none, and 1 has one.
    pub(crate) fn bits(&self) -> usize {
        self.0.iter().find(|(name, _)| *name == param::N).map_or(0, |(_, modulus)| significant(modulus).len())
    }
}
