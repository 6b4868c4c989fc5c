//! A matrix on its way to a device: pieces of rows in pinned memory, of which the next is filled while one is
//! copied and another is worked with.

use super::pinned::{PinnedRows, fill};
use super::shape::MatrixShape;
use crate::device::{Buffer, Contents, Device, Event, HostBuffer, Stream};
use crate::error::Result;
use crate::workers::Workers;
use modmill_core::MatrixSource;
use std::ops::Range;

/// Two pieces of a matrix on the device, and in pinned memory.
pub(super) struct Pieces<'a> {
    device: &'a Device,
    rows: usize,
    row_words: usize,
    copying: Stream,
    plain: [Buffer; 2],
    copied: Event,
    free: [Event; 2],
}

impl<'a> Pieces<'a> {
    /// Pieces of at most `rows` rows.
    pub(super) fn new(device: &'a Device, shape: &MatrixShape, rows: usize) -> Result<Self> {
        let row_words = shape.row_words();
        let buffer = || device.buffer(4 * rows * row_words, Contents::Public);
        let (plain, free) = ([buffer()?, buffer()?], [device.event()?, device.event()?]);
        Ok(Self { device, rows, row_words, copying: device.stream()?, plain, copied: device.event()?, free })
    }

    /// Copies rows in pieces. `work` gets each piece on the device with the event after which it is there,
    /// and returns the stream on which it works with the piece.
    pub(super) fn each<'s>(
        &self,
        workers: &Workers,
        source: &dyn MatrixSource,
        rows: Range<usize>,
        mut work: impl FnMut(&Buffer, Range<usize>, &Event) -> Result<&'s Stream>,
    ) -> Result<()> {
        let pinned = source.as_any().and_then(|rows| rows.downcast_ref::<PinnedRows>());
        let bytes = if pinned.is_some() { 8 } else { 4 * self.rows * self.row_words };
        let host = || self.device.host_buffer(bytes, Contents::Public);
        let mut staging: [HostBuffer; 2] = [host()?, host()?];
        for (index, start) in rows.clone().step_by(self.rows).enumerate() {
            let piece = start..(start + self.rows).min(rows.end);
            let (slot, words) = (index % 2, piece.len() * self.row_words);
            let (plain, free) = (&self.plain[slot], &self.free[slot]);
            if pinned.is_none() {
                // Waits for the copy of the piece before the last, which was in the same memory.
                let filled = &mut staging[slot].words_mut()[..words];
                workers.move_numbers(|| fill(source, piece.clone(), filled))?;
            }
            if index >= 2 {
                // The device has to be done with the piece before the last. The host waits too: else all
                // copies of a matrix in pinned memory would be under way at once, and progress would say
                // nothing.
                free.synchronize()?;
            }
            match pinned {
                Some(rows) => {
                    let start = 4 * piece.start * self.row_words;
                    self.copying.copy_in(rows.buffer(), start..start + 4 * words, plain, 0)?;
                }
                None => self.copying.copy_in(&staging[slot], 0..4 * words, plain, 0)?,
            }
            self.copied.record(&self.copying)?;
            free.record(work(plain, piece, &self.copied)?)?;
        }
        Ok(())
    }
}
