//! The intersection of tags.

use crate::partitions::Partitions;
use crate::{Error, TAG_OCTETS, Tag};
use std::collections::HashSet;

/// The positions of `own` tags that are among the `other` tags, in ascending order.
///
/// ```
/// let [a, b, c] = [[1; 16], [2; 16], [3; 16]];
/// assert_eq!(modmill_psi::intersect(&[a, b, c, b], &[b, a]), [0, 1, 3]);
/// ```
#[must_use]
pub fn intersect(own: &[Tag], other: &[Tag]) -> Vec<usize> {
    let other: HashSet<&Tag> = other.iter().collect();
    (0..own.len()).filter(|&index| other.contains(&own[index])).collect()
}

/// Bytes of a tag with the position of its item.
const OWN: usize = TAG_OCTETS + 8;

/// The intersection of more tags than memory holds. Tags are kept in temporary files, cut by their first
/// bytes, so that a small part of both sides is in memory at a time.
///
/// ```
/// let mut matcher = modmill_psi::Matcher::new(3, 2);
/// matcher.add_own(&[[1; 16], [2; 16], [3; 16]])?;
/// matcher.add_other(&[[3; 16], [9; 16]])?;
/// assert_eq!(matcher.intersect()?, [2]);
/// # Ok::<(), modmill_psi::Error>(())
/// ```
pub struct Matcher {
    own: Partitions,
    other: Partitions,
    /// Own tags so far: the position of the next.
    next: u64,
}

impl Matcher {
    /// A matcher for about `own` and `other` tags. The numbers decide how many files there are, and nothing
    /// else.
    #[must_use]
    pub fn new(own: u64, other: u64) -> Self {
        let octets = own.saturating_mul(OWN as u64).max(other.saturating_mul(TAG_OCTETS as u64));
        let parts = Partitions::parts_for(octets);
        Self { own: Partitions::new(OWN, parts), other: Partitions::new(TAG_OCTETS, parts), next: 0 }
    }

    /// Adds the tags of the caller's next items.
    pub fn add_own(&mut self, tags: &[Tag]) -> Result<(), Error> {
        for tag in tags {
            let mut record = [0; OWN];
            record[..TAG_OCTETS].copy_from_slice(tag);
            record[TAG_OCTETS..].copy_from_slice(&self.next.to_le_bytes());
            self.own.push(&record)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Adds tags of the other party.
    pub fn add_other(&mut self, tags: &[Tag]) -> Result<(), Error> {
        tags.iter().try_for_each(|tag| self.other.push(tag))
    }

    /// The positions of own tags that the other party has too, in ascending order.
    pub fn intersect(self) -> Result<Vec<u64>, Error> {
        let mut common = Vec::new();
        for (own, other) in self.own.into_parts().zip(self.other.into_parts()) {
            let (own, other) = (own?, other?);
            let other: HashSet<&[u8]> = other.chunks_exact(TAG_OCTETS).collect();
            let positions = own.chunks_exact(OWN).filter(|record| other.contains(&record[..TAG_OCTETS]));
            common.extend(positions.map(position));
        }
        common.sort_unstable();
        Ok(common)
    }
}

/// The position in a record of a tag and its position.
fn position(record: &[u8]) -> u64 {
    let octets = record[TAG_OCTETS..].iter().rev();
    octets.fold(0, |position, &octet| position << 8 | u64::from(octet))
}
