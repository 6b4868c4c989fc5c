//! Freed memory, kept for the next buffer of the same size.
//!
//! Allocating takes a driver some hundred microseconds and stops the whole device; a batch needs the
//! same sizes as the batch before. Sizes are rounded to eight steps per power of two, so that a size
//! is reused if it is the same after rounding and at most an eighth is wasted.

use std::collections::HashMap;

/// Free memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Free {
    pub(super) address: u64,
    pub(super) bytes: usize,
    /// Whether secrets may be left in it.
    pub(super) is_secret: bool,
}

/// Free memory of one kind, by size.
#[derive(Default)]
pub(super) struct Pool {
    free: HashMap<usize, Vec<Free>>,
}

impl Pool {
    /// Free memory of `bytes` bytes, if there is any: the latest, or the latest without secrets where these
    /// are to be avoided and some is without.
    pub(super) fn take(&mut self, bytes: usize, avoids_secrets: bool) -> Option<Free> {
        let free = self.free.get_mut(&bytes)?;
        match free.iter().rposition(|free| !(avoids_secrets && free.is_secret)) {
            Some(place) => Some(free.remove(place)),
            None => free.pop(),
        }
    }

    /// Keeps free memory.
    pub(super) fn keep(&mut self, free: Free) {
        self.free.entry(free.bytes).or_default().push(free);
    }

    /// Takes all memory out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Free> + use<> {
        std::mem::take(&mut self.free).into_values().flatten()
    }

    /// Takes the memory out that may hold secrets.
    pub(super) fn drain_secrets(&mut self) -> Vec<Free> {
        self.free.values_mut().flat_map(|free| free.extract_if(.., |free| free.is_secret)).collect()
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

    fn free(address: u64, bytes: usize, is_secret: bool) -> Free {
        Free { address, bytes, is_secret }
    }

    #[test]
    fn memory_without_secrets_comes_first_where_it_is_wanted() {
        let mut pool = Pool::default();
        for (address, is_secret) in [(1, false), (2, true), (3, false), (4, true)] {
            pool.keep(free(address, 512, is_secret));
        }
        let mut take = |avoids_secrets| pool.take(512, avoids_secrets).map(|free| free.address);
        assert_eq!([take(true), take(false), take(true), take(true)], [Some(3), Some(4), Some(1), Some(2)]);
        pool.keep(free(5, 512, true));
        pool.keep(free(6, 1024, false));
        assert_eq!(pool.drain_secrets(), [free(5, 512, true)]);
        assert_eq!(pool.bytes(), 1024);
    }

    #[test]
    fn what_is_kept_comes_back_once() {
        let mut pool = Pool::default();
        pool.keep(free(7, 512, false));
        let found = [1024, 512, 512].map(|bytes| pool.take(bytes, false).map(|free| free.address));
        assert_eq!(found, [None, Some(7), None]);
        pool.keep(free(8, 512, false));
        pool.keep(free(9, 1024, true));
        assert_eq!(pool.bytes(), 1536);
        assert_eq!(pool.drain().count(), 2);
        assert_eq!(pool.bytes(), 0);
    }
}
