//! Columns that a GPU computes in parts, some at a time: while it computes one part, others are converted,
//! checked and copied.

use crate::Error;
use modmill::{Batch, BatchView, Engine};
use modmill_core::sync::Mutex;
use rayon::prelude::*;
use std::ops::Range;
use std::panic::resume_unwind;

/// Items whose intermediate results are on a GPU at the same time: 4 GiB for n of 2048 bits.
pub(crate) const PART: usize = 1 << 20;

/// The fewest items that are computed in parts by lanes: a part is several waves of a large GPU.
pub(crate) const LEAST_OF_LANES: usize = 1 << 18;

/// How a column is cut.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// Parts that are computed at the same time.
    pub(crate) lanes: usize,
    /// Parts of a column that needs no more memory than [`PART`] items.
    pub(crate) parts: usize,
}

/// Items that a thread writes at a time.
const WRITTEN: usize = 2048;

/// The memory that the answers of a column go to: `width` elements for each item.
pub(crate) struct Answers<'a, T> {
    pub(crate) rows: &'a mut [T],
    pub(crate) width: usize,
}

impl<'a> Answers<'a, u64> {
    /// The rows of a batch.
    pub(crate) fn of_batch(batch: &'a mut Batch) -> Self {
        let width = batch.stride();
        Self { rows: batch.as_limbs_mut(), width }
    }
}

/// Copies numbers to rows of the same width.
pub(crate) fn copy(_: usize, numbers: BatchView<'_>, rows: &mut [u64]) -> Result<(), Error> {
    rows.copy_from_slice(numbers.as_limbs());
    Ok(())
}

/// Fills `answers` with what `write` makes of `numbers`: it takes the index of an item, some numbers from
/// there on, and their rows. The first number has the index `first`. The threads of the engine share it:
/// pages that are written for the first time take longer than a GPU's answer. The error is that of the first
/// piece that fails.
pub(crate) fn write_rows<T: Send>(
    engine: &Engine,
    (first, numbers): (usize, &Batch),
    Answers { rows, width }: Answers<'_, T>,
    write: impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let write = |(piece, rows): (usize, &mut [T])| {
        let items = piece * WRITTEN..piece * WRITTEN + rows.len() / width;
        write(first + items.start, numbers.slice(items), rows).err()
    };
    if numbers.len() <= WRITTEN {
        return write((0, rows)).map_or(Ok(()), Err);
    }
    let pieces = rows.par_chunks_mut(WRITTEN * width).enumerate();
    let failed = engine.install(|| pieces.map(write).find_first(Option::is_some));
    failed.flatten().map_or(Ok(()), Err)
}

/// Fills `answers` with what `part` computes of ranges of items and `write` makes of it ([`write_rows`]).
/// `part` may have nothing to write. The error is that of the first part that fails.
pub(crate) fn in_lanes<T: Send>(
    engine: &Engine,
    Lanes { lanes, parts }: Lanes,
    Answers { rows, width }: Answers<'_, T>,
    part: impl Fn(Range<usize>) -> Result<Option<Batch>, Error> + Sync,
    write: impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let size = (rows.len() / width).div_ceil(parts).clamp(1, PART / lanes);
    let parts = Mutex::new(rows.chunks_mut(size * width).enumerate());
    let compute = |first: usize, rows: &mut [T]| match part(first..first + rows.len() / width)? {
        Some(found) => write_rows(engine, (first, &found), Answers { rows, width }, &write),
        None => Ok(()),
    };
    // A lane takes one part after the other, until there is none or one fails.
    let lane = || -> Result<(), (usize, Error)> {
        let next = || parts.lock().next();
        while let Some((index, rows)) = next() {
            compute(index * size, rows).map_err(|error| (index, error))?;
        }
        Ok(())
    };
    let failed = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let ended = lanes.into_iter().map(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.filter_map(Result::err).min_by_key(|(index, _)| *index)
    });
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice each number, in rows of two. The items of `wrong` fail.
    fn doubled(wrong: &[usize], first: usize, numbers: BatchView<'_>, rows: &mut [u64]) -> Result<(), Error> {
        for (item, (number, row)) in numbers.iter().zip(rows.chunks_exact_mut(2)).enumerate() {
            if wrong.contains(&(first + item)) {
                return Err(Error::NotFinite { index: first + item });
            }
            row.fill(2 * number[0]);
        }
        Ok(())
    }

    #[test]
    fn many_rows_are_written_in_order_and_the_first_error_is_told() {
        let engine = Engine::builder().threads(3).build().unwrap();
        let count = 3 * WRITTEN + 5;
        let numbers = Batch::from_values((0..count as u64).map(|value| [value]));
        let expected: Vec<u64> = (0..count as u64).flat_map(|value| [2 * value; 2]).collect();
        let whole = |wrong: &[usize]| {
            let mut rows = vec![0; 2 * count];
            let answers = Answers { rows: &mut rows[..], width: 2 };
            write_rows(&engine, (0, &numbers), answers, |first, numbers, rows| {
                doubled(wrong, first, numbers, rows)
            })
            .map(|()| rows)
        };
        let in_parts = |wrong: &[usize]| {
            let mut rows = vec![0; 2 * count];
            let answers = Answers { rows: &mut rows[..], width: 2 };
            let part = |items: Range<usize>| Ok(Some(numbers.slice(items).to_batch()));
            in_lanes(&engine, Lanes { lanes: 2, parts: 7 }, answers, part, |first, numbers, rows| {
                doubled(wrong, first, numbers, rows)
            })
            .map(|()| rows)
        };
        assert_eq!(whole(&[]).unwrap(), expected);
        assert_eq!(in_parts(&[]).unwrap(), expected);
        for wrong in [vec![count - 1, WRITTEN + 1, WRITTEN], vec![count - 1], vec![0, 1]] {
            let first = wrong.iter().copied().min().unwrap();
            for found in [whole(&wrong), in_parts(&wrong)] {
                assert!(matches!(found, Err(Error::NotFinite { index }) if index == first), "{found:?}");
            }
        }
    }
}
