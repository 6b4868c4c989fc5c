//! Records of one length, in temporary files, cut by their first bytes.

use crate::Error;
use std::io::{Read, Seek, SeekFrom, Write};
use tempfile::SpooledTempFile;

/// Bytes of a part that is read into memory at once.
const PART: u64 = 1 << 26;
/// Bytes of a part that stay in memory before the part becomes a file.
const IN_MEMORY: usize = 1 << 22;
/// The greatest number of parts: as many files may be open at a time.
const MOST_PARTS: u64 = 256;

/// Records of one length. Record r is in part `floor(f parts / 2^16)`, where f is the number of the first two
/// bytes of r. The bytes of blinded items and tags are as good as random, so that all parts have about the
/// same length.
pub(crate) struct Partitions {
    record: usize,
    parts: Vec<SpooledTempFile>,
}

impl Partitions {
    /// The number of parts for `octets` bytes in all.
    pub(crate) fn parts_for(octets: u64) -> usize {
        octets.div_ceil(PART).clamp(1, MOST_PARTS) as usize
    }

    /// No records yet, of `record` bytes each.
    pub(crate) fn new(record: usize, parts: usize) -> Self {
        let parts = (0..parts).map(|_| SpooledTempFile::new(IN_MEMORY)).collect();
        Self { record, parts }
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, record: &[u8]) -> Result<(), Error> {
        let first = usize::from(record[0]) << 8 | usize::from(record[1]);
        let part = (first * self.parts.len()) >> 16;
        self.parts[part].write_all(record).map_err(Error::file)
    }

    /// The records of each part, one after the other, in the order in which they were added.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Result<Vec<u8>, Error>> {
        self.parts.into_iter().map(|mut part| {
            let mut records = Vec::new();
            part.seek(SeekFrom::Start(0)).map_err(Error::file)?;
            part.read_to_end(&mut records).map_err(Error::file)?;
            Ok(records)
        })
    }

    /// The records of each part in ascending order. Over all parts the order is ascending too.
    pub(crate) fn into_sorted_parts(self) -> impl Iterator<Item = Result<Vec<u8>, Error>> {
        let length = self.record;
        self.into_parts().map(move |records| Ok(sorted(&records?, length).concat()))
    }

    /// The records in ascending order, each once, and their number.
    pub(crate) fn sorted_once(self) -> Result<(Self, u64), Error> {
        let (length, count) = (self.record, self.parts.len());
        let (mut once, mut records) = (Self::new(length, count), 0);
        for (part, all) in self.into_parts().enumerate() {
            let all = all?;
            let mut sorted = sorted(&all, length);
            sorted.dedup();
            records += sorted.len() as u64;
            once.parts[part].write_all(&sorted.concat()).map_err(Error::file)?;
        }
        Ok((once, records))
    }
}

/// Records of `length` bytes in ascending order.
fn sorted(records: &[u8], length: usize) -> Vec<&[u8]> {
    let mut sorted: Vec<&[u8]> = records.chunks_exact(length).collect();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_parts_are_in_order_and_complete() {
        for parts in [1, 2, 3, 7, 256] {
            let mut partitions = Partitions::new(3, parts);
            let record = |n: u32| [(n * 37 % 256) as u8, (n * 101 % 256) as u8, (n % 256) as u8];
            (0..1000).for_each(|n| partitions.push(&record(n)).unwrap());
            (0..10).for_each(|n| partitions.push(&record(n)).unwrap());
            let (once, count) = partitions.sorted_once().unwrap();
            let records: Vec<u8> = once.into_parts().flat_map(Result::unwrap).collect();
            let mut expected: Vec<_> = (0..1000).map(record).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!((records, count), (expected.concat(), expected.len() as u64), "{parts}");
        }
    }

    #[test]
    fn the_number_of_parts_follows_the_octets() {
        let parts = [0, 1, PART, PART + 1, u64::MAX].map(Partitions::parts_for);
        assert_eq!(parts, [1, 1, 1, 2, 256]);
    }

    #[test]
    fn what_exceeds_memory_goes_through_files() {
        let mut partitions = Partitions::new(1024, 1);
        let records = IN_MEMORY / 1024 + 10;
        for n in 0..records {
            let mut record = [0; 1024];
            record[..8].copy_from_slice(&(n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            partitions.push(&record).unwrap();
        }
        let sorted = partitions.into_sorted_parts().next().unwrap().unwrap();
        assert_eq!(sorted.len(), records * 1024);
        assert!(sorted.chunks(1024).is_sorted());
    }
}
