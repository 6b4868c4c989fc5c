//! The family `fft`: products of long numbers by transforms on a device. See `docs/algorithms/fft.md`.
#![allow(unsafe_code)] // launches kernels

mod barrett;
mod batch;
mod calls;
mod factors;
mod length;
mod moduli;
mod newton;
mod powers;
mod programs;
mod sums;

pub(crate) use batch::{KeptFactor, LongJob, LongTask};
pub(crate) use length::Length;
pub use moduli::Reciprocals;
pub(crate) use moduli::{LongModuli, places_by_bits};
pub(crate) use powers::{Exponents, secret_window};
pub(crate) use programs::programs_for;
pub use programs::transforms_programs;
pub(crate) use sums::{Lists, SumsModulo};

use crate::call::{Numbers, word};
use crate::device::{Buffer, Contents, Device, Kernel, Shape, Stream};
use crate::error::Result;
use crate::memo::Memo;
use crate::task::Reads;
use calls::{CarryCall, ChooseCall, ColumnsCall, CutCall, ExtractCall, JoinCall, RemainderCall, RowsCall};
use factors::Kind;
use programs::{BLOCK, Kernels, RowTask, rows_shared_bytes};
use std::sync::Arc;

/// The family's kernels and tables on a device.
pub(crate) struct Transforms {
    device: Device,
    kernels: Kernels,
    /// Tables of roots, made when they are first needed.
    tables: Memo<Kind, Arc<Buffer>>,
}

/// Threads of a block of carries, at most.
const CARRY_BLOCK: u32 = 128;

/// How carries of a result's words are spread over blocks: a chunk of a word for each bit of a digit for
/// every thread but the first.
struct Carries {
    /// Threads of a block: whole warps, no more than there are chunks for.
    block: u32,
    /// Blocks of an item.
    blocks: u32,
}

impl Carries {
    fn of(words: u32, digit_bits: u32) -> Self {
        let block = (1 + words.div_ceil(digit_bits)).next_multiple_of(32).min(CARRY_BLOCK);
        Self { block, blocks: words.div_ceil((block - 1) * digit_bits) }
    }

    /// Bytes of shared memory of a block: a chunk of words for each thread, what goes beyond it, and what
    /// warps tell each other.
    fn shared_bytes(&self, digit_bits: u32) -> u32 {
        (4 * (digit_bits | 1) + 8) * self.block + 64
    }
}

/// Bytes of shared memory of a block of remainders: borrows, and what warps tell each other.
const REMAINDER_SHARED_BYTES: u32 = 4 * (BLOCK + 64);

/// Words of a thread there, at a time (`CHUNK` of `fft_remainder.cuh`).
const REMAINDER_CHUNK: u32 = 8;

/// The second factors of products.
#[derive(Clone, Copy)]
pub(crate) enum Factor<'a> {
    /// The first ones again.
    Itself,
    /// Numbers, for every item or one for all.
    Numbers(Numbers),
    /// Transforms that were kept.
    Kept(Kept<'a>),
}

/// Transforms that were kept: one for every item, or one for all.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) buffer: &'a Buffer,
    /// The byte of it that they begin at.
    pub(crate) start: usize,
    pub(crate) count: usize,
}

impl<'a> Kept<'a> {
    /// Transforms that are kept from the beginning of a buffer on.
    pub(crate) fn all(buffer: &'a Buffer, count: usize) -> Self {
        Self { buffer, start: 0, count }
    }
}

/// Numbers on the device to be multiplied, with the buffers that hold them.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) numbers: Numbers,
    /// Numbers whose digits are added, if any.
    pub(crate) addends: Numbers,
    /// The bit, below 32, that they begin at.
    pub(crate) offset: u32,
    pub(crate) buffers: &'a [&'a Buffer],
}

impl<'a> Input<'a> {
    /// Numbers as they are.
    pub(crate) fn plain(numbers: Numbers, buffers: &'a [&'a Buffer]) -> Self {
        Self { numbers, addends: Numbers::default(), offset: 0, buffers }
    }
}

/// The rows that results go to.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) buffer: &'a Buffer,
    /// The byte of it that they begin at.
    pub(crate) start: usize,
    /// Words of a row; those of a product beyond it are not wanted.
    pub(crate) words: u32,
}

