//! Freed memory, kept for the next buffer of the same size.
//!
//! Allocating takes a driver some hundred microseconds and stops the whole device; a batch needs the
//! same sizes as the batch before. Sizes are rounded to eight steps per power of two, so that a size
//! is reused if it is the same after rounding and at most an eighth is wasted.

use std::collections::HashMap;

/// Free memory of one kind, by size.
#[derive(Default)]
pub(super) struct Pool {
    free: HashMap<usize, Vec<u64>>,
}

impl Pool {
    /// The address of free memory of `bytes` bytes, if there is one.
    pub(super) fn take(&mut self, bytes: usize) -> Option<u64> {
        self.free.get_mut(&bytes)?.pop()
    }

    /// Keeps free memory of `bytes` bytes.
    pub(super) fn keep(&mut self, address: u64, bytes: usize) {
        self.free.entry(bytes).or_default().push(address);
    }

    /// Takes all addresses out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = u64> {
        std::mem::take(&mut self.free).into_values().flatten()
    }

    /// Bytes that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.free.iter().map(|(bytes, addresses)| bytes * addresses.len()).sum()
    }
}

/// A size rounded up to one of eight steps per power of two, and to a GPU's 512 bytes.
pub(crate) fn rounded(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 16).max(512);
    bytes.max(1).next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_by_an_eighth_at_most() {
        assert_eq!(rounded(0), 512);
        assert_eq!(rounded(513), 1024);
        for bytes in (8192..1 << 20).step_by(977) {
            let size = rounded(bytes);
            assert!(size >= bytes && size - bytes <= bytes / 8, "{bytes} became {size}");
        }
    }

    #[test]
    fn what_is_kept_comes_back_once() {
        let mut pool = Pool::default();
        pool.keep(7, 512);
        assert_eq!((pool.take(1024), pool.take(512), pool.take(512)), (None, Some(7), None));
        pool.keep(8, 512);
        pool.keep(9, 1024);
        assert_eq!(pool.bytes(), 1536);
        assert_eq!(pool.drain().count(), 2);
        assert_eq!(pool.bytes(), 0);
    }
}
