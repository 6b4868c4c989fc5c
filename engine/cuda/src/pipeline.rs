//! The device pipeline: a batch goes through one device in chunks. While a chunk is computed, the next one is
//! gathered and copied in, and the one before is copied out and scattered.
//!
//! Kernels run one after the other on a stream of their own, so that one set of work buffers serves all
//! chunks and the times of kernels do not overlap. Copies run at the same time, on one stream per slot.
//! Numbers in pinned memory of the caller's are copied without staging.
#![allow(unsafe_code)] // copies from and to the caller's memory

use crate::device::{Buffer, Contents, Device, Event, HostBuffer, Stream};
use crate::error::{Error, Result};
use crate::staging::Staging;
use crate::workers::Workers;
use modmill_core::Watch;
use std::ops::Range;

/// Chunks on a device at a time: one computed, one waiting for it, one copied out.
pub(crate) const IN_FLIGHT: usize = 3;

/// The device's side of an operation: memory for a chunk, and the kernels that are launched for it.
pub(crate) trait Stages {
    /// Memory that a chunk of `rows` rows takes on its way in and out.
    fn footprint(&self, rows: usize) -> Footprint;

    /// Launches the kernels of a chunk whose time does not count as the operation's: constants of moduli.
    fn prepare(&self, _compute: &Stream, _chunk: &Chunk<'_>) -> Result<()> {
        Ok(())
    }

    /// Launches the kernels of a chunk.
    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()>;
}

/// The host's side of an operation: where the numbers come from, and where the answers go.
pub(crate) trait Exchange {
    /// Writes the operands of `items` to `input`, for `rows` rows; rows beyond the last item repeat it.
    fn gather(&mut self, items: Range<usize>, rows: usize, input: &mut HostBuffer);

    /// Takes the answers of `items` from `output`, with the flags that the kernels set.
    fn scatter(&mut self, items: Range<usize>, output: &mut HostBuffer, flags: &[u32]);

    /// Takes the answers of one chunk and writes the operands of another; side by side, if it can.
    fn scatter_and_gather(&mut self, done: Outgoing<'_>, next: Incoming<'_>) {
        self.scatter(done.items, done.output, done.flags);
        self.gather(next.items, next.rows, next.input);
    }

    /// Operands of `items` in pinned memory, each with its place among the limbs of a chunk's inputs, in
    /// rising order. The device copies them by itself, and [`Exchange::gather`] leaves their places alone.
    fn pinned_inputs(&self, _items: Range<usize>) -> Vec<(usize, &[u64])> {
        Vec::new()
    }

    /// Pinned memory for the answers of `items`, if the device can write them there by itself.
    /// [`Exchange::scatter`] then takes no answers.
    fn pinned_answers(&mut self, _items: Range<usize>) -> Option<&mut [u64]> {
        None
    }
}

/// The answers of a chunk.
pub(crate) struct Outgoing<'a> {
    pub(crate) items: Range<usize>,
    pub(crate) output: &'a mut HostBuffer,
    pub(crate) flags: &'a [u32],
}

/// A chunk whose operands are wanted.
pub(crate) struct Incoming<'a> {
    pub(crate) items: Range<usize>,
    pub(crate) rows: usize,
    pub(crate) input: &'a mut HostBuffer,
}

/// Memory that a chunk takes on its way in and out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    /// Limbs of the operands.
    pub(crate) input_limbs: usize,
    /// Limbs of the answers.
    pub(crate) output_limbs: usize,
    /// Words that kernels set to tell the host about items; 0 if they tell nothing.
    pub(crate) flag_words: usize,
}

/// A chunk on a device.
pub(crate) struct Chunk<'a> {
    /// The slot that the chunk is in.
    pub(crate) slot: usize,
    /// The first item of the chunk.
    pub(crate) first: usize,
    /// Rows of the chunk: its items, and the rows that fill it up.
    pub(crate) rows: usize,
    /// The operands.
    pub(crate) inputs: &'a Buffer,
    /// Memory for the answers.
    pub(crate) outputs: &'a Buffer,
    /// Memory for the flags.
    pub(crate) flags: &'a Buffer,
}

