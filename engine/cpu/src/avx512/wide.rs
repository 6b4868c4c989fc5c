//! Wide samples on AVX-512F, rounding toward zero: 52 bits as in [Emmart-wide].
#![allow(unsafe_code)]

use super::{lanes, shared_table, table};
use crate::isa::Avx512;
use crate::lanes::Bits;
use crate::wide::leaves::{Part, implement_leaves};
use crate::wide::samples::{Samples, UNIT};
use core::arch::x86_64::*;
use modmill_core::Isa;

/// The kernel.
pub(crate) type Wide = crate::wide::Wide<Octet>;

/// A vector of eight samples.
#[derive(Clone, Copy)]
pub(crate) struct Octet(__m512i);

impl Octet {
    #[inline(always)]
    fn doubles(self) -> __m512d {
        // SAFETY: both types have the same size, and every bit pattern is valid.
        unsafe { core::mem::transmute(self.0) }
    }

    #[inline(always)]
    fn from_doubles(doubles: __m512d) -> Self {
        // SAFETY: both types have the same size, and every bit pattern is valid.
        Self(unsafe { core::mem::transmute::<__m512d, __m512i>(doubles) })
    }
}

impl Samples for Octet {
    const LANES: usize = 8;
    const WIDTH: u32 = 52;
    const LOW: f64 = UNIT;
    const BLOCK: usize = 5;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: required of the caller; the same holds below.
        Self(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_set1_epi64(word as i64) })
    }

    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // SAFETY: see above.
        Self::from_doubles(unsafe {
            _mm512_fmadd_round_pd::<TOWARD_ZERO>(self.doubles(), b.doubles(), c.doubles())
        })
    }

    #[inline(always)]
    unsafe fn plus(self, b: Self) -> Self {
        // SAFETY: see above.
        Self::from_doubles(unsafe { _mm512_add_pd(self.doubles(), b.doubles()) })
    }

    #[inline(always)]
    unsafe fn minus(self, b: Self) -> Self {
        // SAFETY: see above.
        Self::from_doubles(unsafe { _mm512_sub_pd(self.doubles(), b.doubles()) })
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_add_epi64(self.0, b.0) })
    }

    #[inline(always)]
    unsafe fn and(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_and_si512(self.0, b.0) })
    }

    #[inline(always)]
    unsafe fn or(self, b: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_or_si512(self.0, b.0) })
    }

    #[inline(always)]
    unsafe fn carry(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_srli_epi64::<{ <Octet as Samples>::WIDTH }>(self.0) })
    }
}

implement_leaves!(Octet, Avx512, Isa::Avx512, "avx512f", 1 2 3 4 5;
    const AT_ONCE: usize = table::AT_ONCE;

    fn split(_: Avx512, numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
        // SAFETY: the token proves the instruction set.
        unsafe { lanes::split(numbers, bits, limbs, rows) }
    }

    fn join(_: Avx512, rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize) {
        // SAFETY: as above.
        unsafe { lanes::join(rows, limbs, numbers, stride) }
    }

    fn reduce_once(_: Avx512, x: &mut [u64], m: &[u64], space: &mut [u64]) {
        // SAFETY: as above.
        unsafe { lanes::reduce_once(x, m, space) }
    }

    fn arrange(_: Avx512, numbers: &mut [u64], digits: usize) {
        // SAFETY: as above.
        unsafe { table::transpose(numbers, digits) }
    }

    fn select(_: Avx512, table: &[u64], indices: &[u64], out: &mut [u64]) {
        // SAFETY: as above.
        unsafe { table::read(table, indices, out) }
    }

    fn select_shared(_: Avx512, table: &[u64], indices: &[u64], out: &mut [u64]) {
        // SAFETY: as above.
        unsafe { shared_table::read(table, indices, out) }
    }
);

#[cfg(test)]
crate::wide::tests::suite!(Octet, crate::isa::detect_avx512());
