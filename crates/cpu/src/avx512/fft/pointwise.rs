//! Products of points: polynomials of degree below 8 modulo `x^8 - y`, one y for each point.

use super::{Constants, Field, V, load, store};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, Factor, PRIMES};
use modmill_core::limbs::inverse_of_odd;
use std::arch::x86_64::*;

/// What [`Field::multiply`] leaves out of each product: points come out divided by `2^52`.
pub(crate) const DIVIDED_BY: u64 = 1 << 52;

impl Field {
    /// `a <- a b / 2^52` point by point; point j is modulo `x^8 - turn y_j`, and y_j the root that
    /// belongs to node `leaf + j` of the last level. Products come out below 2p.
    pub(super) fn multiply_row(&self, a: &mut [Point], b: &[Point], leaf: usize, turn: Option<&Factor>) {
        assert!(a.len() == b.len());
        // SAFETY: the token proved AVX-512 IFMA.
        unsafe { self.multiply_points(a, |index, _| load(&b[index]), leaf, turn) }
    }

    /// `a <- a^2 / 2^52`, as [`Self::multiply_row`].
    pub(super) fn square_row(&self, a: &mut [Point], leaf: usize, turn: Option<&Factor>) {
        // SAFETY: the token proved AVX-512 IFMA.
        unsafe { self.multiply_points(a, |_, a| a, leaf, turn) }
    }

    /// `a <- a + b`, all below 2p.
    pub(super) fn add_points(&self, a: &mut [Point], b: &[Point]) {
        // SAFETY: the token proved AVX-512 IFMA.
        unsafe { self.add_all(a, b) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add_all(&self, a: &mut [Point], b: &[Point]) {
        let c = &Constants::new(self.prime());
        for (a, b) in a.iter_mut().zip(b) {
            let sum = c.reduce(_mm512_add_epi64(load(a), load(b)));
            store(a, sum);
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn multiply_points(
        &self,
        a: &mut [Point],
        other: impl Fn(usize, V) -> V,
        leaf: usize,
        turn: Option<&Factor>,
    ) {
        let p = self.prime();
        let c = &Constants::new(p);
        let inverse = _mm512_set1_epi64((inverse_of_odd(p) % (1 << 52)) as i64);
        for (index, point) in a.iter_mut().enumerate() {
            let node = leaf + index;
            let x = load(point);
            // Both in 0..(1 + e) p, and the turned one below p (1 + (1 + e) / 5).
            let (b, x) = (c.reduce(other(index, x)), c.reduce(x));
            store(point, x);
            let mut turned = c.mul_add(c.zero, b, &self.roots[node / 2]);
            if let Some(turn) = turn {
                turned = c.mul_add(c.zero, turned, turn);
            }
            // The root of an odd node is minus that of the even one before; 2p less what is below 2p.
            if node % 2 == 1 {
                turned = _mm512_sub_epi64(_mm512_add_epi64(c.prime, c.prime), turned);
            }
            store(point, product(c, inverse, &point.0, b, turned));
        }
    }
}

/// `a b` modulo `x^8 - y`, divided by `2^52`; `turned` is `y b`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product(c: &Constants, inverse: V, a: &[u64; LANES], b: V, turned: V) -> V {
    let (mut low, mut high) = (c.zero, c.prime);
    macro_rules! terms {
        ($($k:literal)+) => {
            $(
                // x^k b: what is shifted beyond x^7 comes back as y times itself.
                let shifted = if $k == 0 { b } else { _mm512_alignr_epi64::<{ (8 - $k) & 7 }>(b, turned) };
                let digit = _mm512_set1_epi64(a[$k] as i64);
                low = _mm512_madd52lo_epu64(low, digit, shifted);
                high = _mm512_madd52hi_epu64(high, digit, shifted);
            )+
        };
    }
    terms!(0 1 2 3 4 5 6 7);
    // Montgomery: the product, less q p, is a multiple of 2^52. Eight terms below (1 + e) p times 2 p
    // make a high half below 16/5 p, from p to 21/5 p with the p it began with, less at most p.
    let quotient = _mm512_madd52lo_epu64(c.zero, low, inverse);
    let multiple = _mm512_madd52hi_epu64(c.zero, quotient, c.prime);
    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
    c.reduce(_mm512_sub_epi64(high, multiple))
}

/// The factor by which products of blocks of `len` points have to be multiplied after the inverse
/// transform: `2^52 / len mod p`.
pub(crate) fn correction(field: usize, len: u64) -> u64 {
    let p = PRIMES[field];
    primes::mul(primes::inverse_of_length(field, len), DIVIDED_BY % p, p)
}
