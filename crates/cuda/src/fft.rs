//! The family `fft`: products of long numbers by transforms on a device. See `docs/algorithms/fft.md`.
#![allow(unsafe_code)] // launches kernels

mod barrett;
mod batch;
mod factors;
mod length;

pub use barrett::LongModulus;
pub(crate) use batch::Products;
pub(crate) use length::Length;
use length::{LEAST_DIGIT_BITS, MOST_DIGIT_BITS};

use crate::compiler::Program;
use crate::device::{Buffer, Contents, Device, Kernel, KernelArguments, Module, Shape, Stream};
use crate::error::Result;
use crate::kernels::Numbers;
use crate::sources;
use factors::{Kind, Tables, upload};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// `CutCall` of `fft_cut.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct CutCall {
    numbers: Numbers,
    addends: Numbers,
    points: u64,
    factors: u64,
    roots: u64,
    stride: u32,
    log_stride: u32,
    columns: u32,
    rows: u32,
    digit_bits: u32,
    digits: u32,
    offset: u32,
    count: u32,
}

/// `ColumnsCall` of `fft_columns.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct ColumnsCall {
    points: u64,
    factors: u64,
    stride: u32,
    log_stride: u32,
    count: u32,
}

/// `RowsCall` of `fft_rows.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RowsCall {
    a: u64,
    b: u64,
    there: [u64; 2],
    back: [u64; 2],
    b_rows: u32,
    count: u32,
}

/// `JoinCall` of `fft_join.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct JoinCall {
    points: u64,
    roots: u64,
    columns: u32,
    log_columns: u32,
    count: u32,
}

/// `CarryCall` of `fft_carry.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct CarryCall {
    points: u64,
    count: u32,
    results: u64,
    result_stride: u32,
    flags: u64,
    blocks: u32,
}

/// `RemainderCall` of `fft_remainder.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RemainderCall {
    x: Numbers,
    y: Numbers,
    divisor: Numbers,
    results: u64,
    result_stride: u32,
    length: u32,
}

// SAFETY: plain structures of integers, laid out as the kernels' own.
unsafe impl KernelArguments for CutCall {}
// SAFETY: as above.
unsafe impl KernelArguments for ColumnsCall {}
// SAFETY: as above.
unsafe impl KernelArguments for RowsCall {}
// SAFETY: as above.
unsafe impl KernelArguments for JoinCall {}
// SAFETY: as above.
unsafe impl KernelArguments for CarryCall {}
// SAFETY: as above.
unsafe impl KernelArguments for RemainderCall {}

/// Threads of a block, at most; rows and carries have as many.
const BLOCK: u32 = 256;

/// Bytes of shared memory of a block of rows: 4096 points, with one left out after sixteen, and as many words of
/// the threads' own where there are two factors.
const fn rows_shared_bytes(task: RowTask) -> u32 {
    let own = match task {
        RowTask::Multiply | RowTask::MultiplyKept => 4096,
        RowTask::Square | RowTask::Keep => 0,
    };
    8 * (4096 + 256 + own)
}

/// Threads of a block of carries.
const CARRY_BLOCK: u32 = 128;

/// Bytes of shared memory of a block of carries: a chunk of words for each thread, what goes beyond it, and what
/// warps tell each other.
const fn carry_shared_bytes(digit_bits: u32) -> u32 {
    (4 * (digit_bits | 1) + 8) * CARRY_BLOCK + 64
}

/// Blocks of carries for results of so many words: a chunk of a word for each bit of a digit for every thread but
/// the first.
const fn carry_blocks(words: u32, digit_bits: u32) -> u32 {
    words.div_ceil((CARRY_BLOCK - 1) * digit_bits)
}

/// Bytes of shared memory of a block of remainders: borrows, and what warps tell each other.
const REMAINDER_SHARED_BYTES: u32 = 4 * (BLOCK + 64);

/// The programs of this family, for all lengths: passes, cuts into digits, rows of 256 points and of 4096, and
/// carries of digits of each length.
pub fn transforms_programs() -> impl Iterator<Item = Program> {
    let others = [passes(), cuts(), rows(false), rows(true)];
    others.into_iter().chain((LEAST_DIGIT_BITS..=MOST_DIGIT_BITS).map(carries))
}

fn passes() -> Program {
    program("passes", &["fft_columns", "fft_join", "fft_chain", "fft_remainder"], 2, &[])
}

fn cuts() -> Program {
    program("cuts", &["fft_columns", "fft_cut"], 3, &[])
}

