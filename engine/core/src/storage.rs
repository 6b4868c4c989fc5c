//! The memory of a batch.

use crate::spare::Spare;
use std::ops::{Deref, DerefMut};
use zeroize::Zeroize;

/// Cleared memory of dropped batches, from a megabyte to a gigabyte. A batch clears its memory anyway when it
/// is dropped, so that the memory is as good as new.
pub(crate) static CLEARED: Spare<u64> = Spare::new(1 << 17, 1 << 27);

/// Memory for the limbs of a batch that does not come from Rust's allocator, such as pinned memory, which a
/// GPU copies from and to by itself.
pub trait LimbMemory: Send + Sync {
    /// The limbs.
    fn limbs(&self) -> &[u64];

    /// The limbs, for writing.
    fn limbs_mut(&mut self) -> &mut [u64];
}

/// The limbs of a batch, in memory of its own or in memory that something else manages.
pub(crate) enum Storage {
    Own(Vec<u64>),
    Foreign(Box<dyn LimbMemory>),
}

impl Storage {
    /// Lets go of all limbs, which the caller has cleared.
    pub(crate) fn release(&mut self) {
        if let Self::Own(mut limbs) = std::mem::replace(self, Self::Own(Vec::new())) {
            limbs.spare_capacity_mut().zeroize();
            CLEARED.keep(limbs);
        }
    }
}

impl Deref for Storage {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Self::Own(limbs) => limbs,
            Self::Foreign(memory) => memory.limbs(),
        }
    }
}

impl DerefMut for Storage {
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Own(limbs) => limbs,
            Self::Foreign(memory) => memory.limbs_mut(),
        }
    }
}

impl Clone for Storage {
    /// A copy is in memory of its own.
    fn clone(&self) -> Self {
        Self::Own(self.to_vec())
    }
}

impl PartialEq for Storage {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Storage {}
