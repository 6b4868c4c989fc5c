//! Reads at secret indices from a table that all lanes share.
//!
//! The table holds digit i of all entries side by side. A register holds this digit of four entries, and one
//! permutation (`vpermd`, on halves of words) looks up the words at the indices of all four lanes in it. All
//! entries pass through the registers, and every lane keeps the answer of the four entries that its index is
//! among. Instructions and addresses are the same for all indices.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

const LANES: usize = 4;

/// Reads entry `indices[l]` for every lane l of some groups of lanes. The number of entries is a multiple of
/// four.
#[target_feature(enable = "avx2")]
pub(super) fn read(table: &[u64], indices: &[u64], out: &mut [u64]) {
    assert!(!indices.is_empty() && indices.len().is_multiple_of(LANES));
    let digits = out.len() / indices.len();
    assert!(digits > 0 && out.len() == digits * indices.len());
    let entries = table.len() / digits;
    assert!(table.len() == digits * entries && entries.is_multiple_of(LANES));
    let mut done = 0;
    while done < digits {
        // One comparison of the indices serves as many digits as there are free registers, and these digits
        // stay in the cache for all groups of lanes.
        let mut some = 0;
        for (indices, out) in indices.chunks_exact(LANES).zip(out.chunks_exact_mut(digits * LANES)) {
            // SAFETY: at least this many digits are left, and the lengths were checked.
            some = unsafe {
                match digits - done {
                    8.. => read_some::<8>(table, entries, indices, done, out),
                    4.. => read_some::<4>(table, entries, indices, done, out),
                    2.. => read_some::<2>(table, entries, indices, done, out),
                    _ => read_some::<1>(table, entries, indices, done, out),
                }
            };
        }
        done += some;
    }
}

/// Reads D digits, starting with `digit`. Returns D.
///
/// # Safety
/// `out` has these digits, the table has `entries` words for each digit, which are a multiple of four, and
/// there is one index for each lane.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn read_some<const D: usize>(
    table: &[u64],
    entries: usize,
    indices: &[u64],
    digit: usize,
    out: &mut [u64],
) -> usize {
    // SAFETY: required of the caller.
    unsafe {
        let indices = _mm256_loadu_si256(indices.as_ptr().cast());
        let block = _mm256_srli_epi64::<2>(indices);
        // The halves 2 i and 2 i + 1 of the word at place i of a register.
        let low = _mm256_slli_epi64::<1>(_mm256_and_si256(indices, _mm256_set1_epi64x(3)));
        let high = _mm256_add_epi64(low, _mm256_set1_epi64x(1));
        let halves = _mm256_or_si256(low, _mm256_slli_epi64::<32>(high));
        let first = table.as_ptr().add(digit * entries);
        let mut found = [_mm256_setzero_si256(); D];
        for four in 0..entries / LANES {
            let mask = _mm256_cmpeq_epi64(block, _mm256_set1_epi64x(four as i64));
            for (k, found) in found.iter_mut().enumerate() {
                let words = _mm256_loadu_si256(first.add(k * entries + four * LANES).cast());
                let words = _mm256_permutevar8x32_epi32(words, halves);
                *found = _mm256_or_si256(*found, _mm256_and_si256(words, mask));
            }
        }
        let out: *mut __m256i = out.as_mut_ptr().cast();
        for (k, found) in found.into_iter().enumerate() {
            _mm256_storeu_si256(out.add(digit + k), found);
        }
    }
    D
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::detect_avx2;
    use crate::test_support::check_shared_reads;

    #[test]
    fn entries_are_those_of_a_plain_index() {
        if detect_avx2().is_some() {
            // SAFETY: the instruction set was detected.
            check_shared_reads::<LANES>(|table, indices, out| unsafe { read(table, indices, out) });
        }
    }
}
