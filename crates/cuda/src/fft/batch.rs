//! Batches of products through one device, chunk by chunk: while one chunk is computed, the next is copied in
//! and the last one copied out.

use super::barrett::{LongModulus, Reduction};
use super::{Factor, Input, Length, Output, Transforms, Workspace, small};
use crate::device::{Buffer, Contents, Device, Event, Stream};
use crate::error::{Error, Result};
use crate::pipeline::{Origin, Source, Staging, chunks, scatter};
use modmill_core::Operand;

/// Chunks on a device at a time: one computed, one waiting for it, one copied out.
const IN_FLIGHT: usize = 3;

/// Bytes of points of a chunk, about: all multiprocessors are to be busy several times over, and the next chunk to
/// be copied meanwhile.
const CHUNK_BYTES: usize = 128 << 20;

/// Products of numbers, or squares if there is no b; modulo a number, if there is one.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a> {
    a: Operand<'a>,
    b: Option<Operand<'a>>,
    modulus: Option<&'a LongModulus>,
}

struct Slot {
    copies: Stream,
    input: Staging,
    output: Staging,
    inputs: Buffer,
    results: Buffer,
    copied: Event,
    began: Event,
    ended: Event,
}

impl<'a> Products<'a> {
    /// A factor that all items share comes second, so that it is transformed once.
    pub(crate) fn new(a: Operand<'a>, b: Option<Operand<'a>>) -> Self {
        match (a, b) {
            (Operand::Shared { .. }, Some(b)) => Self { a: b, b: Some(a), modulus: None },
            _ => Self { a, b, modulus: None },
        }
    }

    /// The same modulo a number, which factors are not longer than.
    pub(crate) fn modulo(self, modulus: &'a LongModulus) -> Self {
        Self { modulus: Some(modulus), ..self }
    }

    /// Bits of an answer.
    pub(crate) fn bits(&self) -> usize {
        self.modulus.map_or(self.a.bits() + self.second().bits(), LongModulus::bits)
    }

    fn second(&self) -> Operand<'a> {
        self.b.unwrap_or(self.a)
    }

    /// Limbs of the factors as they are handed to the device.
    fn widths(&self) -> [usize; 2] {
        let width = |operand: Operand<'_>| operand.bits().div_ceil(64);
        self.modulus.map_or([width(self.a), width(self.second())], |modulus| [modulus.limbs(); 2])
    }

    fn length(&self) -> Length {
        match self.modulus {
            // Quotients are sums of two numbers, digit by digit.
            Some(modulus) => Length::new(64 * modulus.limbs(), 64 * modulus.limbs(), 2),
            None => Length::new(self.a.bits(), self.second().bits(), 1),
        }
    }

    /// Computes the items of a range into rows of limbs as long as `bits` says; returns the kernels' seconds.
    pub(crate) fn run(
        &self,
        device: &Device,
        transforms: &Transforms,
        items: &[usize],
        answers: &mut [u64],
    ) -> Result<f64> {
        let length = self.length();
        let mut size = (CHUNK_BYTES / (2 * length.bytes())).clamp(1, items.len());
        let (mut run, chunks) = loop {
            // Small ones first and last: the device waits for the first, and the host for the last.
            let edge = if items.len() <= size { size } else { size.div_ceil(4) };
            let chunks = chunks(items.len(), size, edge);
            match ProductRun::new(self, device, transforms, length, size, chunks.len()) {
                Err(Error::OutOfMemory { .. }) if size > 1 => size = size.div_ceil(2),
                result => break (result?, chunks),
            }
        };
        let stride = self.bits().div_ceil(64);
        let mut seconds = 0.0;
        for turn in 0..chunks.len() + IN_FLIGHT {
            if let Some(done) = turn.checked_sub(IN_FLIGHT).filter(|&done| done < chunks.len()) {
                let range = &chunks[done];
                seconds += run.finish(
                    done % IN_FLIGHT,
                    &mut answers[range.start * stride..range.end * stride],
                    stride,
                )?;
            }
            if let Some(range) = chunks.get(turn) {
                run.start(turn % IN_FLIGHT, &items[range.clone()])?;
            }
        }
        Ok(seconds)
    }
}

/// A device made ready for chunks of some size.
struct ProductRun<'a> {
    transforms: &'a Transforms,
    length: Length,
    sources: Vec<Source<'a>>,
    workspace: Workspace,
    kept: Option<Buffer>,
    reduction: Option<Reduction>,
    compute: Stream,
    /// Limbs of an answer's row on the device.
    limbs: usize,
    slots: Vec<Slot>,
}

