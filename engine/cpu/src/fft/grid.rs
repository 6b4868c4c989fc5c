//! The first and the last pass over blocks, in shares of columns.
//!
//! A row is cut into parts. A share is the same columns of every part of every row. So a share is filled with
//! digits, transformed down its columns and taken through the first pass without looking at other shares. The
//! last pass works in the same way. Between the two, every part is a block of its own.

use super::convolution::{LEAF, Place};
use super::point::Point;
use super::scheme::PrimeField;
use super::shape::BlockShape;
use crate::{team, threads};
use modmill_core::transform::Digits;

/// The number of parts of a row that is cut.
const PARTS: usize = 16;

/// The number of points from which a team shares a block. Shorter blocks lose more by moving between the
/// caches of two cores than the second core brings; measured.
const SHARED: usize = 1 << 10;

/// The number of points from which threads share a block although they may be asleep.
const SHARED_ASLEEP: usize = 1 << 12;

/// The most rows of a block.
const ROWS: usize = 5;

/// How blocks of a shape are cut.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    shape: BlockShape,
    /// The number of parts of a row.
    parts: usize,
    /// The number of columns of a share within a part.
    share: usize,
    /// The number of parts that are one task.
    together: usize,
    is_shared: bool,
}

/// A share of a block: its columns of each part, row after row.
pub(super) struct Share<'a> {
    first: usize,
    pieces: Vec<&'a mut [Point]>,
}

impl Grid {
    pub(super) fn new(shape: BlockShape) -> Self {
        let shared = if team::is_leading() { SHARED } else { SHARED_ASLEEP };
        Self::cut(shape, shape.grid.points() >= shared && threads::count() > 1)
    }

    /// The grid for one thread.
    pub(super) fn on_one_thread(shape: BlockShape) -> Self {
        Self::cut(shape, false)
    }

    fn cut(shape: BlockShape, is_shared: bool) -> Self {
        let (columns, threads) = (shape.grid.columns, threads::count());
        let least = if is_shared { PARTS } else { LEAF + 1 };
        let parts = if columns >= least { PARTS } else { 1 };
        let len = columns / parts;
        let (share, together) = if is_shared {
            let tasks = 2 * threads.next_power_of_two();
            ((len / threads.next_power_of_two()).max(4.min(len)), parts.div_ceil(tasks))
        } else {
            (len, parts)
        };
        Self { shape, parts, share, together, is_shared }
    }

    /// The number of fields that are transformed side by side: all of them if threads share them, otherwise
    /// one, whose blocks stay in a cache.
    pub(super) fn fields_at_once(self, fields: usize) -> usize {
        if self.is_shared { fields } else { 1 }
    }

    /// The number of points of a part.
    pub(super) fn part(self) -> usize {
        self.shape.grid.columns / self.parts
    }

    /// The number of points of the parts that are one task.
    pub(super) fn parts_of_task(self) -> usize {
        self.together * self.part()
    }

    /// The places of the parts of task `index`, where tasks are counted row after row.
    pub(super) fn places(self, index: usize) -> impl Iterator<Item = Place> {
        (index * self.together..).take(self.together).map(move |part| self.place(part))
    }

    /// The place of a part, where parts are counted row after row.
    pub(super) fn place(self, index: usize) -> Place {
        let (row, part) = (index / self.parts, index % self.parts);
        let node = self.parts * self.shape.node() + part;
        Place { row, first: part * self.part(), node }
    }

    /// Cuts a block into shares.
    pub(super) fn shares(self, block: &mut [Point]) -> Vec<Share<'_>> {
        let pieces = || Vec::with_capacity(self.shape.grid.rows * self.parts);
        let firsts = (0..self.part()).step_by(self.share);
        let mut shares: Vec<Share<'_>> = firsts.map(|first| Share { first, pieces: pieces() }).collect();
        for part in block.chunks_exact_mut(self.part()) {
            for (share, piece) in shares.iter_mut().zip(part.chunks_exact_mut(self.share)) {
                share.pieces.push(piece);
            }
        }
        shares
    }

    /// Runs `work` on every task. Threads share the tasks if the blocks are long enough.
    pub(super) fn each<T: Send>(self, tasks: Vec<T>, work: impl Fn(T) + Sync) {
        if self.is_shared {
            team::each(tasks.into_iter(), work);
        } else {
            tasks.into_iter().for_each(work);
        }
    }

    /// Fills a share with digits, transforms its columns and runs the first pass.
    pub(super) fn enter(self, field: &impl PrimeField, share: &mut Share<'_>, digits: &Digits<'_>) {
        for part in 0..self.parts {
            let first = part * self.part() + share.first;
            self.in_rows(share, part, |rows| field.fill(rows, first, digits, self.shape));
        }
        self.in_parts(share, |parts| field.forward16(parts, self.shape.node()));
    }

    /// Runs the last pass on a share and inverts the transforms of its columns.
    pub(super) fn leave(self, field: &impl PrimeField, share: &mut Share<'_>) {
        self.in_parts(share, |parts| field.inverse16(parts, self.shape.node()));
        if self.shape.grid.rows > 1 {
            for part in 0..self.parts {
                self.in_rows(share, part, |rows| field.inverse_columns(rows, self.shape));
            }
        }
    }

    /// Runs `work` on the columns of one part, in all rows.
    fn in_rows(self, share: &mut Share<'_>, part: usize, work: impl Fn(&mut [&mut [Point]])) {
        let mut rows: [&mut [Point]; ROWS] = Default::default();
        let pieces = share.pieces.iter_mut().skip(part).step_by(self.parts);
        rows.iter_mut().zip(pieces).for_each(|(row, piece)| *row = piece);
        work(&mut rows[..self.shape.grid.rows]);
    }

    /// Runs `work` on the parts of each row, if rows are cut.
    fn in_parts(self, share: &mut Share<'_>, work: impl Fn(&mut [&mut [Point]; PARTS])) {
        if self.parts == PARTS {
            share.pieces.as_chunks_mut().0.iter_mut().for_each(work);
        }
    }
}
