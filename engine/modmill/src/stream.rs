//! Columns that are computed in parts: longer than the memory of a device, or long enough that some parts are
//! read, copied and written while others are computed.

use crate::engine::Engine;
use crate::place::{Device, Holds};
use modmill_core::sync::Mutex;
use modmill_core::{Batch, BatchView, Error, Request};
use modmill_cpu::threads::Share;
use rayon::prelude::*;
use std::ops::Range;
use std::panic::resume_unwind;

/// Bytes of intermediate results that are on a device at the same time, at most.
const MEMORY: usize = 1 << 32;

/// Numbers of an item that a formula holds on a device at the same time, as long as those of its request.
const NUMBERS: usize = 8;

/// The fewest items that lanes share: a part is then several waves of a large GPU.
const LEAST_OF_LANES: usize = 1 << 18;

/// Items that a thread writes at a time.
const WRITTEN: usize = 2048;

/// A formula over columns, which is written once for every place ([`Holds`]) and computes any range of items.
pub trait Formula: Sync {
    /// The error of an item that cannot be computed. Those of the engine are among them.
    type Error: OfEngine;

    /// Computes some items, with intermediate results at a place. The formula reads its columns itself.
    /// `None` if there is nothing to write.
    fn compute<P: Holds>(&self, at: &Engine<P>, items: Range<usize>) -> Result<Option<Batch>, Self::Error>;
}

/// An error that may be one of the engine.
pub trait OfEngine: From<Error> + Send {
    /// The error of the engine, if it is one.
    fn of_engine(&self) -> Option<&Error>;
}

impl OfEngine for Error {
    fn of_engine(&self) -> Option<&Error> {
        Some(self)
    }
}

/// The memory that the answers of a column go to: `width` elements for each item.
pub struct Rows<'a, T> {
    /// The elements of all items, one item after the other.
    pub elements: &'a mut [T],
    /// Elements of an item, at least one.
    pub width: usize,
}

impl<'a> From<&'a mut Batch> for Rows<'a, u64> {
    fn from(batch: &'a mut Batch) -> Self {
        let width = batch.stride().max(1);
        Self { elements: batch.as_limbs_mut(), width }
    }
}

impl<T> Rows<'_, T> {
    fn len(&self) -> usize {
        self.elements.len() / self.width.max(1)
    }
}

/// A way to compute long columns ([`Engine::stream`]).
#[derive(Clone, Copy)]
pub struct Stream<'e, 'r> {
    engine: &'e Engine,
    request: &'r Request,
    lanes: usize,
    parts: usize,
    /// The fewest items that lanes share.
    least: usize,
}

impl Engine {
    /// Computes a formula on long columns.
    ///
    /// `request` is the operation of the formula that takes most of the time, for all items. If the engine
    /// computes it on GPUs, the formula has its intermediate results there. Long columns are cut into parts
    /// that fit the memory of a GPU, several GPUs share the parts, and some parts are read and written while
    /// others are computed. A part that a GPU cannot compute is computed by the engine's single operations,
    /// and [`Engine::faults`] says why.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Error, Formula, Holds, Modulus, Op, Request};
    /// use std::ops::Range;
    ///
    /// /// `a^3 + a` modulo N.
    /// struct Cubic<'a>(&'a Batch, &'a Modulus);
    ///
    /// impl Formula for Cubic<'_> {
    ///     type Error = Error;
    ///
    ///     fn compute<P: Holds>(&self, at: &Engine<P>, items: Range<usize>) -> Result<Option<Batch>, Error> {
    ///         let Self(column, modulus) = *self;
    ///         let a = column.slice(items);
    ///         let squares = at.square_mod(a, modulus)?;
    ///         let cubes = at.mul_mod(P::operand(&squares), a, modulus)?;
    ///         let sums = at.add(P::operand(&cubes), a)?;
    ///         P::to_host(at.reduce(P::operand(&sums), modulus)?, modulus.bits()).map(Some)
    ///     }
    /// }
    ///
    /// let (engine, modulus) = (Engine::new()?, Modulus::from_hex("fffffffb")?);
    /// let column = Batch::from_hex(["2", "3"])?;
    /// let mut answers = Batch::zeros(32, 2);
    /// let request = Request::new(Op::MulMod, 32, 2).one_modulus();
    /// engine.stream(&request).into_batch(&Cubic(&column, &modulus), &mut answers)?;
    /// assert_eq!(answers.as_limbs(), [10, 30]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn stream<'r>(&self, request: &'r Request) -> Stream<'_, 'r> {
        Stream { engine: self, request, lanes: 2, parts: 4, least: LEAST_OF_LANES }
    }

    /// An engine whose answers stay on the device with this index.
    fn on_device_at(&self, index: usize) -> Engine<Device<'_>> {
        Engine { place: Device { home: self, index: Some(index) } }
    }
}

impl Stream<'_, '_> {
    /// Sets how many parts each GPU has under way at the same time (2), and how many parts a column that
    /// needs no more has for each GPU (4). Formulas that copy much want more of both.
    #[must_use]
    pub fn lanes(self, lanes: usize, parts: usize) -> Self {
        Self { lanes: lanes.max(1), parts: parts.max(1), ..self }
    }

    /// Computes one part after the other, on the caller's thread.
    #[must_use]
    pub fn in_turn(self) -> Self {
        Self { lanes: 0, ..self }
    }

    /// Writes the answers of a formula to a batch that has their width and number.
    pub fn into_batch<F: Formula>(&self, formula: &F, batch: &mut Batch) -> Result<(), F::Error> {
        let (what, found) = ("the batch for answers", batch.bits());
        self.into_rows(formula, batch.into(), |_, numbers, rows| match numbers.as_limbs() {
            limbs if limbs.len() == rows.len() => {
                rows.copy_from_slice(limbs);
                Ok(())
            }
            _ => Err(Error::WidthMismatch { what, expected: numbers.bits(), found }.into()),
        })
    }