fn rows(long: bool) -> Program {
    let name = if long { "long rows" } else { "short rows" };
    program(name, &["fft_rows"], 2, &[("LONG_ROWS", u32::from(long))])
}

fn carries(digit_bits: u32) -> Program {
    let name = format!("carries of {digit_bits} bits");
    program(&name, &["fft_chain", "fft_carry"], 2, &[("DIGIT_BITS", digit_bits)])
}

fn program(name: &str, files: &[&str], resident: u32, defines: &[(&str, u32)]) -> Program {
    let includes = ["device", "numbers", "fft_field", "fft_butterfly"].iter().chain(files);
    let defines = [("BLOCK", BLOCK), ("RESIDENT", resident)].into_iter().chain(defines.iter().copied());
    Program {
        name: format!("transforms: {name}"),
        main: includes.map(|file| format!("#include \"{file}.cuh\"\n")).collect(),
        files: sources::ALL,
        defines: defines.map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
        options: Vec::new(),
        specific: false,
    }
}

/// The family's kernels and tables on a device.
pub(crate) struct Transforms {
    device: Device,
    cut: ByRadix,
    cut_half: ByRadix,
    columns: Kernel,
    columns_back: Kernel,
    last: ByRadix,
    /// Of short rows and of long ones, compiled when they are first needed.
    rows: Mutex<[Option<Arc<RowKernels>>; 2]>,
    join: [Kernel; 2],
    /// By the bits of digits, likewise.
    carry: Mutex<HashMap<u32, Kernel>>,
    remainder: Kernel,
    tables: Tables,
}

/// A kernel for transforms of 2, 4, 8 and 16 points.
type ByRadix = [Kernel; 4];

fn by_radix(module: &Module, name: &str) -> Result<ByRadix> {
    let kernel = |radix: u32| module.kernel(&format!("{name}_{radix}"));
    Ok([kernel(2)?, kernel(4)?, kernel(8)?, kernel(16)?])
}

/// What is done with rows of one length, by `RowTask`.
type RowKernels = [Kernel; 4];

/// What is done with rows; the place of its kernels.
#[derive(Clone, Copy)]
enum RowTask {
    Multiply,
    Square,
    MultiplyKept,
    Keep,
}

/// The second factors of products.
#[derive(Clone, Copy)]
pub(crate) enum Factor<'a> {
    /// The first ones again.
    Itself,
    /// Numbers, for every item or one for all.
    Numbers(Numbers),
    /// A transform that was kept.
    Kept(&'a Buffer),
}

/// Numbers on the device to be multiplied, with what their addresses lie in.
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

/// Where products go.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) buffer: &'a Buffer,
    /// Words of a product; those beyond are not wanted.
    pub(crate) words: u32,
}

/// Points on their way, and the carries between blocks.
pub(crate) struct Workspace {
    points: [Option<Buffer>; 2],
    flags: Buffer,
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn threads(count: u32) -> Shape {
    // Few threads are spread over many multiprocessors.
    let block = if count <= 1 << 16 { 64 } else { BLOCK };
    Shape { grid: count.div_ceil(block), block, shared_bytes: 0 }
}

impl Transforms {
    pub(crate) fn load(device: &Device) -> Result<Self> {
        let (module, cuts) = (device.compile(&passes())?, device.compile(&cuts())?);
        Ok(Self {
            device: device.clone(),
            cut: by_radix(&cuts, "fft_cut")?,
            cut_half: by_radix(&cuts, "fft_cut_half")?,
            columns: module.kernel("fft_columns")?,
            columns_back: module.kernel("fft_columns_back")?,
            last: by_radix(&module, "fft_last")?,
            rows: Mutex::default(),
            join: [module.kernel("fft_join_3")?, module.kernel("fft_join_5")?],
            carry: Mutex::default(),
            remainder: module.kernel("fft_remainder")?,
            tables: Tables::default(),
        })
    }

    /// Memory for products of so many items, of at most `words` words; `both` if both factors are transformed.
    pub(crate) fn workspace(
        &self,
        length: &Length,
        count: usize,
        words: u32,
        both: bool,
        contents: Contents,
    ) -> Result<Workspace> {
        let points = || self.device.buffer(length.bytes() * count, contents);
        let flags = 4 * (1 + carry_blocks(words, length.digit_bits) as usize * count);
        Ok(Workspace {
            points: [Some(points()?), both.then(points).transpose()?],
            flags: self.device.buffer(flags, contents)?,
        })
    }

