//! Memory of the emulated device, with guards around every area.
#![allow(unsafe_code)] // allocates, and looks at what kernels write

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::slice;

/// The alignment of areas, which is a GPU's, and the length of the guard on either side.
const GUARD: usize = 256;
/// The byte that fills guards and new memory. New memory of a GPU has undefined contents.
const GARBAGE: u8 = 0xA5;

/// Areas by their addresses, with their lengths.
#[derive(Default)]
pub(super) struct Memory {
    areas: HashMap<u64, usize>,
}

impl Memory {
    /// Bytes of all areas.
    pub(super) fn bytes(&self) -> usize {
        self.areas.values().sum()
    }

    /// The address of a new area; `None` if the host has too little memory.
    pub(super) fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let layout = layout(bytes)?;
        // SAFETY: guards make the size more than zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: within what was just allocated.
        unsafe { start.write_bytes(GARBAGE, layout.size()) };
        let address = start as u64 + GUARD as u64;
        self.areas.insert(address, bytes);
        Some(address)
    }

    /// Gives an area back.
    pub(super) fn free(&mut self, address: u64) {
        let Some(bytes) = self.areas.remove(&address) else { return };
        let Some(layout) = layout(bytes) else { return };
        // SAFETY: `allocate` allocated it with the same layout, and it was just forgotten.
        unsafe { dealloc((address as *mut u8).wrapping_sub(GUARD), layout) };
    }

    /// Whether all guards are as they were.
    pub(super) fn is_intact(&self) -> bool {
        self.areas.iter().all(|(&address, &bytes)| {
            let area = address as *const u8;
            let guards = [area.wrapping_sub(GUARD), area.wrapping_add(bytes)];
            // SAFETY: guards lie within the allocation, and only this looks at them.
            let intact =
                |guard| unsafe { slice::from_raw_parts(guard, GUARD) }.iter().all(|&byte| byte == GARBAGE);
            guards.into_iter().all(intact)
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let addresses: Vec<u64> = self.areas.keys().copied().collect();
        addresses.into_iter().for_each(|address| self.free(address));
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(2 * GUARD)?, GUARD).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_notice_writes_on_both_sides() {
        for (offset, intact) in [(-1, false), (0, true), (9, true), (10, false)] {
            let mut memory = Memory::default();
            let address = memory.allocate(10).unwrap();
            assert_eq!(address % GUARD as u64, 0);
            // SAFETY: within the area or its guards.
            unsafe { (address as *mut u8).offset(offset).write(1) };
            assert_eq!(memory.is_intact(), intact, "{offset}");
        }
    }

    #[test]
    fn memory_is_counted() {
        let mut memory = Memory::default();
        let (a, b) = (memory.allocate(10).unwrap(), memory.allocate(0).unwrap());
        assert_eq!(memory.bytes(), 10);
        memory.free(a);
        memory.free(a);
        memory.free(b);
        assert_eq!(memory.bytes(), 0);
        assert_eq!(memory.allocate(usize::MAX - 1), None);
    }
}