/// A place in a buffer, from byte `start` on.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) start: usize,
}

impl Place<'_> {
    pub(crate) fn address(&self) -> u64 {
        self.buffer.address() + self.start as u64
    }
}

/// A device, the host's threads that serve it, and what its memory will hold.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'a> {
    pub(crate) device: &'a Device,
    pub(crate) workers: &'a Workers,
    pub(crate) contents: Contents,
    /// Told of the items that are done; it may stop the batch.
    pub(crate) watch: Option<&'a Watch>,
}

/// How a batch is cut into chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkSizes {
    /// Items of a chunk.
    pub(crate) size: usize,
    /// Items of the first and the last chunk: the device waits for the first, and the host for the last.
    pub(crate) edge: usize,
    /// The number of rows of a chunk is a multiple of this, and no chunk is smaller.
    pub(crate) multiple: usize,
}

/// Sends `count` items through a device; returns the seconds that its kernels took.
///
/// `make` prepares the device for chunks of at most the number of rows that it is given. Where memory runs
/// out, chunks are halved, and the items that have no answer yet begin again.
pub(crate) fn run<S: Stages>(
    lane: Lane<'_>,
    count: usize,
    mut sizes: ChunkSizes,
    make: impl Fn(usize) -> Result<S>,
    exchange: &mut (dyn Exchange + Send),
) -> Result<f64> {
    let mut progress = Progress { done: 0, seconds: 0.0 };
    loop {
        let rest = progress.done..count;
        match pass(lane, rest, sizes, &make, exchange, &mut progress) {
            Err(Error::OutOfMemory { .. }) if sizes.size > sizes.multiple => {
                sizes.size = sizes.size.div_ceil(2).next_multiple_of(sizes.multiple);
            }
            result => return result.map(|()| progress.seconds),
        }
    }
}

/// How far a batch has come.
struct Progress {
    /// Items from the first one on that have answers.
    done: usize,
    /// Seconds in kernels.
    seconds: f64,
}

/// Sends the items of `range` through a device in chunks of one size.
fn pass<S: Stages>(
    lane: Lane<'_>,
    range: Range<usize>,
    sizes: ChunkSizes,
    make: impl Fn(usize) -> Result<S>,
    exchange: &mut (dyn Exchange + Send),
    progress: &mut Progress,
) -> Result<()> {
    let chunks = chunks(range, sizes.size, sizes.edge.min(sizes.size));
    let rows = |items: &Range<usize>| items.len().next_multiple_of(sizes.multiple);
    let most = chunks.iter().map(rows).max().unwrap_or(0);
    let stages = make(most)?;
    let compute = lane.device.stream()?;
    let footprint = stages.footprint(most);
    let slot = |_| Slot::new(lane.device, footprint, lane.contents);
    let mut slots: Vec<Slot> = (0..IN_FLIGHT.min(chunks.len())).map(slot).collect::<Result<_>>()?;
    // Chunk i starts when chunk i - IN_FLIGHT has left its slot.
    for turn in 0..chunks.len() + IN_FLIGHT {
        if turn == chunks.len() {
            // Nothing more is gathered: the device computes while the inputs are cleared.
            slots.iter_mut().try_for_each(|slot| slot.clear_input(lane.workers))?;
        }
        if lane.watch.is_some_and(Watch::is_stopped) {
            // Kernels under way read memory that is given back here.
            compute.synchronize()?;
            return Err(Error::Interrupted);
        }
        let place = turn % IN_FLIGHT;
        let done = turn.checked_sub(IN_FLIGHT).filter(|&done| done < chunks.len());
        if let Some(done) = done {
            progress.seconds += slots[place].finish()?;
            progress.done = chunks[done].end;
            if let Some(watch) = lane.watch {
                watch.add(chunks[done].len());
            }
        }
        let done = done.map(|done| chunks[done].clone());
        let next = chunks.get(turn).cloned();
        if done.is_none() && next.is_none() {
            continue;
        }
        let slot = &mut slots[place];
        if let Some(items) = &next {
            let input_limbs = stages.footprint(rows(items)).input_limbs;
            let staged = staged(&exchange.pinned_inputs(items.clone()), input_limbs);
            staged.into_iter().for_each(|limbs| slot.input.written(limbs));
        }
        let incoming = next.clone().map(|items| (items.clone(), rows(&items)));
        match slot.input.is_used() || slot.output.is_used() {
            true => lane.workers.move_numbers(|| slot.exchange(done, incoming, exchange)),
            // Nothing is staged, and so no thread is woken: the caller only learns of flags.
            false => slot.exchange(done, None, exchange),
        }
        match next {
            // SAFETY: the slots wait for their copies before they are dropped, and the caller of this
            // function lends the memory of operands and answers for longer.
            Some(items) => unsafe {
                slot.start(place, items.clone(), rows(&items), &stages, &compute, exchange)?
            },
            None if slot.output.is_used() => lane.workers.move_numbers(|| slot.output.clear()),
            None => {}
        }
    }
    Ok(())
}

