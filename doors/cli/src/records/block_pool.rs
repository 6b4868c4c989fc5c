//! The memory that lines are read into.

use super::secret::SecretOctets;
use parking_lot::Mutex;

/// The first length of a block. A block of a file is long enough to be worth a task, and a chunk has many of
/// them.
pub(super) const FILE_BLOCK_BYTES: usize = 1 << 18;
/// A pipe holds no more.
const PIPE_BLOCK_BYTES: usize = 1 << 16;

/// Blocks that were parsed and are read into again. The reader is one thread: it should not wait for new
/// pages, and it should not clear memory that others can clear.
pub(super) struct BlockPool {
    /// The length of a block.
    bytes: usize,
    /// Blocks of zeros.
    blocks: Mutex<Vec<SecretOctets>>,
}

impl BlockPool {
    /// A pool for an input whose lines are returned as soon as they were read, or for any other.
    pub(super) fn new(is_impatient: bool) -> Self {
        let bytes = if is_impatient { PIPE_BLOCK_BYTES } else { FILE_BLOCK_BYTES };
        Self { bytes, blocks: Mutex::default() }
    }

    fn lock(&self) -> impl std::ops::DerefMut<Target = Vec<SecretOctets>> {
        self.blocks.lock()
    }

    /// The length of a block.
    pub(super) fn block_bytes(&self) -> usize {
        self.bytes
    }

    /// `length` zeros.
    pub(super) fn take(&self, length: usize) -> SecretOctets {
        let used = if length == self.bytes { self.lock().pop() } else { None };
        used.unwrap_or_else(|| SecretOctets::zeros(length))
    }

    /// Zeroizes a block that was parsed. There are never more of them than the queue held at a time.
    pub(super) fn put(&self, mut block: SecretOctets) {
        if block.capacity() == self.bytes {
            block.clear();
            block.resize(self.bytes, 0);
            self.lock().push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_zeros() {
        let pool = BlockPool::new(false);
        let mut block = pool.take(pool.block_bytes());
        block.fill(7);
        let place = block.as_ptr();
        block.truncate(100);
        pool.put(block);
        let again = pool.take(pool.block_bytes());
        assert_eq!((again.as_ptr(), again.len()), (place, FILE_BLOCK_BYTES));
        assert!(again.iter().all(|&byte| byte == 0));
        // A block that has grown for a long line is not kept.
        pool.put(SecretOctets::zeros(FILE_BLOCK_BYTES + 1));
        assert!(pool.lock().is_empty());
    }
}