    /// Fills `rows` with what `write` makes of the answers of a formula. `write` takes the index of an item,
    /// some answers from there on, and their rows; the threads of the engine call it for many pieces. The
    /// error is that of the first part that fails, and of its first piece.
    pub fn into_rows<F: Formula, T: Send>(
        &self,
        formula: &F,
        rows: Rows<'_, T>,
        write: impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), F::Error> + Sync,
    ) -> Result<(), F::Error> {
        let (count, width) = (rows.len(), rows.width.max(1));
        let gpus = self.gpus();
        let size = self.part_size(gpus, count);
        let parts = Mutex::new(rows.elements.chunks_mut(size * width).enumerate());
        // A lane takes one part after the other, until there is none or one fails.
        let lane = |gpu: Option<usize>| -> Result<(), (usize, F::Error)> {
            let next = || parts.lock().next();
            while let Some((index, elements)) = next() {
                let first = index * size;
                let rows = Rows { elements, width };
                self.part(formula, gpu, first, rows, &write).map_err(|error| (index, error))?;
            }
            Ok(())
        };
        let lanes = match gpus {
            0 => 1,
            gpus => gpus * if count < self.least { self.lanes.min(1) } else { self.lanes },
        };
        if lanes <= 1 {
            return lane((gpus > 0).then_some(0)).map_err(|(_, error)| error);
        }
        let lane = &lane;
        let failed = std::thread::scope(|scope| {
            let lanes: Vec<_> =
                (0..lanes).map(|index| scope.spawn(move || lane(Some(index % gpus)))).collect();
            let ended =
                lanes.into_iter().map(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic)));
            ended.filter_map(Result::err).min_by_key(|(index, _)| *index)
        });
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The number of GPUs that compute the column; none if the host does.
    fn gpus(&self) -> usize {
        self.engine.backends().gpus_for(self.request).map_or(0, |(cuda, _)| cuda.devices().count())
    }

    /// Items of a part: what fits the memory, and where lanes share the column, enough parts for all.
    fn part_size(&self, gpus: usize, count: usize) -> usize {
        let item = NUMBERS * self.request.bits.div_ceil(8).max(1);
        let free = self.engine.cuda().into_iter().flat_map(|cuda| cuda.devices());
        let free = free.filter_map(|device| device.free_memory().ok()).min();
        let memory = free.filter(|_| gpus > 0).map_or(MEMORY, |free| MEMORY.min(free / 2));
        let parts = match count {
            _ if gpus == 0 || self.lanes == 0 => 1,
            count if count < self.least => gpus,
            _ => gpus * self.parts,
        };
        count.div_ceil(parts).min(memory / (item * self.lanes.max(1))).max(1)
    }

    /// Computes a part on a GPU, or by single operations of the engine, and writes its rows. A part for which
    /// the memory of the GPU does not suffice is halved.
    fn part<F: Formula, T: Send>(
        &self,
        formula: &F,
        gpu: Option<usize>,
        first: usize,
        rows: Rows<'_, T>,
        write: &(impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), F::Error> + Sync),
    ) -> Result<(), F::Error> {
        let (engine, count) = (self.engine, rows.len());
        if engine.is_stopped() {
            return Err(Error::Interrupted.into());
        }
        let items = first..first + count;
        let on_gpu = gpu.map(|gpu| formula.compute(&engine.on_device_at(gpu), items.clone()));
        let found = match on_gpu {
            Some(Err(error)) if is_full(&error) && count > 1 => {
                let Rows { elements, width } = rows;
                let (front, back) = elements.split_at_mut(count / 2 * width);
                self.part(formula, gpu, first, Rows { elements: front, width }, write)?;
                return self.part(formula, gpu, first + count / 2, Rows { elements: back, width }, write);
            }
            Some(Err(error)) => match error.of_engine() {
                Some(reason @ (Error::Device(_) | Error::OutOfMemory { .. })) => {
                    if !engine.backends().may_finish(|| format!("a formula of {count} items"), reason) {
                        return Err(error);
                    }
                    formula.compute(engine, items)?
                }
                _ => return Err(error),
            },
            Some(Ok(found)) => found,
            None => formula.compute(engine, items)?,
        };
        match found {
            Some(found) if found.len() != count => {
                let what = "the answers of a formula";
                Err(Error::LengthMismatch { what, expected: count, found: found.len() }.into())
            }
            Some(found) => write_rows(engine, (first, &found), rows, write),
            None => Ok(()),
        }
    }
}

/// Whether the memory of a device did not suffice.
fn is_full(error: &impl OfEngine) -> bool {
    matches!(error.of_engine(), Some(Error::OutOfMemory { .. }))
}

/// Fills `rows` with what `write` makes of `numbers`, the first of which has the index `first`. The threads
/// of the engine share it: pages that are written for the first time take longer than a GPU's answer. The
/// error is that of the first piece that fails.
fn write_rows<T: Send, E: Send>(
    engine: &Engine,
    (first, numbers): (usize, &Batch),
    Rows { elements, width }: Rows<'_, T>,
    write: &(impl Fn(usize, BatchView<'_>, &mut [T]) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let write = |(piece, elements): (usize, &mut [T])| {
        let items = piece * WRITTEN..piece * WRITTEN + elements.len() / width;
        write(first + items.start, numbers.slice(items), elements).err()
    };
    let pieces = elements.par_chunks_mut(WRITTEN * width).enumerate().map(write);
    let failed: Vec<Option<E>> = engine.cpu().install_if(numbers.len() > WRITTEN, || pieces.list());
    failed.into_iter().flatten().next().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;