/// Memory, streams and events of one chunk on its way.
struct Slot {
    copies: Stream,
    input: Staging,
    output: Staging,
    flag_words: HostBuffer,
    inputs: Buffer,
    outputs: Buffer,
    flags: Buffer,
    copied: Event,
    began: Event,
    ended: Event,
    /// Whether something is copied out behind the kernels.
    has_output: bool,
}

impl Slot {
    fn new(device: &Device, footprint: Footprint, contents: Contents) -> Result<Self> {
        let Footprint { input_limbs, output_limbs, flag_words } = footprint;
        let flag_bytes = (4 * flag_words).next_multiple_of(8).max(8);
        Ok(Self {
            copies: device.stream()?,
            input: Staging::new(device, input_limbs, contents)?,
            output: Staging::new(device, output_limbs, contents)?,
            flag_words: device.host_buffer(flag_bytes, Contents::Public)?,
            inputs: device.buffer(8 * input_limbs.max(1), contents)?,
            outputs: device.buffer(8 * output_limbs.max(1), contents)?,
            flags: device.buffer(flag_bytes, Contents::Public)?,
            copied: device.event()?,
            began: device.event()?,
            ended: device.event()?,
            has_output: false,
        })
    }

    /// Hands over the answers of the chunk in this slot, and takes the operands of the next one.
    fn exchange(
        &mut self,
        done: Option<Range<usize>>,
        next: Option<(Range<usize>, usize)>,
        exchange: &mut (dyn Exchange + Send),
    ) {
        let (output, flags) = (&mut self.output.buffer, self.flag_words.words());
        let done = done.map(|items| Outgoing { items, output, flags });
        let next = next.map(|(items, rows)| Incoming { items, rows, input: &mut self.input.buffer });
        match (done, next) {
            (Some(done), Some(next)) => exchange.scatter_and_gather(done, next),
            (Some(done), None) => exchange.scatter(done.items, done.output, done.flags),
            (None, Some(next)) => exchange.gather(next.items, next.rows, next.input),
            (None, None) => {}
        }
    }