impl<'a> Output<'a> {
    /// Rows from the beginning of a buffer on.
    pub(crate) fn all(buffer: &'a Buffer, words: u32) -> Self {
        Self { buffer, start: 0, words }
    }

    fn address(&self) -> u64 {
        self.buffer.address() + self.start as u64
    }

    /// The numbers that were put there.
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers { address: self.address(), stride: self.words, length: self.words }
    }
}

/// The values that all steps of a computation on `items` items share.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) transforms: &'a Transforms,
    pub(crate) stream: &'a Stream,
    pub(crate) length: &'a Length,
    pub(crate) workspace: &'a Workspace,
    pub(crate) items: usize,
}

impl<'a> Work<'a> {
    fn passes(&self) -> Passes<'a> {
        let Self { transforms, stream, length, items, .. } = *self;
        Passes { transforms, stream, length, items }
    }
}

/// The transforms of the points of `items` items on a stream.
struct Passes<'a> {
    transforms: &'a Transforms,
    stream: &'a Stream,
    length: &'a Length,
    items: usize,
}

/// Points on their way, and the carries between blocks.
pub(crate) struct Workspace {
    points: Buffer,
    /// The points of the second factors, if they are transformed.
    others: Option<Buffer>,
    flags: Buffer,
}

impl Workspace {
    /// The flags that carries of `items` results of `words` words take, all zero, and their number.
    fn flags(&self, words: u32, digit_bits: u32, items: usize) -> Result<(&Buffer, u32)> {
        Ok((&self.flags, word(1 + Carries::of(words, digit_bits).blocks as usize * items)?))
    }
}

fn threads(count: u32) -> Shape {
    // Few threads are spread over many multiprocessors.
    let block = if count <= 1 << 16 { 64 } else { BLOCK };
    Shape { grid: count.div_ceil(block), block, shared_bytes: 0 }
}

impl Transforms {
    pub(crate) fn load(device: &Device) -> Result<Self> {
        Ok(Self { device: device.clone(), kernels: Kernels::load(device)?, tables: Memo::new() })
    }

    /// Memory for products of `count` items, of at most `words` words; `both` if both factors are
    /// transformed.
    pub(crate) fn workspace(
        &self,
        length: &Length,
        count: usize,
        words: u32,
        both: bool,
        contents: Contents,
    ) -> Result<Workspace> {
        let points = || self.device.buffer(length.bytes() * count, contents);
        let flags = 4 * (1 + Carries::of(words, length.digit_bits).blocks as usize * count);
        Ok(Workspace {
            points: points()?,
            others: both.then(points).transpose()?,
            flags: self.device.buffer(flags, contents)?,
        })
    }

    fn table(&self, kind: Kind) -> Result<Arc<Buffer>> {
        self.tables.get(&kind, || kind.upload(&self.device))
    }

    /// The transforms of `items` numbers into a buffer, for products with others.
    pub(crate) fn keep(
        &self,
        stream: &Stream,
        length: &Length,
        input: Input<'_>,
        items: usize,
        kept: &Buffer,
    ) -> Result<()> {
        let passes = Passes { transforms: self, stream, length, items };
        passes.columns_there(input, kept, None)?;
        passes.rows(RowTask::Keep, kept, None)
    }

    /// The products of a work.
    pub(crate) fn multiply(
        &self,
        work: &Work<'_>,
        a: Input<'_>,
        b: Factor<'_>,
        output: Output<'_>,
    ) -> Result<()> {
        let Work { length, workspace, items, .. } = *work;
        let (passes, Workspace { points, others, .. }) = (work.passes(), workspace);
        let flags = Some(workspace.flags(output.words, length.digit_bits, items)?);
        passes.columns_there(a, points, flags)?;
        match b {
            Factor::Itself => passes.rows(RowTask::Square, points, None)?,
            Factor::Kept(kept) => passes.rows(RowTask::MultiplyKept, points, Some(kept))?,
            Factor::Numbers(numbers) => {
                let other = others.as_ref().expect("both factors have points");
                let count = if numbers.stride == 0 { 1 } else { items };
                let input = Input::plain(numbers, a.buffers);
                Passes { items: count, ..work.passes() }.columns_there(input, other, None)?;
                passes.rows(RowTask::Multiply, points, Some(Kept::all(other, count)))?;
            }
        }
        self.columns_back(work, output)
    }

