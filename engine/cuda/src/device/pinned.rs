//! Pinned memory of callers, which a device copies from and to without staging.

use super::{Contents, Device, HostBuffer};
use crate::error::Result;
use modmill_core::LimbMemory;
use modmill_core::sync::RwLock;
use std::collections::BTreeMap;

/// The pinned memory that callers hold in this process: first addresses, and the addresses behind the last
/// bytes. All devices can copy from and to all of it.
static PINNED: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

/// Whether all of `limbs` lies in pinned memory of a caller's.
pub(crate) fn is_pinned(limbs: &[u64]) -> bool {
    let range = limbs.as_ptr_range();
    let (start, end) = (range.start as usize, range.end as usize);
    let pinned = PINNED.read();
    start < end && pinned.range(..=start).next_back().is_some_and(|(_, &last)| end <= last)
}

/// Pinned memory for the limbs of a batch. The batch clears it before it goes back to the device's pool.
struct PinnedLimbs {
    buffer: HostBuffer,
    limbs: usize,
}

impl PinnedLimbs {
    fn start(&self) -> usize {
        self.buffer.limbs().as_ptr() as usize
    }
}

impl LimbMemory for PinnedLimbs {
    fn limbs(&self) -> &[u64] {
        &self.buffer.limbs()[..self.limbs]
    }

    fn limbs_mut(&mut self) -> &mut [u64] {
        &mut self.buffer.limbs_mut()[..self.limbs]
    }
}

impl Drop for PinnedLimbs {
    fn drop(&mut self) {
        PINNED.write().remove(&self.start());
    }
}

impl Device {
    /// Pinned memory of the host for `limbs` limbs.
    pub fn pinned_limbs(&self, limbs: usize) -> Result<Box<dyn LimbMemory>> {
        let buffer = self.host_buffer(8 * limbs.max(1), Contents::Public)?;
        let memory = PinnedLimbs { buffer, limbs };
        let start = memory.start();
        PINNED.write().insert(start, start + 8 * limbs);
        Ok(Box::new(memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::emulator::Faults;

    #[test]
    fn pinned_memory_is_known_while_it_lives() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let (first, second) = (device.pinned_limbs(100).unwrap(), device.pinned_limbs(1).unwrap());
        assert!(is_pinned(first.limbs()) && is_pinned(&first.limbs()[99..]) && is_pinned(second.limbs()));
        assert!(!is_pinned(&[1, 2, 3]) && !is_pinned(&first.limbs()[5..5]));
        let address = first.limbs().as_ptr() as usize;
        drop(first);
        assert!(!PINNED.read().contains_key(&address));
        assert!(is_pinned(second.limbs()));
    }
}
