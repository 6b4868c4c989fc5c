//! Table reads at secret indices under masks. All entries pass through the registers, and every lane keeps
//! the entry at its index. Instructions and addresses are the same for all indices.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

const LANES: usize = 4;

/// Reads entry `indices[l]` for every lane l.
#[target_feature(enable = "avx2")]
pub(super) fn read(table: &[u64], indices: &[u64], out: &mut [u64]) {
    assert!(indices.len() == LANES && out.len().is_multiple_of(LANES));
    assert!(table.len().is_multiple_of(out.len()));
    let digits = out.len() / LANES;
    let mut done = 0;
    while done < digits {
        // One comparison of an index serves as many digits as there are free registers.
        // SAFETY: at least this many digits are left, and the lengths were checked.
        done += unsafe {
            match digits - done {
                8.. => read_some::<8>(table, indices, done, out),
                4.. => read_some::<4>(table, indices, done, out),
                2.. => read_some::<2>(table, indices, done, out),
                _ => read_some::<1>(table, indices, done, out),
            }
        };
    }
}

/// Reads D digits, starting with `digit`. Returns D.
///
/// # Safety
/// `out` has these digits, the entries of the table are as long as `out`, and there is one index per
/// lane.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn read_some<const D: usize>(table: &[u64], indices: &[u64], digit: usize, out: &mut [u64]) -> usize {
    let vector = |words: &[u64]| -> *const __m256i { words.as_ptr().cast() };
    // SAFETY: required of the caller.
    unsafe {
        let wanted = _mm256_loadu_si256(vector(indices));
        let mut found = [_mm256_setzero_si256(); D];
        for (index, entry) in table.chunks_exact(out.len()).enumerate() {
            let mask = _mm256_cmpeq_epi64(wanted, _mm256_set1_epi64x(index as i64));
            let entry = vector(entry).add(digit);
            for (k, found) in found.iter_mut().enumerate() {
                let here = _mm256_and_si256(_mm256_loadu_si256(entry.add(k)), mask);
                *found = _mm256_or_si256(*found, here);
            }
        }
        let out: *mut __m256i = out.as_mut_ptr().cast();
        for (k, found) in found.into_iter().enumerate() {
            _mm256_storeu_si256(out.add(digit + k), found);
        }
    }
    D
}
