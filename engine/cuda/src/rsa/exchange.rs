//! The host's side of an operation of RSA: the caller makes the blocks of a chunk and takes the answers.

use crate::device::HostBuffer;
use crate::pipeline::Exchange;
use modmill_core::Blocks;
use modmill_core::sync::Mutex;
use std::ops::Range;

/// The blocks of a call, which several devices take in turn.
pub(super) type SharedBlocks<'a> = Mutex<&'a mut (dyn Blocks + Send)>;

/// The items of one device.
pub(super) struct BlockExchange<'a, Gather> {
    pub(super) blocks: &'a SharedBlocks<'a>,
    /// The first item of the device.
    pub(super) first: usize,
    /// Limbs of a block.
    pub(super) limbs: usize,
    /// Writes the keys or moduli of items behind their blocks, for a number of rows.
    pub(super) gather_keys: Gather,
}

impl<Gather> BlockExchange<'_, Gather> {
    /// The numbers of items in the whole call.
    fn in_call(&self, items: Range<usize>) -> Range<usize> {
        self.first + items.start..self.first + items.end
    }
}

impl<Gather: Fn(Range<usize>, usize, &mut [u64])> Exchange for BlockExchange<'_, Gather> {
    fn gather(&mut self, items: Range<usize>, rows: usize, input: &mut HostBuffer) {
        let items = self.in_call(items);
        let limbs = self.limbs * rows;
        let (used, padding) = input[..8 * limbs].split_at_mut(8 * self.limbs * items.len());
        self.blocks.lock().fill(items.clone(), used);
        padding.fill(0);
        (self.gather_keys)(items, rows, &mut input.limbs_mut()[limbs..]);
    }

    fn scatter(&mut self, items: Range<usize>, output: &mut HostBuffer, flags: &[u32]) {
        let octets = &mut output[..8 * self.limbs * items.len()];
        let flags = &flags[..items.len()];
        self.blocks.lock().take(self.in_call(items), octets, flags);
    }
}
