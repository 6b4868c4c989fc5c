//! Pinned memory in a few pieces that are used in turn: while a device copies some of them, the host fills or
//! empties another.

use crate::device::{Buffer, Contents, Device, Event, Stream};
use crate::error::Result;
use crate::staging::Staging;
use crate::workers::Workers;
use std::ops::Range;

/// Pieces that are used in turn.
const PIECES: usize = 3;

/// Words that a thread copies at a time.
pub(super) const SHARE: usize = 1 << 15;

/// Pinned memory for copies from and to a device.
pub(super) struct Turns<'a> {
    workers: &'a Workers,
    /// Words of a piece.
    words: usize,
    pieces: [Piece; PIECES],
    /// The piece that is used next.
    next: usize,
}

/// A piece, and the event after which its last copy has ended.
struct Piece {
    staging: Staging,
    copied: Event,
}

impl Piece {
    fn new(device: &Device, words: usize) -> Result<Self> {
        let staging = Staging::new(device, words.div_ceil(2), Contents::Secret)?;
        Ok(Self { staging, copied: device.event()? })
    }
}

impl<'a> Turns<'a> {
    /// Pieces of `words` words.
    pub(super) fn new(device: &Device, workers: &'a Workers, words: usize) -> Result<Self> {
        let piece = || Piece::new(device, words);
        Ok(Self { workers, words, pieces: [piece()?, piece()?, piece()?], next: 0 })
    }

    /// Words of a piece.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Copies `words` words that `fill` writes to a buffer, from word `at` on.
    pub(super) fn copy_in(
        &mut self,
        stream: &Stream,
        to: &Buffer,
        at: usize,
        words: usize,
        fill: impl FnOnce(&mut [u32]) + Send,
    ) -> Result<()> {
        let piece = &mut self.pieces[self.next];
        self.next = (self.next + 1) % PIECES;
        piece.copied.synchronize()?;
        piece.staging.written(0..words.div_ceil(2));
        let filled = &mut piece.staging.buffer.words_mut()[..words];
        self.workers.move_numbers(|| fill(filled));
        stream.copy_in(&piece.staging.buffer, 0..4 * words, to, 4 * at)?;
        piece.copied.record(stream)
    }

    /// Copies ranges of words of a buffer, of which none is longer than a piece. `begin` is called before the
    /// copy of a range is handed to the stream, and `take` with the words when they are there; both get the
    /// place of the range in the list. All pieces are cleared at the end.
    pub(super) fn copy_out(
        &mut self,
        stream: &Stream,
        from: &Buffer,
        ranges: &[Range<usize>],
        mut begin: impl FnMut(usize) -> Result<()>,
        mut take: impl FnMut(usize, &[u32]) + Send,
    ) -> Result<()> {
        for turn in 0..ranges.len() + PIECES {
            let piece = &mut self.pieces[turn % PIECES];
            let done = turn.checked_sub(PIECES).filter(|&done| done < ranges.len());
            let is_last = turn >= ranges.len();
            if done.is_some() || is_last && piece.staging.is_used() {
                piece.copied.synchronize()?;
                self.workers.move_numbers(|| {
                    if let Some(done) = done {
                        take(done, &piece.staging.buffer.words()[..ranges[done].len()]);
                    }
                    if is_last {
                        // The device copies the next piece meanwhile.
                        piece.staging.clear();
                    }
                });
            }
            if let Some(range) = ranges.get(turn) {
                begin(turn)?;
                // Copies to the device from this piece end before those to the host.
                piece.copied.synchronize()?;
                piece.staging.written(0..range.len().div_ceil(2));
                let bytes = 4 * range.start..4 * range.end;
                stream.copy_out(from, bytes, &mut piece.staging.buffer, 0)?;
                piece.copied.record(stream)?;
            }
        }
        Ok(())
    }
}
