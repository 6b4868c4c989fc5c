//! What a product needs to know of its modulus: one word a channel in each base.

use super::Bases;
use zeroize::Zeroizing;

/// Constants of an odd modulus N, canonical.
pub struct ModulusConstants {
    /// `-N^-1 B_i^-1 2^64 mod b_i`: takes the square of x to what the second extension starts from.
    pub quotient: Zeroizing<Vec<u32>>,
    /// `N B^-1 A_j^-1 2^32 mod a_j`: adds q N to a product in base A.
    pub modulus: Zeroizing<Vec<u32>>,
}

impl ModulusConstants {
    /// The constants of a modulus within the bases' capacity, little-endian limbs. `None` if it has
    /// a factor in common with base B, so that it has no inverse there. (A factor in base A does no
    /// harm.) Time does not depend on its value, apart from that.
    #[must_use]
    pub fn new(bases: &Bases, modulus: &[u64]) -> Option<Self> {
        let words = || modulus.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        let mut shares_a_factor = false;
        let quotient = bases.b().iter().zip(bases.quotient_factors()).map(|(channel, &factor)| {
            let residue = channel.remainder(words());
            shares_a_factor |= residue == 0;
            channel.multiply(channel.p - channel.invert(residue), factor)
        });
        let quotient = Zeroizing::new(quotient.collect::<Vec<u32>>());
        let modulus = bases
            .a()
            .iter()
            .zip(bases.modulus_factors())
            .map(|(channel, &factor)| channel.multiply(channel.remainder(words()), factor));
        let modulus = Zeroizing::new(modulus.collect());
        (!shares_a_factor).then_some(Self { quotient, modulus })
    }
}
