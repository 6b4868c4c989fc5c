//! Constants of a modulus: one word for each channel of both bases.

use super::Bases;
use zeroize::Zeroizing;

/// The constants of an odd modulus N, as canonical residues.
pub struct ModulusConstants {
    /// `-N^-1 B_i^-1 2^64 mod b_i`. Its product with the square of x enters the second extension.
    pub quotient: Zeroizing<Vec<u32>>,
    /// `N B^-1 A_j^-1 2^32 mod a_j`, the factor that adds q N to a product in base A.
    pub modulus: Zeroizing<Vec<u32>>,
}

impl ModulusConstants {
    /// The constants of `modulus`, little-endian limbs within the capacity of `bases`. `None` if it shares a
    /// factor with base B and has no inverse there. (A common factor with base A does no harm.) The time
    /// does not depend on its value otherwise.
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