    /// Copies the operands of a chunk in and sets the device to work on them.
    ///
    /// # Safety
    /// The pinned memory that `exchange` names stays as it is until this slot's copies have been waited for.
    unsafe fn start(
        &mut self,
        slot: usize,
        items: Range<usize>,
        rows: usize,
        stages: &impl Stages,
        compute: &Stream,
        exchange: &mut (dyn Exchange + Send),
    ) -> Result<()> {
        let Footprint { input_limbs, output_limbs, flag_words } = stages.footprint(rows);
        let pinned = exchange.pinned_inputs(items.clone());
        for limbs in staged(&pinned, input_limbs) {
            let bytes = 8 * limbs.start..8 * limbs.end;
            self.copies.copy_in(&self.input.buffer, bytes.clone(), &self.inputs, bytes.start)?;
        }
        for (start, limbs) in pinned {
            // SAFETY: the caller keeps the memory as it is.
            unsafe { self.copies.copy_in_limbs(limbs, &self.inputs, 8 * start)? };
        }
        if input_limbs > 0 {
            self.copied.record(&self.copies)?;
            compute.wait(&self.copied)?;
        }
        let (inputs, outputs, flags) = (&self.inputs, &self.outputs, &self.flags);
        let chunk = Chunk { slot, first: items.start, rows, inputs, outputs, flags };
        stages.prepare(compute, &chunk)?;
        self.began.record(compute)?;
        stages.launch(compute, &chunk)?;
        self.ended.record(compute)?;
        self.has_output = output_limbs > 0 || flag_words > 0;
        if self.has_output {
            self.copies.wait(&self.ended)?;
        }
        if flag_words > 0 {
            self.copies.copy_out(&self.flags, 0..4 * flag_words, &mut self.flag_words, 0)?;
        }
        match exchange.pinned_answers(items) {
            // SAFETY: the caller keeps the memory as it is.
            Some(answers) => unsafe { self.copies.copy_out_limbs(&self.outputs, answers) },
            None if output_limbs == 0 => Ok(()),
            None => {
                self.output.written(0..output_limbs);
                self.copies.copy_out(&self.outputs, 0..8 * output_limbs, &mut self.output.buffer, 0)
            }
        }
    }

    /// Waits for the chunk in this slot; returns the kernels' seconds.
    fn finish(&mut self) -> Result<f64> {
        self.ended.synchronize()?;
        if self.has_output {
            self.copies.synchronize()?;
        }
        Ok(f64::from(self.ended.elapsed_ms(&self.began)?) / 1e3)
    }

    /// Clears the operands in the host's memory as soon as they are copied.
    fn clear_input(&mut self, workers: &Workers) -> Result<()> {
        if self.input.is_used() {
            self.copied.synchronize()?;
            workers.move_numbers(|| self.input.clear());
        }
        Ok(())
    }
}

impl Drop for Slot {
    /// Copies from and to the caller's memory end before the caller gets it back.
    fn drop(&mut self) {
        let _ = self.copies.synchronize();
    }
}

/// The limbs of a chunk's inputs that are not in pinned memory, and go through the staging memory.
fn staged(pinned: &[(usize, &[u64])], input_limbs: usize) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut staged = Vec::new();
    for (place, limbs) in pinned {
        staged.push(start..*place);
        start = place + limbs.len();
    }
    staged.push(start..input_limbs);
    staged.retain(|limbs| !limbs.is_empty());
    staged
}

/// The chunks of a range: `size` items each, but `edge` items first and last.
fn chunks(range: Range<usize>, size: usize, edge: usize) -> Vec<Range<usize>> {
    let first = range.start..range.end.min(range.start + edge);
    let last = first.end.max(range.end - edge.min(range.len()))..range.end;
    let middle = parts(first.end..last.start, size);
    let ends = [first, last].map(|end| Some(end).filter(|end| !end.is_empty()));
    let [first, last] = ends;
    first.into_iter().chain(middle).chain(last).collect()
}