    fn row_kernels(&self, long: bool) -> Result<Arc<RowKernels>> {
        let mut kernels = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &mut kernels[usize::from(long)];
        if let Some(kernels) = place {
            return Ok(kernels.clone());
        }
        let module = self.device.compile(&rows(long))?;
        let kernel = |name: &str| module.kernel(&format!("fft_{name}rows"));
        let kernels = [kernel("")?, kernel("square_")?, kernel("kept_")?, kernel("keep_")?];
        Ok(place.insert(Arc::new(kernels)).clone())
    }

    fn carry_kernel(&self, digit_bits: u32) -> Result<Kernel> {
        let mut kernels = self.carry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&digit_bits) {
            return Ok(kernel.clone());
        }
        let kernel = self.device.compile(&carries(digit_bits))?.kernel("fft_carry")?;
        kernels.insert(digit_bits, kernel.clone());
        Ok(kernel)
    }

    fn table(&self, kind: Kind) -> Result<Arc<Buffer>> {
        self.tables.get(&self.device, kind)
    }

    /// Cuts numbers into digits and transforms them, but for the rows.
    fn columns_there(
        &self,
        stream: &Stream,
        length: &Length,
        input: Input<'_>,
        items: usize,
        to: &Buffer,
    ) -> Result<()> {
        let shape = length.shape;
        let (points, stride) = (length.first(), shape.columns / length.first());
        let factors = self.table(Kind::There { points, stride })?;
        let roots = self.table(Kind::Roots(shape.rows))?;
        let digits = length.digits(input.numbers.length.max(input.addends.length));
        let half = shape.rows == 1 && 2 * digits <= shape.columns && input.addends.length == 0;
        let kernel = &(if half { &self.cut_half } else { &self.cut })[points.ilog2() as usize - 1];
        let call = CutCall {
            numbers: input.numbers,
            addends: input.addends,
            points: to.address(),
            factors: factors.address(),
            roots: roots.address(),
            stride: small(stride),
            log_stride: stride.ilog2(),
            columns: small(shape.columns),
            rows: small(shape.rows),
            digit_bits: length.digit_bits,
            digits: small(digits),
            offset: input.offset,
            count: small(items * shape.rows * stride),
        };
        let mut used = input.buffers.to_vec();
        used.extend([to, &factors, &roots]);
        // SAFETY: the kernel takes this structure, reads `items` numbers, and writes their points.
        unsafe { stream.launch(kernel, threads(call.count), &call, &used)? };
        for stride in length.strides() {
            let factors = self.table(Kind::There { points: 16, stride })?;
            self.pass(stream, &self.columns, length, items, to, (16, stride), &factors)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn pass(
        &self,
        stream: &Stream,
        kernel: &Kernel,
        length: &Length,
        items: usize,
        points: &Buffer,
        (radix, stride): (usize, usize),
        factors: &Buffer,
    ) -> Result<()> {
        let call = ColumnsCall {
            points: points.address(),
            factors: factors.address(),
            stride: small(stride),
            log_stride: stride.ilog2(),
            count: small(items * length.shape.points() / radix),
        };
        // SAFETY: the kernel takes this structure, and transforms the points of `items` items in place.
        unsafe { stream.launch(kernel, threads(call.count), &call, &[points, factors]) }
    }

    fn rows(
        &self,
        stream: &Stream,
        length: &Length,
        items: usize,
        task: RowTask,
        a: &Buffer,
        b: Option<(&Buffer, usize)>,
    ) -> Result<()> {
        let row = length.row();
        let table = |stride, back| {
            self.table(match back {
                false => Kind::There { points: 16, stride },
                true => Kind::Back { points: 16, stride, divisor: 1 },
            })
        };
        let tables = [table(16, false)?, table(256, false)?, table(16, true)?, table(256, true)?];
        let addresses = tables.each_ref().map(|table| table.address());
        let rows_of = |items: usize| small(items * length.shape.points() / row);
        let call = RowsCall {
            a: a.address(),
            b: b.map_or(0, |(b, _)| b.address()),
            there: [addresses[0], addresses[1]],
            back: [addresses[2], addresses[3]],
            b_rows: rows_of(b.map_or(items, |(_, items)| items)),
            count: rows_of(items),
        };
        let mut used: Vec<&Buffer> = tables.iter().map(|table| &**table).collect();
        used.push(a);
        used.extend(b.map(|(b, _)| b));
        let per_block = small(4096 / row);
        let shape = Shape {
            grid: call.count.div_ceil(per_block),
            block: BLOCK,
            shared_bytes: rows_shared_bytes(task),
        };
        let kernel = &self.row_kernels(length.has_long_rows())?[task as usize];
        // SAFETY: the kernel takes this structure, reads the points of b, as many rows as it has, and
        // transforms those of a in place.
        unsafe { stream.launch(kernel, shape, &call, &used) }
    }

    /// The transform of one number, for products with others.
    pub(crate) fn keep(
        &self,
        stream: &Stream,
        length: &Length,
        input: Input<'_>,
        contents: Contents,
    ) -> Result<Buffer> {
        let kept = self.device.buffer(length.bytes(), contents)?;
        self.columns_there(stream, length, input, 1, &kept)?;
        self.rows(stream, length, 1, RowTask::Keep, &kept, None)?;
        Ok(kept)
    }

    /// `items` products, to the output.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn multiply(
        &self,
        stream: &Stream,
        length: &Length,
        workspace: &Workspace,
        a: Input<'_>,
        b: Factor<'_>,
        items: usize,
        output: Output<'_>,
    ) -> Result<()> {
        let [Some(points), other] = &workspace.points else { unreachable!("there are points") };
        self.columns_there(stream, length, a, items, points)?;
        match b {
            Factor::Itself => self.rows(stream, length, items, RowTask::Square, points, None)?,
            Factor::Kept(kept) => {
                self.rows(stream, length, items, RowTask::MultiplyKept, points, Some((kept, 1)))?
            }
            Factor::Numbers(numbers) => {
                let other = other.as_ref().expect("both factors have points");
                let count = if numbers.stride == 0 { 1 } else { items };
                let input = Input::plain(numbers, a.buffers);
                self.columns_there(stream, length, input, count, other)?;
                self.rows(stream, length, items, RowTask::Multiply, points, Some((other, count)))?;
            }
        }
        for stride in length.strides().rev() {
            let factors = self.table(Kind::Back { points: 16, stride, divisor: 1 })?;
            self.pass(stream, &self.columns_back, length, items, points, (16, stride), &factors)?;
        }
        let (first, stride) = (length.first(), length.shape.columns / length.first());
        let divisor = length.shape.points();
        let factors = self.table(Kind::Back { points: first, stride, divisor })?;
        let last = &self.last[first.ilog2() as usize - 1];
        self.pass(stream, last, length, items, points, (first, stride), &factors)?;
        self.join(stream, length, items, points)?;
        self.carry(stream, length, workspace, points, items, output)
    }

    fn carry(
        &self,
        stream: &Stream,
        length: &Length,
        workspace: &Workspace,
        points: &Buffer,
        items: usize,
        output: Output<'_>,
    ) -> Result<()> {
        let blocks = carry_blocks(output.words, length.digit_bits);
        let call = CarryCall {
            points: points.address(),
            count: small(length.shape.points()),
            results: output.buffer.address(),
            result_stride: output.words,
            flags: workspace.flags.address(),
            blocks,
        };
        let grid = blocks * small(items);
        stream.fill(&workspace.flags, 0..4 * (1 + grid as usize), 0)?;
        let shape = Shape { grid, block: CARRY_BLOCK, shared_bytes: carry_shared_bytes(length.digit_bits) };
        let kernel = self.carry_kernel(length.digit_bits)?;
        // SAFETY: the kernel takes this structure, reads the coefficients of `items` items, and writes their
        // products and the flags of their blocks.
        unsafe { stream.launch(&kernel, shape, &call, &[points, output.buffer, &workspace.flags]) }
    }

    /// From several rows to coefficients in order, in place.
    fn join(&self, stream: &Stream, length: &Length, items: usize, points: &Buffer) -> Result<()> {
        let kernel = match length.shape.rows {
            1 => return Ok(()),
            3 => &self.join[0],
            _ => &self.join[1],
        };
        let roots = self.table(Kind::InverseRoots(length.shape.rows))?;
        let columns = length.shape.columns;
        let call = JoinCall {
            points: points.address(),
            roots: roots.address(),
            columns: small(columns),
            log_columns: columns.ilog2(),
            count: small(items * columns),
        };
        // SAFETY: the kernel takes this structure, and changes the points of `items` items in place.
        unsafe { stream.launch(kernel, threads(call.count), &call, &[points, &roots]) }
    }

    fn remainder(&self, stream: &Stream, items: usize, call: &RemainderCall, used: &[&Buffer]) -> Result<()> {
        let shape = Shape { grid: small(items), block: BLOCK, shared_bytes: REMAINDER_SHARED_BYTES };
        // SAFETY: the kernel takes this structure, reads `items` numbers of each kind, and writes as many results.
        unsafe { stream.launch(&self.remainder, shape, call, used) }
    }
}

#[cfg(test)]
mod tests;
