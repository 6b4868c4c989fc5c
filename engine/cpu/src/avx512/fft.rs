//! Transforms in doubles with AVX-512F, eight lanes side by side.
#![allow(unsafe_code)]

use crate::fft::three_primes::doubles::{self, Vector};
use crate::isa::Avx512 as Token;
use std::arch::x86_64::*;

/// The arithmetic of a field.
pub(crate) type Doubles = doubles::Doubles<Octet>;

/// Eight doubles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Octet(__m512d);

/// # Safety of the functions below
/// A token, or a vector that was made with one, proves AVX-512F.
impl Vector for Octet {
    type Token = Token;
    const WIDTH: usize = 8;

    #[inline(always)]
    fn run<T>(_: Token, work: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx512f")]
        fn run<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: see above.
        unsafe { run(work) }
    }

    #[inline(always)]
    fn splat(_: Token, x: f64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_set1_pd(x) })
    }

    #[inline(always)]
    fn load(_: Token, words: &[u64]) -> Self {
        // SAFETY: see above; the slice has eight words.
        Self(unsafe { _mm512_loadu_pd(words[..8].as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        // SAFETY: see above; the slice has eight words.
        unsafe { _mm512_storeu_pd(words[..8].as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_sub_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_mul_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_fmsub_pd(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_fnmadd_pd(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn halves(self, [low, high]: [Self; 2]) -> [Self; 2] {
        // SAFETY: see above.
        unsafe {
            let words = _mm512_castpd_si512(self.0);
            [
                _mm512_mask_blend_epi32(0xaaaa, words, _mm512_castpd_si512(low.0)),
                _mm512_or_si512(_mm512_srli_epi64::<32>(words), _mm512_castpd_si512(high.0)),
            ]
            .map(|halves| Self(_mm512_castsi512_pd(halves)))
        }
    }

    #[inline(always)]
    fn window(low: Self, high: Self, from: usize) -> Self {
        // SAFETY: see above.
        unsafe {
            let (a, b) = (_mm512_castpd_si512(high.0), _mm512_castpd_si512(low.0));
            Self(_mm512_castsi512_pd(match from {
                0 => b,
                1 => _mm512_alignr_epi64::<1>(a, b),
                2 => _mm512_alignr_epi64::<2>(a, b),
                3 => _mm512_alignr_epi64::<3>(a, b),
                4 => _mm512_alignr_epi64::<4>(a, b),
                5 => _mm512_alignr_epi64::<5>(a, b),
                6 => _mm512_alignr_epi64::<6>(a, b),
                _ => _mm512_alignr_epi64::<7>(a, b),
            }))
        }
    }

    #[inline(always)]
    fn pack(digits: [Self; 3], unit: Self) -> [Self; 3] {
        // SAFETY: see above.
        unsafe {
            let unit = _mm512_castpd_si512(unit.0);
            let [low, middle, high] =
                digits.map(|digit| _mm512_xor_si512(_mm512_castpd_si512(digit.0), unit));
            [
                _mm512_or_si512(low, _mm512_slli_epi64::<50>(middle)),
                _mm512_or_si512(_mm512_srli_epi64::<14>(middle), _mm512_slli_epi64::<36>(high)),
                _mm512_srli_epi64::<28>(high),
            ]
            .map(|word| Self(_mm512_castsi512_pd(word)))
        }
    }
}
