//! Wide samples on AVX2 and FMA, rounding to nearest: 50 bits, chains of four products.
#![allow(unsafe_code)]

use super::{shared_table, table};
use crate::isa::Avx2;
use crate::wide::leaves::{Part, implement_leaves};
use crate::wide::samples::{Samples, UNIT};
use core::arch::x86_64::*;
use modmill_core::Isa;

/// The kernel.
pub(crate) type Wide = crate::wide::Wide<Quad>;

/// A vector of four samples.
#[derive(Clone, Copy)]
pub(crate) struct Quad(__m256i);

impl Quad {
    #[inline(always)]
    fn doubles(self) -> __m256d {
        // SAFETY: both types have the same size, and every bit pattern is valid.
        unsafe { core::mem::transmute(self.0) }
    }

    #[inline(always)]
    fn from_doubles(doubles: __m256d) -> Self {
        // SAFETY: both types have the same size, and every bit pattern is valid.
        Self(unsafe { core::mem::transmute::<__m256d, __m256i>(doubles) })
    }
}

impl Samples for Quad {
    const LANES: usize = 4;
    const WIDTH: u32 = 50;
    const LOW: f64 = 1.5 * UNIT;
    const BLOCK: usize = 6;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: required of the caller; the same holds below.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_set1_epi64x(word as i64) })
    }

    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: see above.
        Self::from_doubles(unsafe { _mm256_fmadd_pd(self.doubles(), b.doubles(), c.doubles()) })
    }

    #[inline(always)]
    unsafe fn plus(self, b: Self) -> Self {
        // SAFETY: see above.
        Self::from_doubles(unsafe { _mm256_add_pd(self.doubles(), b.doubles()) })
    }

    #[inline(always)]
    unsafe fn minus(self, b: Self) -> Self {
        // SAFETY: see above.
        Self::from_doubles(unsafe { _mm256_sub_pd(self.doubles(), b.doubles()) })
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_add_epi64(self.0, b.0) })
    }

    #[inline(always)]
    unsafe fn and(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_and_si256(self.0, b.0) })
    }

    #[inline(always)]
    unsafe fn or(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_or_si256(self.0, b.0) })
    }

    #[inline(always)]
    unsafe fn carry(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_srli_epi64::<{ <Quad as Samples>::WIDTH as i32 }>(self.0) })
    }
}

implement_leaves!(Quad, Avx2, Isa::Avx2, "avx2,fma", 1 2 3 4 5 6;
    fn select(_: Avx2, table: &[u64], indices: &[u64], out: &mut [u64]) {
        // SAFETY: the token proves the instruction set.
        unsafe { table::read(table, indices, out) }
    }

    fn select_shared(_: Avx2, table: &[u64], indices: &[u64], out: &mut [u64]) {
        // SAFETY: as above.
        unsafe { shared_table::read(table, indices, out) }
    }
);

#[cfg(test)]
crate::wide::tests::suite!(Quad, crate::isa::detect_avx2());
