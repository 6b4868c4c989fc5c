//! Numbers in batches of similar lengths, so that a long one does not widen all others.

use modmill::{Batch, Error};
use std::collections::BTreeMap;

/// Numbers of about one length: their indices, and the width in bits that holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subset {
    pub(crate) indices: Vec<usize>,
    pub(crate) bits: usize,
}

impl Subset {
    /// The numbers as a batch.
    pub(crate) fn batch<'a>(&self, number: impl Fn(usize) -> &'a [u64]) -> Result<Batch, Error> {
        let mut batch = Batch::try_zeros(self.bits, self.indices.len())?;
        for (item, &index) in self.indices.iter().enumerate() {
            let number = number(index);
            batch.get_mut(item)[..number.len()].copy_from_slice(number);
        }
        Ok(batch)
    }
}

/// The least number of limbs of the form 2^k or 3 2^k that is not below `limbs`.
fn rounded(limbs: usize) -> usize {
    let power = limbs.max(1).next_power_of_two();
    if power >= 4 && limbs <= power / 4 * 3 { power / 4 * 3 } else { power }
}

/// Subsets of numbers with these limbs. The numbers of a subset take `most` limbs at most together.
pub(crate) fn subsets(limbs: impl Iterator<Item = usize>, most: usize) -> Vec<Subset> {
    let mut widths: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, limbs) in limbs.enumerate() {
        widths.entry(rounded(limbs)).or_default().push(index);
    }
    let mut subsets = Vec::new();
    for (width, indices) in widths {
        // Subsets of one width differ by one number at most.
        let parts = indices.len().div_ceil((most / width).max(1));
        let (mut rest, mut parts) = (&indices[..], parts);
        while parts > 0 {
            let (part, more) = rest.split_at(rest.len().div_ceil(parts));
            subsets.push(Subset { indices: part.to_vec(), bits: 64 * width });
            (rest, parts) = (more, parts - 1);
        }
    }
    subsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_have_one_width_and_an_end() {
        let widths: Vec<usize> = (1..=25).map(rounded).collect();
        assert_eq!(&widths[..9], [1, 2, 3, 4, 6, 6, 8, 8, 12]);
        assert_eq!((widths[12], widths[16], widths[24]), (16, 24, 32));
        let found = subsets([2, 32, 2, 31, 1000, 25, 32].into_iter(), 64);
        let found: Vec<_> = found.into_iter().map(|subset| (subset.bits, subset.indices)).collect();
        let expected = [(128, vec![0, 2]), (2048, vec![1, 3]), (2048, vec![5, 6]), (65_536, vec![4])];
        assert_eq!(found, expected);
        assert!(subsets([].into_iter(), 10).is_empty());
    }
}