    /// Turns rows that were transformed back into numbers.
    fn columns_back(&self, work: &Work<'_>, output: Output<'_>) -> Result<()> {
        let Work { length, workspace, .. } = *work;
        let (passes, points) = (work.passes(), &workspace.points);
        for stride in length.strides().rev() {
            let factors = self.table(Kind::Back { points: 16, stride, divisor: 1 })?;
            passes.pass(&self.kernels.columns_back, points, (16, stride), &factors)?;
        }
        let (first, stride) = (length.first(), length.shape.columns / length.first());
        let divisor = length.shape.points();
        let factors = self.table(Kind::Back { points: first, stride, divisor })?;
        let last = &self.kernels.last[first.ilog2() as usize - 1];
        passes.pass(last, points, (first, stride), &factors)?;
        passes.join(points)?;
        self.carry(work, (length.digit_bits, length.shape.points()), output)
    }

    /// Turns coefficients of digits of `digit_bits` bits, `count` for each item, into numbers.
    fn carry(&self, work: &Work<'_>, (digit_bits, count): (u32, usize), output: Output<'_>) -> Result<()> {
        let Work { stream, workspace, items, .. } = *work;
        let points = &workspace.points;
        let carries = Carries::of(output.words, digit_bits);
        let call = CarryCall {
            points: points.address(),
            count: word(count)?,
            results: output.address(),
            result_stride: output.words,
            flags: workspace.flags.address(),
            blocks: carries.blocks,
        };
        let shape = Shape {
            grid: word(carries.blocks as usize * items)?,
            block: carries.block,
            shared_bytes: carries.shared_bytes(digit_bits),
        };
        let kernel = self.kernels.carry(digit_bits)?;
        // SAFETY: the kernel takes this structure, reads the coefficients of `items` items, and writes their
        // products and the flags of their blocks.
        unsafe { stream.launch(&kernel, shape, &call, &[points, output.buffer, &workspace.flags]) }
    }

    fn remainder(&self, stream: &Stream, items: usize, call: &RemainderCall, used: &[&Buffer]) -> Result<()> {
        let chunks = (call.length + 2).div_ceil(REMAINDER_CHUNK);
        let block = chunks.next_multiple_of(32).min(BLOCK);
        let shape = Shape { grid: word(items)?, block, shared_bytes: REMAINDER_SHARED_BYTES };
        // SAFETY: the kernel takes this structure, reads `items` numbers of each kind, and writes as many
        // results.
        unsafe { stream.launch(&self.kernels.remainder, shape, call, used) }
    }

    fn extract(&self, stream: &Stream, call: &ExtractCall, used: &[&Buffer]) -> Result<()> {
        // SAFETY: the kernel takes this structure, reads the numbers of as many items as it has threads for,
        // and writes a row for each.
        unsafe { stream.launch(&self.kernels.extract, threads(call.count), call, used) }
    }

    fn choose(&self, stream: &Stream, reads: Reads, call: &ChooseCall, used: &[&Buffer]) -> Result<()> {
        let [whole, direct] = &self.kernels.choose;
        let kernel = match reads {
            Reads::Whole => whole,
            Reads::Direct | Reads::Vartime => direct,
        };
        // SAFETY: the kernel takes this structure, reads the exponents and tables of as many items as it has
        // threads for, and writes a row for each.
        unsafe { stream.launch(kernel, threads(call.count), call, used) }
    }
}

