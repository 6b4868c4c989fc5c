//! Transforms over the three primes with AVX-512 IFMA.
//!
//! All arithmetic is modulo `2^52`: the multiplier looks at the low 52 bits of its factors alone, so
//! that words may hold anything above. A word stands for the number in `0..2^52` that it is modulo
//! `2^52`, and a bound on that number makes each step right; `docs/algorithms/fft.md` has them.
#![allow(unsafe_code)]

mod butterfly;
mod carry;
mod columns;
mod digits;
mod pointwise;
mod road;
mod weights;

use crate::fft::point::Point;
use crate::fft::primes::{Factor, PRIMES};
use crate::fft::roots::{Roots, roots};
use crate::isa::Ifma as Token;
use std::arch::x86_64::*;
use std::sync::Arc;

use carry::Crt;
pub(crate) use road::ThreePrimes;
pub(crate) use weights::{RootsOfTwo, Weights};

type V = __m512i;

/// One of the fields, with the roots of transforms up to a length.
pub(crate) struct Field {
    index: usize,
    roots: Roots,
    /// What node 0 has instead of a mirrored one.
    first_mirrored: [Factor; 15],
    /// What digits are multiplied by, where blocks have weights.
    weights: Option<Arc<Weights>>,
    _token: Token,
}

impl Field {
    /// The field, for transforms whose blocks have nodes up to `nodes`.
    pub(crate) fn new(token: Token, index: usize, nodes: usize) -> Self {
        let p = PRIMES[index];
        let roots = roots(index, nodes);
        let first_mirrored = butterfly::first_mirrored(p, &roots);
        Self { index, first_mirrored, roots, weights: None, _token: token }
    }

    fn prime(&self) -> u64 {
        PRIMES[self.index]
    }
}

/// The constants of a field, in registers.
#[derive(Clone, Copy)]
struct Constants {
    /// `-p`.
    negative: V,
    /// `p`, to add.
    prime: V,
    zero: V,
    five: V,
    /// Quotients too small by two.
    minus_two: V,
}

impl Constants {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(p: u64) -> Self {
        Self {
            negative: _mm512_set1_epi64((p as i64).wrapping_neg()),
            prime: _mm512_set1_epi64(p as i64),
            zero: _mm512_setzero_si512(),
            five: _mm512_set1_epi64(5),
            minus_two: _mm512_set1_epi64(-2),
        }
    }

    /// `sum + x w - q p` with `0 <= x w - q p < p (1 + x / 2^52)`, for any x.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn mul_add(&self, sum: V, x: V, w: &Factor) -> V {
        self.mul_add_by(sum, x, [w.value, w.quotient].map(|word| _mm512_set1_epi64(word as i64)))
    }

    /// The same with a factor and its quotient for each word.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn mul_add_by(&self, sum: V, x: V, [value, quotient]: [V; 2]) -> V {
        let quotient = _mm512_madd52hi_epu64(self.zero, x, quotient);
        let product = _mm512_madd52lo_epu64(sum, x, value);
        _mm512_madd52lo_epu64(product, quotient, self.negative)
    }

    /// x, less p as often as `5 x / 2^52` and `-bias` more say: in `-bias p + 0..(1 + e) p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduce_from(&self, bias: V, x: V) -> V {
        _mm512_madd52lo_epu64(x, _mm512_madd52hi_epu64(bias, x, self.five), self.negative)
    }

    /// x in `0..(1 + e) p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduce(&self, x: V) -> V {
        self.reduce_from(self.zero, x)
    }
}

/// # Safety
/// Nothing beyond the reference's own promise; AVX-512F is there.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(point: &Point) -> V {
    // SAFETY: a point is 64 bytes, aligned to 64.
    unsafe { _mm512_load_si512(std::ptr::from_ref(point).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(point: &mut Point, value: V) {
    // SAFETY: a point is 64 bytes, aligned to 64.
    unsafe { _mm512_store_si512(std::ptr::from_mut(point).cast(), value) }
}
