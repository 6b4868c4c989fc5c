//! The limits of a device: what its blocks of threads and its multiprocessors can hold.

/// The most threads of a block, on every device.
pub const MAX_BLOCK: u32 = 1024;

/// The limits of a device, and the instructions that it has. Candidates for its kernels are made within these
/// limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// The highest clock of the multiprocessors, in MHz.
    pub clock_mhz: u32,
    /// Threads that a multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// Blocks that a multiprocessor holds.
    pub blocks_per_multiprocessor: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Bytes of shared memory that a block may have, after opting in to more than 48 KiB.
    pub shared_per_block: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
    /// Bytes of shared memory that the system takes for itself with every block.
    pub shared_reserved: u32,
    /// Single-precision throughput divided by double-precision throughput.
    pub single_per_double: u32,
}

/// How a device multiplies matrices of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tensor {
    /// A warp multiplies 8 x 16 by 16 x 8 (`mma.m8n8k16`).
    SmallTiles,
    /// A warp multiplies 16 x 32 by 32 x 8 (`mma.m16n8k32`).
    WarpTiles,
    /// Four warps multiply together, from matrices in shared memory (`wgmma`).
    Warpgroups,
}

impl Limits {
    /// The tensor instructions of the device. `wgmma` is a part of `sm_90a` and of no other architecture.
    #[must_use]
    pub fn tensor(&self) -> Tensor {
        match self.capability {
            (0..=7, _) => Tensor::SmallTiles,
            (9, 0) => Tensor::Warpgroups,
            _ => Tensor::WarpTiles,
        }
    }

    /// Blocks that a multiprocessor holds at once, as far as threads and shared memory decide: `block`
    /// threads and `shared_bytes` bytes each.
    #[must_use]
    pub fn resident_blocks(&self, block: u32, shared_bytes: u32) -> u32 {
        if block == 0 || block > MAX_BLOCK || shared_bytes > self.shared_per_block {
            return 0;
        }
        let by_threads = self.threads_per_multiprocessor / block;
        let own = shared_bytes.saturating_add(self.shared_reserved);
        let by_memory = self.shared_per_multiprocessor.checked_div(own).unwrap_or(u32::MAX);
        by_threads.min(by_memory).min(self.blocks_per_multiprocessor)
    }

    /// The limits that both devices keep.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        let smaller = |limit: fn(&Self) -> u32| limit(self).min(limit(other));
        Self {
            capability: self.capability.min(other.capability),
            multiprocessors: smaller(|limits| limits.multiprocessors),
            clock_mhz: smaller(|limits| limits.clock_mhz),
            threads_per_multiprocessor: smaller(|limits| limits.threads_per_multiprocessor),
            blocks_per_multiprocessor: smaller(|limits| limits.blocks_per_multiprocessor),
            registers_per_multiprocessor: smaller(|limits| limits.registers_per_multiprocessor),
            shared_per_block: smaller(|limits| limits.shared_per_block),
            shared_per_multiprocessor: smaller(|limits| limits.shared_per_multiprocessor),
            shared_reserved: self.shared_reserved.max(other.shared_reserved),
            single_per_double: self.single_per_double.max(other.single_per_double),
        }
    }
}
