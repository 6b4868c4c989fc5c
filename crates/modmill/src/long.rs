//! Long moduli, made ready for GPUs: their reciprocals come from the CPU.

use modmill_core::Modulus;
use modmill_core::limbs::{shift_left, shift_right};
use modmill_cpu::fft::{Multiplier, reciprocal};
use modmill_cuda::LongModulus;
use std::sync::Arc;
use zeroize::Zeroizing;

/// `floor((2^2n - 1) / N)` beside N of n bits, computed once for a modulus.
pub(crate) fn long_modulus(multiplier: &Multiplier, modulus: &Modulus) -> Arc<LongModulus> {
    modulus.constants(|modulus| {
        let (value, limbs) = (modulus.value(), modulus.value().len());
        let shift = 64 * limbs - modulus.bits();
        let mut normalised = Zeroizing::new(vec![0; limbs]);
        shift_left(value, shift, &mut normalised);
        // floor((2^(2n + 2 shift) - 1) / (2^shift N)), over 2^shift.
        let above = reciprocal(multiplier, &normalised);
        let mut exact = Zeroizing::new(vec![0; limbs + 1]);
        shift_right(&above, shift, &mut exact);
        LongModulus::new(value, &exact)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn reciprocals_are_exact() {
        let multiplier = Multiplier::detect(None).pop().unwrap();
        for text in ["3", "8000000000000000", "ffffffffffffffff", "10000000000000001", "5432123456789abcdef"]
        {
            let modulus = Modulus::from_hex(text).unwrap();
            let value = BigUint::parse_bytes(text.as_bytes(), 16).unwrap();
            let power = BigUint::from(1u8) << (2 * modulus.bits());
            let expected = (power - 1u8) / value - (BigUint::from(1u8) << modulus.bits());
            let long = long_modulus(&multiplier, &modulus);
            let mut limbs = expected.to_u64_digits();
            limbs.resize(modulus.value().len(), 0);
            assert_eq!((long.bits(), long.reciprocal()), (modulus.bits(), &limbs[..]));
        }
    }
}
