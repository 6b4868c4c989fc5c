//! Transforms in doubles with AVX2 and FMA, four lanes side by side.
#![allow(unsafe_code)]

use crate::fft::three_primes::doubles::{self, Vector};
use crate::isa::Avx2 as Token;
use std::arch::x86_64::*;

/// The arithmetic of a field.
pub(crate) type Doubles = doubles::Doubles<Quad>;

/// Four doubles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quad(__m256d);

/// # Safety of the functions below
/// A token, or a vector that was made with one, proves AVX2 and FMA.
impl Vector for Quad {
    type Token = Token;
    const WIDTH: usize = 4;

    #[inline(always)]
    fn run<T>(_: Token, work: impl FnOnce() -> T) -> T {
        #[target_feature(enable = "avx2,fma")]
        fn run<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        // SAFETY: see above.
        unsafe { run(work) }
    }

    #[inline(always)]
    fn splat(_: Token, x: f64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn load(_: Token, words: &[u64]) -> Self {
        // SAFETY: see above; the slice has four words.
        Self(unsafe { _mm256_loadu_pd(words[..4].as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        // SAFETY: see above; the slice has four words.
        unsafe { _mm256_storeu_pd(words[..4].as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_sub_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_mul_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_fmsub_pd(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_fnmadd_pd(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn halves(self, [low, high]: [Self; 2]) -> [Self; 2] {
        // SAFETY: see above.
        unsafe {
            let words = _mm256_castpd_si256(self.0);
            let lows = _mm256_blend_epi32::<0b1010_1010>(words, _mm256_castpd_si256(low.0));
            let highs = _mm256_castsi256_pd(_mm256_srli_epi64::<32>(words));
            [Self(_mm256_castsi256_pd(lows)), Self(_mm256_or_pd(highs, high.0))]
        }
    }

    #[inline(always)]
    fn window(low: Self, high: Self, from: usize) -> Self {
        // SAFETY: see above.
        Self(unsafe {
            let middle = _mm256_permute2f128_pd::<0b10_0001>(low.0, high.0);
            match from {
                0 => low.0,
                1 => _mm256_shuffle_pd::<0b0101>(low.0, middle),
                2 => middle,
                _ => _mm256_shuffle_pd::<0b0101>(middle, high.0),
            }
        })
    }

    #[inline(always)]
    fn pack(digits: [Self; 3], unit: Self) -> [Self; 3] {
        // SAFETY: see above.
        unsafe {
            let [low, middle, high] = digits.map(|digit| _mm256_castpd_si256(_mm256_xor_pd(digit.0, unit.0)));
            [
                _mm256_or_si256(low, _mm256_slli_epi64::<50>(middle)),
                _mm256_or_si256(_mm256_srli_epi64::<14>(middle), _mm256_slli_epi64::<36>(high)),
                _mm256_srli_epi64::<28>(high),
            ]
            .map(|word| Self(_mm256_castsi256_pd(word)))
        }
    }
}
