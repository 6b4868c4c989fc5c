//! Chunks of blocks through devices: while one is computed, the next is made and copied in, and the last copied
//! out and taken. One thread hands the work to all devices.

use crate::device::{Buffer, Contents, Device, Event, HostBuffer, Stream};
use crate::error::{Error, Result};
use crate::pipeline::{Staging, chunks};
use modmill_core::Blocks;
use std::ops::Range;

/// Chunks on a device at a time.
const IN_FLIGHT: usize = 3;

/// Kernels that make answers of blocks.
pub(super) trait Sequence {
    /// Limbs that come with a chunk of so many items beside its blocks.
    fn key_limbs(&self, rows: usize) -> usize;

    /// Writes them, for `rows` items, those beyond the last like the last.
    fn gather(&self, items: Range<usize>, rows: usize, out: &mut [u64]);

    /// Launches the kernels.
    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()>;
}

/// A chunk on a device.
pub(super) struct Chunk<'a> {
    /// Items, those that fill it up included.
    pub(super) rows: usize,
    /// The blocks, and after them what `gather` wrote.
    pub(super) inputs: &'a Buffer,
    /// Where the latter is.
    pub(super) keys: u64,
    /// For the answers.
    pub(super) outputs: &'a Buffer,
    /// For a word for each item: whether its answer is wrong.
    pub(super) wrong: &'a Buffer,
}

/// A device made ready for chunks of some size.
pub(super) struct Lane<'a, S> {
    sequence: S,
    compute: Stream,
    slots: Vec<Slot>,
    device: &'a Device,
    limbs: usize,
    size: usize,
    contents: Contents,
}

/// What one chunk on its way needs.
struct Slot {
    copies: Stream,
    input: Staging,
    output: Staging,
    inputs: Buffer,
    outputs: Buffer,
    wrong: Buffer,
    wrong_words: HostBuffer,
    copied: Event,
    began: Event,
    ended: Event,
}

impl<'a, S: Sequence> Lane<'a, S> {
    pub(super) fn new(
        device: &'a Device,
        sequence: S,
        bits: usize,
        size: usize,
        contents: Contents,
    ) -> Result<Self> {
        let limbs = bits.div_ceil(64);
        Ok(Self { sequence, compute: device.stream()?, slots: Vec::new(), device, limbs, size, contents })
    }

    fn make_slots(&mut self, chunks: usize) -> Result<()> {
        for _ in 0..IN_FLIGHT.min(chunks) {
            let Self { device, limbs, size, contents, .. } = *self;
            let input_limbs = limbs * size + self.sequence.key_limbs(size);
            self.slots.push(Slot {
                copies: device.stream()?,
                input: Staging::new(device, input_limbs, contents)?,
                output: Staging::new(device, limbs * size, contents)?,
                inputs: device.buffer(8 * input_limbs, contents)?,
                outputs: device.buffer(8 * limbs * size, contents)?,
                wrong: device.buffer(4 * size, Contents::Public)?,
                wrong_words: device.host_buffer((4 * size).next_multiple_of(8), Contents::Public)?,
                copied: device.event()?,
                began: device.event()?,
                ended: device.event()?,
            });
        }
        Ok(())
    }

