//! Reads at secret indices from a table that all lanes share, under masks.

use modmill_core::mask;
use zeroize::Zeroizing;

/// The most entries of a shared table.
const MOST: usize = 256;

/// Reads an entry for each index. The table holds a digit of all entries side by side, for as many digits as
/// a number of `out` has.
pub(crate) fn read(table: &[u64], indices: &[u64], out: &mut [u64]) {
    let digits = out.len() / indices.len();
    let entries = table.len() / digits;
    assert!(entries <= MOST && table.len() == entries * digits);
    let mut masks = Zeroizing::new([0; MOST]);
    for (&index, out) in indices.iter().zip(out.chunks_exact_mut(digits)) {
        for (entry, mask) in masks[..entries].iter_mut().enumerate() {
            *mask = mask::equal(entry as u64, index);
        }
        for (words, out) in table.chunks_exact(entries).zip(out) {
            *out = words.iter().zip(masks.iter()).fold(0, |found, (word, mask)| found | word & mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::check_shared_reads;

    #[test]
    fn entries_are_those_of_a_plain_index() {
        check_shared_reads::<1>(read);
    }
}
