//! Modular inverses.

use crate::power_of_two::Residue;

/// `a^-1 mod n` for a modulus without leading zero limbs, as many limbs as it; `None` if they
/// share a factor.
#[must_use]
pub fn invert(_a: &[u64], _n: &[u64]) -> Option<Residue> {
    None
}