impl<'a> ProductRun<'a> {
    fn new(
        products: &Products<'a>,
        device: &Device,
        transforms: &'a Transforms,
        length: Length,
        size: usize,
        chunks: usize,
    ) -> Result<Self> {
        let contents = Contents::Secret;
        let widths = products.widths();
        let source = |operand: Operand<'a>, width: usize| Source { origin: Origin::Operand(operand), width };
        let shared = products.b.filter(|b| matches!(b, Operand::Shared { .. }));
        let each = products.b.filter(|_| shared.is_none());
        let mut sources = vec![source(products.a, widths[0])];
        sources.extend(each.map(|b| source(b, widths[1])));
        let compute = device.stream()?;
        let keep = |shared| keep(device, transforms, &compute, &length, source(shared, widths[1]));
        let kept = shared.map(keep).transpose()?;
        let reduce = |modulus| Reduction::new(device, transforms, &compute, &length, modulus, size);
        let reduction = products.modulus.map(reduce).transpose()?;
        // Rows of answers on the device are whole quads of words.
        let limbs = products.bits().div_ceil(64).next_multiple_of(2);
        let words = small(2 * (widths[0] + widths[1]).next_multiple_of(2));
        let input_limbs = sources.iter().map(|source| source.limbs(size)).sum::<usize>();
        let slot = |_| {
            Ok(Slot {
                copies: device.stream()?,
                input: Staging::new(device, input_limbs, contents)?,
                output: Staging::new(device, limbs * size, contents)?,
                inputs: device.buffer(8 * input_limbs, contents)?,
                results: device.buffer(8 * limbs * size, contents)?,
                copied: device.event()?,
                began: device.event()?,
                ended: device.event()?,
            })
        };
        Ok(Self {
            workspace: transforms.workspace(&length, size, words, each.is_some(), contents)?,
            slots: (0..IN_FLIGHT.min(chunks)).map(slot).collect::<Result<_>>()?,
            transforms,
            length,
            sources,
            kept,
            reduction,
            compute,
            limbs,
        })
    }

    fn start(&mut self, slot: usize, items: &[usize]) -> Result<()> {
        let slot = &mut self.slots[slot];
        let mut starts = [0; 2];
        let mut end = 0;
        for (source, start) in self.sources.iter().zip(&mut starts) {
            *start = end;
            end += source.limbs(items.len());
            source.gather(items, &mut slot.input.buffer.limbs_mut()[*start..end]);
        }
        slot.copies.copy_in(&slot.input.buffer, 0..8 * end, &slot.inputs, 0)?;
        slot.copied.record(&slot.copies)?;
        self.compute.wait(&slot.copied)?;
        let place = |index: usize| self.sources[index].numbers(&slot.inputs, starts[index]);
        let b = match &self.kept {
            Some(kept) => Factor::Kept(kept),
            None if self.sources.len() == 2 => Factor::Numbers(place(1)),
            None => Factor::Itself,
        };
        let buffers = [&slot.inputs];
        let a = Input::plain(place(0), &buffers);
        let output = Output { buffer: &slot.results, words: small(2 * self.limbs) };
        slot.began.record(&self.compute)?;
        let Self { transforms, compute, length, workspace, .. } = self;
        match &self.reduction {
            None => transforms.multiply(compute, length, workspace, a, b, items.len(), output)?,
            Some(reduction) => {
                transforms.multiply(compute, length, workspace, a, b, items.len(), reduction.products())?;
                reduction.run(transforms, compute, length, workspace, items.len(), output)?;
            }
        }
        slot.ended.record(&self.compute)?;
        slot.copies.wait(&slot.ended)?;
        slot.copies.copy_out(&slot.results, 0..8 * self.limbs * items.len(), &mut slot.output.buffer, 0)
    }

    fn finish(&mut self, slot: usize, answers: &mut [u64], stride: usize) -> Result<f64> {
        let slot = &self.slots[slot];
        slot.copies.synchronize()?;
        scatter(slot.output.buffer.limbs(), self.limbs, answers, stride);
        Ok(f64::from(slot.ended.elapsed_ms(&slot.began)?) / 1e3)
    }
}

/// The transform of a number that all items share.
fn keep(
    device: &Device,
    transforms: &Transforms,
    stream: &Stream,
    length: &Length,
    source: Source<'_>,
) -> Result<Buffer> {
    let limbs = source.limbs(1);
    let mut staging = Staging::new(device, limbs, Contents::Secret)?;
    source.gather(&[0], &mut staging.buffer.limbs_mut()[..limbs]);
    let words = device.buffer(8 * limbs, Contents::Secret)?;
    stream.copy_in(&staging.buffer, 0..8 * limbs, &words, 0)?;
    let buffers = [&words];
    let input = Input::plain(source.numbers(&words, 0), &buffers);
    let kept = transforms.keep(stream, length, input, Contents::Secret)?;
    stream.synchronize()?;
    Ok(kept)
}