/// The parts of a range, of at most `size` items.
pub(crate) fn parts(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let size = size.max(1);
    let end = range.end;
    range.step_by(size).map(move |start| start..end.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::emulator::Faults;
    use std::cell::Cell;

    #[test]
    fn chunks_cover_everything_once_and_end_small() {
        for (count, size, edge) in
            [(1, 1, 1), (10, 20, 10), (25, 20, 10), (100, 20, 10), (101, 20, 20), (0, 4, 2)]
        {
            for start in [0, 7] {
                let chunks = chunks(start..start + count, size, edge);
                let mut end = start;
                for chunk in &chunks {
                    assert_eq!(chunk.start, end);
                    assert!(!chunk.is_empty() && chunk.len() <= size.max(edge));
                    end = chunk.end;
                }
                assert_eq!(end, start + count);
                assert!(chunks.first().into_iter().chain(chunks.last()).all(|chunk| chunk.len() <= edge));
            }
        }
    }

    /// Copies inputs to outputs on the device; memory runs out when the chunk of a given number is launched.
    struct Echo {
        rows: usize,
        launches_left: Cell<Option<usize>>,
    }

    impl Stages for Echo {
        fn footprint(&self, rows: usize) -> Footprint {
            Footprint { input_limbs: rows, output_limbs: rows, flag_words: 0 }
        }

        fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
            assert!(chunk.rows <= self.rows);
            if let Some(left) = self.launches_left.get() {
                let left = left.checked_sub(1).ok_or(Error::OutOfMemory { wanted: 1 })?;
                self.launches_left.set(Some(left));
            }
            compute.fill(chunk.outputs, 0..8 * chunk.rows, 1)
        }
    }

    struct Counted {
        gathered: Vec<u32>,
        scattered: Vec<u32>,
    }

    impl Exchange for Counted {
        fn gather(&mut self, items: Range<usize>, rows: usize, _: &mut HostBuffer) {
            assert!(rows >= items.len() && rows.is_multiple_of(4));
            self.gathered[items].iter_mut().for_each(|count| *count += 1);
        }

        fn scatter(&mut self, items: Range<usize>, output: &mut HostBuffer, _: &[u32]) {
            assert!(output.limbs()[..items.len()].iter().all(|&limb| limb == u64::from_ne_bytes([1; 8])));
            self.scattered[items].iter_mut().for_each(|count| *count += 1);
        }
    }

    /// Every item is answered once, also where memory runs out in the middle and smaller chunks begin again.
    #[test]
    fn what_was_answered_is_not_computed_again() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let lane =
            Lane { device: &device, workers: &Workers::default(), contents: Contents::Secret, watch: None };
        for (launches, again) in [(None, false), (Some(0), true), (Some(5), true)] {
            let mut exchange = Counted { gathered: vec![0; 1001], scattered: vec![0; 1001] };
            let sizes = ChunkSizes { size: 100, edge: 20, multiple: 4 };
            let make = |rows| {
                // Smaller chunks fit.
                let launches_left = Cell::new(launches.filter(|_| rows == 100));
                Ok(Echo { rows, launches_left })
            };
            run(lane, 1001, sizes, make, &mut exchange).unwrap();
            assert!(exchange.scattered.iter().all(|&count| count == 1));
            assert_eq!(exchange.gathered.iter().any(|&count| count > 1), again);
        }
        let mut exchange = Counted { gathered: vec![0; 10], scattered: vec![0; 10] };
        let sizes = ChunkSizes { size: 8, edge: 8, multiple: 4 };
        let make = |rows| Ok(Echo { rows, launches_left: Cell::new(Some(0)) });
        let result = run(lane, 10, sizes, make, &mut exchange);
        assert!(matches!(result, Err(Error::OutOfMemory { .. })), "no chunk fits");
    }

    /// Stops its watch after some chunks.
    struct StoppedAfter<'a> {
        chunks_left: usize,
        watch: &'a Watch,
    }

    impl Exchange for StoppedAfter<'_> {
        fn gather(&mut self, _: Range<usize>, _: usize, _: &mut HostBuffer) {}

        fn scatter(&mut self, _: Range<usize>, _: &mut HostBuffer, _: &[u32]) {
            self.chunks_left -= 1;
            if self.chunks_left == 0 {
                self.watch.stop();
            }
        }
    }

    #[test]
    fn a_watch_counts_chunks_and_stops_between_them() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let watch = Watch::new();
        let workers = Workers::default();
        let lane =
            Lane { device: &device, workers: &workers, contents: Contents::Secret, watch: Some(&watch) };
        let sizes = ChunkSizes { size: 100, edge: 20, multiple: 4 };
        let make = |rows| Ok(Echo { rows, launches_left: Cell::new(None) });
        let mut all = Counted { gathered: vec![0; 1001], scattered: vec![0; 1001] };
        run(lane, 1001, sizes, make, &mut all).unwrap();
        assert_eq!(watch.done(), 1001);
        let mut exchange = StoppedAfter { chunks_left: 3, watch: &watch };
        assert!(matches!(run(lane, 1001, sizes, make, &mut exchange), Err(Error::Interrupted)));
        assert_eq!(watch.done(), 1001 + 20 + 100 + 100);
    }
}