    /// Makes a chunk in a free slot and sets the device to work on it.
    fn start(&mut self, slot: usize, items: Range<usize>, blocks: &mut dyn Blocks) -> Result<()> {
        let Self { sequence, compute, slots, limbs, .. } = self;
        let slot = &mut slots[slot];
        let (count, rows) = (items.len(), items.len().next_multiple_of(super::TILE_ITEMS));
        let (block_limbs, key_limbs) = (*limbs * rows, sequence.key_limbs(rows));
        {
            let (used, padding) = slot.input.buffer[..8 * block_limbs].split_at_mut(8 * *limbs * count);
            blocks.fill(items.clone(), used);
            padding.fill(0);
        }
        sequence.gather(
            items,
            rows,
            &mut slot.input.buffer.limbs_mut()[block_limbs..block_limbs + key_limbs],
        );
        slot.copies.copy_in(&slot.input.buffer, 0..8 * (block_limbs + key_limbs), &slot.inputs, 0)?;
        slot.copied.record(&slot.copies)?;
        compute.wait(&slot.copied)?;
        slot.began.record(compute)?;
        let keys = slot.inputs.address() + 8 * block_limbs as u64;
        let (inputs, outputs, wrong) = (&slot.inputs, &slot.outputs, &slot.wrong);
        sequence.launch(compute, &Chunk { rows, inputs, keys, outputs, wrong })?;
        slot.ended.record(compute)?;
        slot.copies.wait(&slot.ended)?;
        slot.copies.copy_out(&slot.wrong, 0..4 * count, &mut slot.wrong_words, 0)?;
        slot.copies.copy_out(&slot.outputs, 0..8 * *limbs * count, &mut slot.output.buffer, 0)
    }

    /// Waits for a slot and hands its answers over; returns the kernels' seconds.
    fn finish(&mut self, slot: usize, items: Range<usize>, blocks: &mut dyn Blocks) -> Result<f64> {
        let limbs = self.limbs;
        let slot = &mut self.slots[slot];
        slot.copies.synchronize()?;
        let octets = &mut slot.output.buffer[..8 * limbs * items.len()];
        let count = items.len();
        blocks.take(items, octets, &slot.wrong_words.words()[..count]);
        Ok(f64::from(slot.ended.elapsed_ms(&slot.began)?) / 1e3)
    }

    /// Clears the host's memory of inputs when no more will come, while the device computes.
    fn clear_inputs(&mut self) -> Result<()> {
        for slot in &mut self.slots {
            slot.copied.synchronize()?;
            slot.input.clear();
        }
        Ok(())
    }
}

/// Computes all items in chunks of at most `size`, the first and last of `edge`, smaller ones if memory is short;
/// returns the kernels' seconds on the slowest device.
pub(super) fn run<'a, S: Sequence + 'a>(
    count: usize,
    mut size: usize,
    edge: usize,
    make: impl Fn(usize) -> Result<Vec<Lane<'a, S>>>,
    blocks: &mut dyn Blocks,
) -> Result<f64> {
    if count == 0 {
        return Ok(0.0);
    }
    let (chunks, mut lanes) = loop {
        let chunks = chunks(count, size, edge.min(size));
        let ready = make(size).and_then(|mut lanes| {
            let share = chunks.len().div_ceil(lanes.len().max(1));
            lanes.iter_mut().try_for_each(|lane| lane.make_slots(share))?;
            Ok(lanes)
        });
        match ready {
            Err(Error::OutOfMemory { .. }) if size > super::TILE_ITEMS => {
                size = size.div_ceil(2).next_multiple_of(super::TILE_ITEMS);
            }
            result => break (chunks, result?),
        }
    };
    let devices = lanes.len();
    if devices == 0 {
        return Err(Error::NoDevice);
    }
    let mut seconds = vec![0.0; devices];
    let in_flight = IN_FLIGHT * devices;
    for turn in 0..chunks.len() + in_flight {
        if turn == chunks.len() {
            lanes.iter_mut().try_for_each(Lane::clear_inputs)?;
        }
        if let Some(done) = turn.checked_sub(in_flight).filter(|&done| done < chunks.len()) {
            let (device, slot) = (done % devices, done / devices % IN_FLIGHT);
            seconds[device] += lanes[device].finish(slot, chunks[done].clone(), blocks)?;
            if turn >= chunks.len() {
                lanes[device].slots[slot].output.clear();
            }
        }
        if let Some(items) = chunks.get(turn) {
            let (device, slot) = (turn % devices, turn / devices % IN_FLIGHT);
            lanes[device].start(slot, items.clone(), blocks)?;
        }
    }
    Ok(seconds.into_iter().fold(0.0, f64::max))
}