impl Passes<'_> {
    /// Cuts numbers into digits and transforms them, but for the rows; clears flags as well, if there are
    /// any.
    fn columns_there(&self, input: Input<'_>, to: &Buffer, flags: Option<(&Buffer, u32)>) -> Result<()> {
        let Self { transforms, stream, length, items } = *self;
        let shape = length.shape;
        let (points, stride) = (length.first(), shape.columns / length.first());
        let factors = transforms.table(Kind::There { points, stride })?;
        let roots = transforms.table(Kind::Roots(shape.rows))?;
        let digits = length.digits(input.numbers.length.max(input.addends.length));
        let half = shape.rows == 1 && 2 * digits <= shape.columns && input.addends.length == 0;
        let kernels = match (half, shape.rows) {
            (true, _) => &transforms.kernels.cut_half,
            (false, 1) => &transforms.kernels.cut[0],
            _ => &transforms.kernels.cut[1],
        };
        let kernel = &kernels[points.ilog2() as usize - 1];
        let call = CutCall {
            numbers: input.numbers,
            addends: input.addends,
            points: to.address(),
            factors: factors.address(),
            roots: roots.address(),
            stride: word(stride)?,
            log_stride: stride.ilog2(),
            columns: word(shape.columns)?,
            rows: word(shape.rows)?,
            digit_bits: length.digit_bits,
            digits: word(digits)?,
            offset: input.offset,
            count: word(items * shape.rows * stride)?,
            flags: flags.map_or(0, |(buffer, _)| buffer.address()),
            flag_count: flags.map_or(0, |(_, count)| count),
        };
        assert!(call.flag_count <= call.count, "a flag a thread is cleared");
        let mut used = input.buffers.to_vec();
        used.extend([to, &factors, &roots]);
        used.extend(flags.map(|(buffer, _)| buffer));
        // SAFETY: the kernel takes this structure, reads `items` numbers, and writes their points and the
        // flags.
        unsafe { stream.launch(kernel, threads(call.count), &call, &used)? };
        for stride in length.strides() {
            let factors = transforms.table(Kind::There { points: 16, stride })?;
            self.pass(&transforms.kernels.columns, to, (16, stride), &factors)?;
        }
        Ok(())
    }

    fn pass(
        &self,
        kernel: &Kernel,
        points: &Buffer,
        (radix, stride): (usize, usize),
        factors: &Buffer,
    ) -> Result<()> {
        let call = ColumnsCall {
            points: points.address(),
            factors: factors.address(),
            stride: word(stride)?,
            log_stride: stride.ilog2(),
            count: word(self.items * self.length.shape.points() / radix)?,
        };
        // SAFETY: the kernel takes this structure, and transforms the points of `items` items in place.
        unsafe { self.stream.launch(kernel, threads(call.count), &call, &[points, factors]) }
    }

    fn rows(&self, task: RowTask, a: &Buffer, b: Option<Kept<'_>>) -> Result<()> {
        let Self { transforms, stream, length, items } = *self;
        let row = length.row();
        let table = |stride, back| {
            transforms.table(match back {
                false => Kind::There { points: 16, stride },
                true => Kind::Back { points: 16, stride, divisor: 1 },
            })
        };
        let tables = [table(16, false)?, table(256, false)?, table(16, true)?, table(256, true)?];
        let addresses = tables.each_ref().map(|table| table.address());
        let rows_of = |items: usize| word(items * length.shape.points() / row);
        let call = RowsCall {
            a: a.address(),
            b: b.map_or(0, |b| b.buffer.address() + b.start as u64),
            there: [addresses[0], addresses[1]],
            back: [addresses[2], addresses[3]],
            b_rows: rows_of(b.map_or(items, |b| b.count))?,
            count: rows_of(items)?,
        };
        let mut used: Vec<&Buffer> = tables.iter().map(|table| &**table).collect();
        used.push(a);
        used.extend(b.map(|b| b.buffer));
        let per_block = word(4096 / row)?;
        let shape = Shape {
            grid: call.count.div_ceil(per_block),
            block: BLOCK,
            shared_bytes: rows_shared_bytes(task, transforms.device.limits()),
        };
        let kernel = &transforms.kernels.rows(length.has_long_rows())?[task as usize];
        // SAFETY: the kernel takes this structure, reads the points of b, as many rows as it has, and
        // transforms those of a in place.
        unsafe { stream.launch(kernel, shape, &call, &used) }
    }

    /// Turns several rows into coefficients in order, in place.
    fn join(&self, points: &Buffer) -> Result<()> {
        let Self { transforms, stream, length, items } = *self;
        let kernel = match length.shape.rows {
            1 => return Ok(()),
            3 => &transforms.kernels.join[0],
            _ => &transforms.kernels.join[1],
        };
        let roots = transforms.table(Kind::InverseRoots(length.shape.rows))?;
        let columns = length.shape.columns;
        let call = JoinCall {
            points: points.address(),
            roots: roots.address(),
            columns: word(columns)?,
            log_columns: columns.ilog2(),
            count: word(items * columns)?,
        };
        // SAFETY: the kernel takes this structure, and changes the points of `items` items in place.
        unsafe { stream.launch(kernel, threads(call.count), &call, &[points, &roots]) }
    }
}

#[cfg(test)]
mod tests;
