//! Vectors of four signed words, for division steps and schoolbook arithmetic.
#![allow(unsafe_code)]

use crate::divsteps::DIGIT;
use crate::divsteps::kernels::implement_kernels;
use crate::divsteps::vector::Vector;
use crate::isa::Avx2;
use crate::schoolbook::kernels::implement_schoolbook;
use std::arch::x86_64::*;

/// Four words. Every value comes from a token, so that it proves AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Four(__m256i);

impl Vector for Four {
    type Token = Avx2;
    const LANES: usize = 4;
    const BIAS: i64 = i64::MIN;

    #[inline(always)]
    fn splat(_: Avx2, word: i64) -> Self {
        // SAFETY: the token proves AVX2.
        Self(unsafe { _mm256_set1_epi64x(word) })
    }

    #[inline(always)]
    fn with(self, word: i64) -> Self {
        // SAFETY: a value proves AVX2; the same holds below.
        Self(unsafe { _mm256_set1_epi64x(word) })
    }

    #[inline(always)]
    fn words(vectors: &[Self]) -> &[u64] {
        // SAFETY: a vector has the bytes of four words, and a stricter alignment.
        unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), 4 * vectors.len()) }
    }

    #[inline(always)]
    fn words_mut(vectors: &mut [Self]) -> &mut [u64] {
        // SAFETY: as above; every value of the words is one of the vector.
        unsafe { std::slice::from_raw_parts_mut(vectors.as_mut_ptr().cast(), 4 * vectors.len()) }
    }

    #[inline(always)]
    fn load(self, words: &[u64]) -> Self {
        // SAFETY: see above; the mask leaves out what is beyond the words.
        Self(unsafe { _mm256_maskload_epi64(words.as_ptr().cast(), first(words.len()).0) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        // SAFETY: as for loads.
        unsafe { _mm256_maskstore_epi64(words.as_mut_ptr().cast(), first(words.len()).0, self.0) }
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        let [a, b, c, d]: &mut [Self; 4] = square.try_into().expect("a vector for each lane");
        // SAFETY: see above.
        unsafe {
            let (low, high) = (_mm256_unpacklo_epi64(a.0, b.0), _mm256_unpackhi_epi64(a.0, b.0));
            let (next_low, next_high) = (_mm256_unpacklo_epi64(c.0, d.0), _mm256_unpackhi_epi64(c.0, d.0));
            a.0 = _mm256_permute2x128_si256::<0x20>(low, next_low);
            b.0 = _mm256_permute2x128_si256::<0x20>(high, next_high);
            c.0 = _mm256_permute2x128_si256::<0x31>(low, next_low);
            d.0 = _mm256_permute2x128_si256::<0x31>(high, next_high);
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_sub_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_mul_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn up<const BITS: u32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_sll_epi64(self.0, _mm_cvtsi64_si128(i64::from(BITS))) })
    }

    #[inline(always)]
    fn down<const BITS: u32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_srl_epi64(self.0, _mm_cvtsi64_si128(i64::from(BITS))) })
    }

    #[inline(always)]
    fn down_by(self, bits: usize) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_srl_epi64(self.0, _mm_cvtsi64_si128(bits as i64)) })
    }

    #[inline(always)]
    fn up_by(self, bits: usize) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_sll_epi64(self.0, _mm_cvtsi64_si128(bits as i64)) })
    }

    #[inline(always)]
    fn down_each(self, bits: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_srlv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn up_each(self, bits: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_sllv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn multiply_add(self, y: Self, z: Self) -> Self {
        // SAFETY: see above; the token proves FMA as well. Vectors of words and of doubles have the same
        // bits.
        unsafe {
            let (x, y) = (_mm256_castsi256_pd(self.0), _mm256_castsi256_pd(y.0));
            Self(_mm256_castpd_si256(_mm256_fmadd_pd(x, y, _mm256_castsi256_pd(z.0))))
        }
    }

    /// AVX2 shifts signs in for words of 32 bits only: 2^63 is added before and taken away after.
    #[inline(always)]
    fn floor<const BITS: u32>(self) -> Self {
        self.xor(self.with(i64::MIN)).down::<BITS>().sub(self.with(1 << (63 - BITS)))
    }

    #[inline(always)]
    fn sign(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_cmpgt_epi64(_mm256_setzero_si256(), self.0) })
    }

    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_testz_si256(self.0, self.0) == 0 }
    }

    /// A sum x is held as x + 2^63, of which the shifted part is floor(x / 2^30) + 2^33.
    #[inline(always)]
    fn carry(self) -> Self {
        self.down::<{ DIGIT }>().add(self.with(i64::MIN.wrapping_sub(1 << (63 - DIGIT))))
    }

    #[inline(always)]
    fn step(step: u32, f: &mut Self, g: &mut Self, zeta: &mut Self) {
        let (bit, i) = (1i64 << step, i64::from(step));
        // SAFETY: see above.
        unsafe {
            let bit = _mm256_set1_epi64x(bit);
            let odd = _mm256_cmpeq_epi64(_mm256_and_si256(g.0, bit), bit);
            let swap = _mm256_and_si256(odd, _mm256_cmpgt_epi64(_mm256_set1_epi64x(i), zeta.0));
            let term = _mm256_and_si256(odd, _mm256_sub_epi64(_mm256_xor_si256(f.0, swap), swap));
            let next = _mm256_blendv_epi8(f.0, g.0, swap);
            g.0 = _mm256_add_epi64(g.0, term);
            f.0 = _mm256_add_epi64(next, next);
            *zeta = turned(*zeta, Self(swap), i);
        }
    }

    #[inline(always)]
    fn positive_step(step: u32, f: &mut Self, g: &mut Self, zeta: &mut Self, flips: &mut Self) {
        let (bit, i) = (1i64 << step, i64::from(step));
        // SAFETY: see above.
        unsafe {
            let bit = _mm256_set1_epi64x(bit);
            let odd = _mm256_cmpeq_epi64(_mm256_and_si256(g.0, bit), bit);
            let swap = _mm256_and_si256(odd, _mm256_cmpgt_epi64(_mm256_set1_epi64x(i), zeta.0));
            // Reciprocity, and then the symbol of 2.
            let both = Self(swap).and(*f).and(*g);
            let next = Self(_mm256_blendv_epi8(f.0, g.0, swap));
            g.0 = _mm256_add_epi64(g.0, _mm256_and_si256(odd, f.0));
            let flipped = flips.xor(both).xor(next).xor(next.down::<1>());
            *flips = flipped.add(flipped);
            *f = next.add(next);
            *zeta = turned(*zeta, Self(swap), i);
        }
    }
}

/// The biased zeta after step i: `2 i - 1 - zeta` where there is a swap, unchanged elsewhere.
#[inline(always)]
fn turned(zeta: Four, swap: Four, i: i64) -> Four {
    zeta.xor(swap).add(swap.and(zeta.with(2 * i)))
}

/// All ones in the first `count` words, of which there are four.
#[inline(always)]
fn first(count: usize) -> Four {
    // SAFETY: the callers have vectors, which prove AVX2.
    Four(unsafe {
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(count.min(4) as i64), _mm256_setr_epi64x(0, 1, 2, 3))
    })
}

implement_kernels!(Four, "avx2");
implement_schoolbook!(Four, "avx2,fma");
