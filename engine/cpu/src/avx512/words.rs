//! Vectors of eight signed words, for division steps and schoolbook arithmetic.
#![allow(unsafe_code)]

use super::table::transpose_lines;
use crate::divsteps::kernels::implement_kernels;
use crate::divsteps::vector::Vector;
use crate::isa::Avx512;
use crate::schoolbook::kernels::implement_schoolbook;
use std::arch::x86_64::*;

/// Eight words. Every value comes from a token, so that it proves AVX-512F.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Eight(__m512i);

impl Vector for Eight {
    type Token = Avx512;
    const LANES: usize = 8;
    const BIAS: i64 = 0;

    #[inline(always)]
    fn splat(_: Avx512, word: i64) -> Self {
        // SAFETY: the token proves AVX-512F.
        Self(unsafe { _mm512_set1_epi64(word) })
    }

    #[inline(always)]
    fn with(self, word: i64) -> Self {
        // SAFETY: a value proves AVX-512F; the same holds below.
        Self(unsafe { _mm512_set1_epi64(word) })
    }

    #[inline(always)]
    fn words(vectors: &[Self]) -> &[u64] {
        // SAFETY: a vector has the bytes of eight words, and a stricter alignment.
        unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), 8 * vectors.len()) }
    }

    #[inline(always)]
    fn words_mut(vectors: &mut [Self]) -> &mut [u64] {
        // SAFETY: as above; every value of the words is one of the vector.
        unsafe { std::slice::from_raw_parts_mut(vectors.as_mut_ptr().cast(), 8 * vectors.len()) }
    }

    #[inline(always)]
    fn load(self, words: &[u64]) -> Self {
        // SAFETY: see above; the mask leaves out what is beyond the words.
        Self(unsafe { _mm512_maskz_loadu_epi64(first(words.len()), words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        // SAFETY: as for loads.
        unsafe { _mm512_mask_storeu_epi64(words.as_mut_ptr().cast(), first(words.len()), self.0) }
    }

    #[inline(always)]
    fn transpose(square: &mut [Self]) {
        let lines: &mut [Self; 8] = square.try_into().expect("a vector for each lane");
        let [a, b, c, d, e, f, g, h] = *lines;
        // SAFETY: see above.
        let words = unsafe { transpose_lines([a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]) };
        for index in 0..8 {
            lines[index] = Self(words[index]);
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_mul_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn up<const BITS: u32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_slli_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn down<const BITS: u32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_srli_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn down_by(self, bits: usize) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi64_si128(bits as i64)) })
    }

    #[inline(always)]
    fn up_by(self, bits: usize) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi64_si128(bits as i64)) })
    }

    #[inline(always)]
    fn down_each(self, bits: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_srlv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn up_each(self, bits: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_sllv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn multiply_add(self, y: Self, z: Self) -> Self {
        // SAFETY: see above. Vectors of words and of doubles have the same bits.
        unsafe {
            let (x, y) = (_mm512_castsi512_pd(self.0), _mm512_castsi512_pd(y.0));
            Self(_mm512_castpd_si512(_mm512_fmadd_pd(x, y, _mm512_castsi512_pd(z.0))))
        }
    }

    #[inline(always)]
    fn floor<const BITS: u32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_srai_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn sign(self) -> Self {
        self.floor::<63>()
    }

    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_test_epi64_mask(self.0, self.0) != 0 }
    }

    #[inline(always)]
    fn carry(self) -> Self {
        self.floor::<{ crate::divsteps::DIGIT }>()
    }

    #[inline(always)]
    fn step(step: u32, f: &mut Self, g: &mut Self, zeta: &mut Self) {
        let (bit, i) = (1i64 << step, i64::from(step));
        // SAFETY: see above.
        unsafe {
            let odd = _mm512_test_epi64_mask(g.0, _mm512_set1_epi64(bit));
            let swap = _mm512_mask_cmplt_epi64_mask(odd, zeta.0, _mm512_set1_epi64(i));
            let term = _mm512_mask_sub_epi64(f.0, swap, _mm512_setzero_si512(), f.0);
            let next = _mm512_mask_mov_epi64(f.0, swap, g.0);
            g.0 = _mm512_mask_add_epi64(g.0, odd, g.0, term);
            f.0 = _mm512_add_epi64(next, next);
            zeta.0 = _mm512_mask_sub_epi64(zeta.0, swap, _mm512_set1_epi64(2 * i - 1), zeta.0);
        }
    }

    #[inline(always)]
    fn positive_step(step: u32, f: &mut Self, g: &mut Self, zeta: &mut Self, flips: &mut Self) {
        let (bit, i) = (1i64 << step, i64::from(step));
        // SAFETY: see above.
        unsafe {
            let odd = _mm512_test_epi64_mask(g.0, _mm512_set1_epi64(bit));
            let swap = _mm512_mask_cmplt_epi64_mask(odd, zeta.0, _mm512_set1_epi64(i));
            // Reciprocity: flips ^ f & g.
            let flipped = _mm512_mask_ternarylogic_epi64::<0x78>(flips.0, swap, f.0, g.0);
            let next = _mm512_mask_mov_epi64(f.0, swap, g.0);
            g.0 = _mm512_mask_add_epi64(g.0, odd, g.0, f.0);
            // The symbol of 2: flips ^ f ^ f / 2.
            let half = _mm512_srli_epi64::<1>(next);
            let flipped = _mm512_ternarylogic_epi64::<0x96>(flipped, next, half);
            flips.0 = _mm512_add_epi64(flipped, flipped);
            f.0 = _mm512_add_epi64(next, next);
            zeta.0 = _mm512_mask_sub_epi64(zeta.0, swap, _mm512_set1_epi64(2 * i - 1), zeta.0);
        }
    }
}

/// The mask of the first `count` words, of which there are eight.
#[inline(always)]
fn first(count: usize) -> __mmask8 {
    (u32::from(u8::MAX) >> (8 - count.min(8))) as __mmask8
}

implement_kernels!(Eight, "avx512f");
implement_schoolbook!(Eight, "avx512f");
