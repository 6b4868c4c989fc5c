//! Digits of at most 64 bits into residues.

use super::{Constants, Field, V};
use crate::fft::primes::Factor;
use modmill_core::transform::Digits;
use std::arch::x86_64::*;

/// Bits of a digit that are taken as they are; those above are multiplied by `2^LOW mod p`.
const LOW: u32 = 49;

impl Field {
    /// Residues of the eight digits of a point, times their weights if they have any, below `2^49 + (1 + 2^-36) p`: less
    /// than 13/8 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn residues(&self, c: &Constants, high: &Factor, digits: &Digits<'_>, point: usize) -> V {
        let split = |digits: V| {
            let low = _mm512_and_si512(digits, _mm512_set1_epi64((1 << LOW) - 1));
            c.mul_add(low, _mm512_srli_epi64::<LOW>(digits), high)
        };
        match &self.weights {
            None => split(Self::load_digits(digits, point)),
            Some(weights) => {
                let digits = split(weights.digits(digits.limbs, point));
                c.mul_add_by(c.zero, digits, weights.forward(self.index, point))
            }
        }
    }

    /// The factor of the high bits of digits.
    pub(super) fn high_factor(&self) -> Factor {
        Factor::new(1 << LOW, self.prime())
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load_digits(digits: &Digits<'_>, point: usize) -> V {
        let eight = digits.point(point);
        // SAFETY: 64 bytes are there; they need not be aligned.
        unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) }
    }
}
