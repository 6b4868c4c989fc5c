//! A vector of four doubles, and its arithmetic modulo a prime.
#![allow(unsafe_code)]

use crate::fft::primes::ShoupFactor;
use crate::isa::Avx2 as Token;
use std::arch::x86_64::*;

pub(super) type V = __m256d;

/// Adding this constant rounds a sum to an integer, if the sum is within `2^51`.
pub(super) const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;

/// Adding this constant rounds a sum to a multiple of `2^50`, if the sum is within `2^101`.
const WIDE: f64 = (1u64 << 50) as f64 * WHOLE;

/// The constants of a field, in registers. A value of this type proves the instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubles {
    pub(super) prime: V,
    /// `1 / p`.
    pub(super) inverse: V,
    /// [`WHOLE`].
    whole: V,
}

/// # Safety of the functions below
/// Only values of this type call intrinsics, and the token proves that the
/// processor has them.
impl Doubles {
    #[inline(always)]
    pub(super) fn of_prime(_: Token, prime: u64) -> Self {
        let prime = prime as f64;
        Self { prime: Self::set(prime), inverse: Self::set(1.0 / prime), whole: Self::set(WHOLE) }
    }

    #[inline(always)]
    pub(super) fn set(x: f64) -> V {
        // SAFETY: see above.
        unsafe { _mm256_set1_pd(x) }
    }

    #[inline(always)]
    pub(super) fn add(&self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_add_pd(a, b) }
    }

    #[inline(always)]
    pub(super) fn sub(&self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_sub_pd(a, b) }
    }

    /// `a b + c`, rounded once.
    #[inline(always)]
    pub(super) fn fma(&self, a: V, b: V, c: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_fmadd_pd(a, b, c) }
    }

    /// `c - a b`, rounded once.
    #[inline(always)]
    pub(super) fn minus_product(&self, c: V, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_fnmadd_pd(a, b, c) }
    }

    /// The integer nearest to `a b`, which is within `2^51`.
    #[inline(always)]
    pub(super) fn quotient(&self, a: V, b: V) -> V {
        self.sub(self.fma(a, b, self.whole), self.whole)
    }

    /// `x w`, within `(1/2 + 2^-55 x) p`, for an x within 5p.
    ///
    /// `w / p` has an error of at most `2^-55`, so the quotient has an error of at most `1/2 + 2^-55 x`. Both
    /// differences are integers within p and `2^49`, so they are exact.
    #[inline(always)]
    pub(super) fn mul_by(&self, x: V, [value, quotient]: [V; 2]) -> V {
        let quotient = self.quotient(x, quotient);
        // SAFETY: see above.
        let [high, low] = unsafe {
            let high = _mm256_mul_pd(x, value);
            [high, _mm256_fmsub_pd(x, value, high)]
        };
        self.add(self.minus_product(high, quotient, self.prime), low)
    }

    #[inline(always)]
    pub(super) fn splat(&self, factor: &ShoupFactor) -> [V; 2] {
        [factor.value, factor.quotient].map(|bits| Self::set(f64::from_bits(bits)))
    }

    #[inline(always)]
    pub(super) fn mul(&self, x: V, w: &ShoupFactor) -> V {
        self.mul_by(x, self.splat(w))
    }
}

/// A sum of products in two parts: [`WIDE`] plus a multiple of `2^50`, and the remainder.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    high: V,
    pub(super) low: V,
}

impl Sum {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { high: Doubles::set(WIDE), low: Doubles::set(0.0) }
    }

    /// Adds `a b`. The growth of the high vector is exact, and the rest of the product is within `2^49`.
    #[inline(always)]
    pub(super) fn add(&mut self, c: &Doubles, a: V, b: V) {
        let high = c.fma(a, b, self.high);
        self.low = c.add(self.low, c.fma(a, b, c.sub(self.high, high)));
        self.high = high;
    }

    /// The high vector without [`WIDE`].
    #[inline(always)]
    pub(super) fn high(&self, c: &Doubles) -> V {
        c.sub(self.high, Doubles::set(WIDE))
    }
}
