//! Arithmetic modulo a prime on vectors of doubles.

use super::vector::Vector;
use crate::fft::primes::ShoupFactor;

/// Adding this constant rounds a sum to an integer, if the sum is within `2^51`.
pub(super) const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;

/// Adding this constant rounds a sum to a multiple of `2^50`, if the sum is within `2^101`.
const WIDE: f64 = (1u64 << 50) as f64 * WHOLE;

/// The constants of a field, in registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubles<V: Vector> {
    token: V::Token,
    pub(super) prime: V,
    /// `1 / p`.
    pub(super) inverse: V,
    /// [`WHOLE`].
    whole: V,
}

impl<V: Vector> Doubles<V> {
    #[inline(always)]
    pub(super) fn of_prime(token: V::Token, prime: u64) -> Self {
        let prime = prime as f64;
        let [prime, inverse, whole] = [prime, 1.0 / prime, WHOLE].map(|x| V::splat(token, x));
        Self { token, prime, inverse, whole }
    }

    #[inline(always)]
    pub(super) fn set(&self, x: f64) -> V {
        V::splat(self.token, x)
    }

    #[inline(always)]
    pub(super) fn read(&self, words: &[u64]) -> V {
        V::load(self.token, words)
    }

    /// The integer nearest to `a b`, which is within `2^51`.
    #[inline(always)]
    pub(super) fn quotient(&self, a: V, b: V) -> V {
        a.mul_add(b, self.whole).sub(self.whole)
    }

    /// `x w`, within `(1/2 + 2^-55 x) p`, for an x within 5p.
    ///
    /// `w / p` has an error of at most `2^-55`, so the quotient has an error of at most `1/2 + 2^-55 x`. Both
    /// differences are integers within p and `2^49`, so they are exact.
    #[inline(always)]
    pub(super) fn mul_by(&self, x: V, [value, quotient]: [V; 2]) -> V {
        let quotient = self.quotient(x, quotient);
        let high = x.mul(value);
        let low = x.mul_sub(value, high);
        quotient.neg_mul_add(self.prime, high).add(low)
    }

    #[inline(always)]
    pub(super) fn factor(&self, factor: &ShoupFactor) -> [V; 2] {
        [factor.value, factor.quotient].map(|bits| self.set(f64::from_bits(bits)))
    }

    #[inline(always)]
    pub(super) fn mul(&self, x: V, w: &ShoupFactor) -> V {
        self.mul_by(x, self.factor(w))
    }
}

/// A sum of products in two parts: [`WIDE`] plus a multiple of `2^50`, and the remainder.
#[derive(Clone, Copy)]
pub(super) struct Sum<V> {
    high: V,
    pub(super) low: V,
}

impl<V: Vector> Sum<V> {
    #[inline(always)]
    pub(super) fn new(c: &Doubles<V>) -> Self {
        Self { high: c.set(WIDE), low: c.set(0.0) }
    }

    /// Adds `a b`. The growth of the high vector is exact, and the rest of the product is within `2^49`.
    #[inline(always)]
    pub(super) fn add(&mut self, a: V, b: V) {
        let high = a.mul_add(b, self.high);
        self.low = self.low.add(a.mul_add(b, self.high.sub(high)));
        self.high = high;
    }

    /// The high vector without [`WIDE`].
    #[inline(always)]
    pub(super) fn high(&self, c: &Doubles<V>) -> V {
        self.high.sub(c.set(WIDE))
    }
}
