//! Reads at secret indices from the table of one number, under masks in vectors.
#![allow(unsafe_code)]

use crate::isa::Adx;
use core::arch::x86_64::*;

/// Limbs of a vector.
const VECTOR: usize = 4;

/// Reads entry `index` of a table whose entries are as long as `out`. All entries are read.
pub(super) fn read(_: Adx, table: &[u64], index: u64, out: &mut [u64]) {
    assert!(table.len().is_multiple_of(out.len()));
    // SAFETY: the token proves the instructions.
    unsafe { read_entry(table, index, out) }
}

#[target_feature(enable = "avx2")]
fn read_entry(table: &[u64], index: u64, out: &mut [u64]) {
    let (length, wanted) = (out.len(), _mm256_set1_epi64x(index as i64));
    let mut done = 0;
    while length - done >= 4 * VECTOR {
        read_vectors::<4>(table, wanted, done, out);
        done += 4 * VECTOR;
    }
    while length - done >= VECTOR {
        read_vectors::<1>(table, wanted, done, out);
        done += VECTOR;
    }
    if done < length {
        read_rest(table, wanted, done, out);
    }
}

/// Reads the limbs of V vectors from `place` on. They stay in registers while all entries pass by.
#[inline]
#[target_feature(enable = "avx2")]
fn read_vectors<const V: usize>(table: &[u64], wanted: __m256i, place: usize, out: &mut [u64]) {
    let mut sums = [_mm256_setzero_si256(); V];
    let mut entry = _mm256_setzero_si256();
    for limbs in table.chunks_exact(out.len()) {
        let mask = _mm256_cmpeq_epi64(entry, wanted);
        let limbs = &limbs[place..][..VECTOR * V];
        for (sum, limbs) in sums.iter_mut().zip(limbs.as_chunks::<VECTOR>().0) {
            // SAFETY: four limbs are read.
            let limbs = unsafe { _mm256_loadu_si256(limbs.as_ptr().cast()) };
            *sum = _mm256_or_si256(*sum, _mm256_and_si256(mask, limbs));
        }
        entry = _mm256_add_epi64(entry, _mm256_set1_epi64x(1));
    }
    for (sum, out) in sums.iter().zip(out[place..][..VECTOR * V].as_chunks_mut::<VECTOR>().0) {
        // SAFETY: four limbs are written.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), *sum) }
    }
}

/// Reads the limbs from `place` on, of which there are fewer than a vector has.
#[inline]
#[target_feature(enable = "avx2")]
fn read_rest(table: &[u64], wanted: __m256i, place: usize, out: &mut [u64]) {
    let places = _mm256_set_epi64x(3, 2, 1, 0);
    let here = _mm256_cmpgt_epi64(_mm256_set1_epi64x((out.len() - place) as i64), places);
    let mut sum = _mm256_setzero_si256();
    let mut entry = _mm256_setzero_si256();
    for limbs in table.chunks_exact(out.len()) {
        let mask = _mm256_cmpeq_epi64(entry, wanted);
        // SAFETY: only the limbs from `place` on that are there are read.
        let limbs = unsafe { _mm256_maskload_epi64(limbs[place..].as_ptr().cast(), here) };
        sum = _mm256_or_si256(sum, _mm256_and_si256(mask, limbs));
        entry = _mm256_add_epi64(entry, _mm256_set1_epi64x(1));
    }
    // SAFETY: only the limbs from `place` on that are there are written.
    unsafe { _mm256_maskstore_epi64(out[place..].as_mut_ptr().cast(), here, sum) }
}
