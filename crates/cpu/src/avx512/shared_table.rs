//! Reads at secret indices from a table that all lanes share, with registers as the table.
//!
//! The table holds digit i of all entries side by side. Two registers hold this digit of sixteen entries, and one
//! permutation (`vpermi2q`) looks up the words at the indices of all eight lanes in them. A table of 256 entries takes
//! sixteen permutations for each digit. The index of a lane tells by its upper bits which of their answers is kept.
//!
//! All words are loaded once, in the same order for all indices. An index is seen only by permutations, comparisons
//! into a mask and masked moves between registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

const LANES: usize = 8;

/// Entries that one permutation looks at.
const SIXTEEN: usize = 2 * LANES;

/// Reads entry `indices[l]` for every lane l. The table has 16, 32, 64, 128 or 256 entries.
#[target_feature(enable = "avx512f")]
pub(super) fn read(table: &[u64], indices: &[u64], out: &mut [u64]) {
    let digits = out.len() / LANES;
    assert!(indices.len() == LANES && out.len() == digits * LANES && digits > 0);
    let entries = table.len() / digits;
    assert!(table.len() == digits * entries);
    // SAFETY: the lengths were checked, and the constant is a sixteenth of the entries.
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

/// Reads from a table of `16 S` entries.
///
/// # Safety
/// There is one index for each lane, `out` holds whole digits, and the table holds `16 S` words for each digit.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn read_entries<const S: usize>(table: &[u64], indices: &[u64], out: &mut [u64]) {
    // SAFETY: required of the caller; a chunk of the table has `16 S` words.
    unsafe {
        let indices = _mm512_loadu_si512(indices.as_ptr().cast());
        let block = _mm512_srli_epi64::<4>(indices);
        let mut here = [0; S];
        for (sixteen, here) in here.iter_mut().enumerate() {
            *here = _mm512_cmpeq_epi64_mask(block, _mm512_set1_epi64(sixteen as i64));
        }
        for (words, out) in table.chunks_exact(SIXTEEN * S).zip(out.chunks_exact_mut(LANES)) {
            let words: *const __m512i = words.as_ptr().cast();
            // A permutation uses the low four bits of an index.
            let look_up = |sixteen: usize| {
                let low = _mm512_loadu_si512(words.add(2 * sixteen));
                let high = _mm512_loadu_si512(words.add(2 * sixteen + 1));
                _mm512_permutex2var_epi64(low, indices, high)
            };
            let mut found = look_up(0);
            for (sixteen, &here) in here.iter().enumerate().skip(1) {
                found = _mm512_mask_mov_epi64(found, here, look_up(sixteen));
            }
            _mm512_storeu_si512(out.as_mut_ptr().cast(), found);
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
