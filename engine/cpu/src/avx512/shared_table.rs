//! Reads at secret indices from a table that all lanes share, with registers as the table.
//!
//! The table holds digit i of all entries side by side. Two registers hold this digit of sixteen entries, and
//! one permutation (`vpermi2q`) looks up the words at the indices of all eight lanes in them. A table of 256
//! entries takes sixteen permutations for each digit. The upper bits of an index choose among their answers,
//! by masked moves that halve the number of answers with each bit.
//!
//! All words are loaded in the same order for all indices. An index is seen only by permutations, tests of
//! single bits into a mask and masked moves between registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

const LANES: usize = 8;

/// Entries that one permutation looks at.
const SIXTEEN: usize = 2 * LANES;

/// Digits that are read for all groups of lanes before the next ones: 16 KiB of a table of 256 entries, which
/// stay in the first-level cache.
const CHUNK: usize = 8;

/// Reads entry `indices[l]` for every lane l of some groups of lanes. The table has 16, 32, 64, 128 or 256
/// entries.
#[target_feature(enable = "avx512f")]
pub(crate) fn read(table: &[u64], indices: &[u64], out: &mut [u64]) {
    assert!(!indices.is_empty() && indices.len().is_multiple_of(LANES));
    let digits = out.len() / indices.len();
    assert!(digits > 0 && out.len() == digits * indices.len());
    let entries = table.len() / digits;
    assert!(table.len() == digits * entries);
    for (chunk, table) in table.chunks(CHUNK * entries).enumerate() {
        for (indices, out) in indices.chunks_exact(LANES).zip(out.chunks_exact_mut(digits * LANES)) {
            let out = &mut out[chunk * CHUNK * LANES..][..table.len() / entries * LANES];
            // SAFETY: there are eight indices, `out` has as many digits as the chunk of the table, and the
            // constant is a sixteenth of the entries.
            unsafe {
                match entries {
                    16 => read_entries::<1>(table, indices, out),
                    32 => read_entries::<2>(table, indices, out),
                    64 => read_entries::<4>(table, indices, out),
                    128 => read_entries::<8>(table, indices, out),
                    256 => read_entries::<16>(table, indices, out),
                    _ => panic!("a shared table has 16, 32, 64, 128 or 256 entries, not {entries}"),
                }
            }
        }
    }
}

/// Reads from a table of `16 S` entries, for one group of lanes.
///
/// # Safety
/// There is one index for each lane, `out` holds whole digits, and the table holds `16 S` words for each
/// digit.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn read_entries<const S: usize>(table: &[u64], indices: &[u64], out: &mut [u64]) {
    // SAFETY: required of the caller; a chunk of the table has `16 S` words.
    unsafe {
        let indices = _mm512_loadu_si512(indices.as_ptr().cast());
        // The lanes whose index has bit 4, 5, 6 or 7.
        let mut upper = [0; 4];
        for (bit, lanes) in upper.iter_mut().enumerate() {
            *lanes = _mm512_test_epi64_mask(indices, _mm512_set1_epi64(16 << bit));
        }
        for (words, out) in table.chunks_exact(SIXTEEN * S).zip(out.chunks_exact_mut(LANES)) {
            let words: *const __m512i = words.as_ptr().cast();
            let mut found = [_mm512_setzero_si512(); S];
            for (sixteen, found) in found.iter_mut().enumerate() {
                let low = _mm512_loadu_si512(words.add(2 * sixteen));
                let high = _mm512_loadu_si512(words.add(2 * sixteen + 1));
                // A permutation uses the low four bits of an index.
                *found = _mm512_permutex2var_epi64(low, indices, high);
            }
            for (bit, &lanes) in upper.iter().enumerate().take(S.ilog2() as usize) {
                for pair in 0..S >> (bit + 1) {
                    found[pair] = _mm512_mask_mov_epi64(found[2 * pair], lanes, found[2 * pair + 1]);
                }
            }
            _mm512_storeu_si512(out.as_mut_ptr().cast(), found[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::detect_avx512;
    use crate::test_support::check_shared_reads;

    #[test]
    fn entries_are_those_of_a_plain_index() {
        if detect_avx512().is_some() {
            // SAFETY: the instruction set was detected.
            check_shared_reads::<LANES>(|table, indices, out| unsafe { read(table, indices, out) });
        }
    }
}
