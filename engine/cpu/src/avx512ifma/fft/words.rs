//! A vector of eight words, and its arithmetic modulo a prime.
#![allow(unsafe_code)]

use crate::fft::primes::{FactorForm, ShoupFactor};
use crate::isa::Ifma as Token;
use modmill_core::limbs::inverse_of_odd;
use std::arch::x86_64::*;

pub(super) type V = __m512i;

/// The constants of a field, in registers. A value of this type proves the instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// `-p`.
    pub(super) negative: V,
    /// `p`, to add.
    pub(super) prime: V,
    pub(super) zero: V,
    pub(super) five: V,
    /// `p^-1` modulo `2^52`.
    pub(super) inverse: V,
    /// The factor of the high bits of digits.
    pub(super) high_digit: ShoupFactor,
}

/// The number of low bits of a digit that are used unchanged. The bits above them are multiplied by
/// `2^LOW mod p`.
pub(super) const LOW: u32 = 49;

/// # Safety of the functions below
/// Only values of this type call intrinsics, and the token proves that the
/// processor has them.
impl Words {
    #[inline(always)]
    pub(super) fn of_prime(_: Token, prime: u64) -> Self {
        Self {
            negative: Self::set((prime as i64).wrapping_neg()),
            prime: Self::set(prime as i64),
            zero: Self::set(0),
            five: Self::set(5),
            inverse: Self::set((inverse_of_odd(prime) % (1 << 52)) as i64),
            high_digit: ShoupFactor::new(FactorForm::Words, 1 << LOW, prime),
        }
    }

    #[inline(always)]
    pub(super) fn set(word: i64) -> V {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi64(word) }
    }

    /// `sum +` the low 52 bits of `a b`.
    #[inline(always)]
    pub(super) fn low(&self, sum: V, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm512_madd52lo_epu64(sum, a, b) }
    }

    /// `sum +` the high 52 bits of `a b`.
    #[inline(always)]
    pub(super) fn high(&self, sum: V, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm512_madd52hi_epu64(sum, a, b) }
    }

    #[inline(always)]
    pub(super) fn add(&self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(a, b) }
    }

    #[inline(always)]
    pub(super) fn sub(&self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm512_sub_epi64(a, b) }
    }

    #[inline(always)]
    pub(super) fn double_prime(&self) -> V {
        self.add(self.prime, self.prime)
    }

    /// Subtracts `(5 x / 2^52 + bias) p` from x. The result is in `-bias p + 0..(1 + e) p`.
    #[inline(always)]
    pub(super) fn reduce_from(&self, bias: V, x: V) -> V {
        self.low(x, self.high(bias, x, self.five), self.negative)
    }

    /// `sum + x w`, for a Shoup factor w. The product without the sum is in `0..p (1 + x / 2^52)`.
    #[inline(always)]
    pub(super) fn mul_add_by(&self, sum: V, x: V, [value, quotient]: [V; 2]) -> V {
        let quotient = self.high(self.zero, x, quotient);
        let product = self.low(sum, x, value);
        self.low(product, quotient, self.negative)
    }
}
