//! The programs of the family, and their kernels on a device.

use super::length::{LEAST_DIGIT_BITS, Length, MOST_DIGIT_BITS};
use crate::compiler::Program;
use crate::device::{Device, Kernel, Limits, Module};
use crate::error::Result;
use crate::memo::Memo;
use std::sync::Arc;

/// Threads of a block, at most; rows and carries have as many.
pub(super) const BLOCK: u32 = 256;

/// Bits of the digits of sums with weights: words.
pub(super) const WORD_BITS: u32 = 32;

/// The programs of this family, for all lengths: passes, cuts into digits, rows of 256 points and of 4096,
/// sums, and carries of digits of each length.
pub fn transforms_programs() -> impl Iterator<Item = Program> {
    let others = [passes(), cuts(), rows(false, true), rows(true, true), sums()];
    others.into_iter().chain((LEAST_DIGIT_BITS..=MOST_DIGIT_BITS).chain([WORD_BITS]).map(carries))
}

/// The programs that transforms of a length take on a device.
pub(crate) fn programs_for(length: &Length, limits: &Limits) -> [Program; 4] {
    [passes(), cuts(), rows(length.has_long_rows(), has_own_words(limits)), carries(length.digit_bits)]
}

fn passes() -> Program {
    let files =
        ["fft_columns", "fft_passes", "fft_join", "fft_chain", "fft_remainder", "fft_choose", "fft_extract"];
    program("passes", &files, 2, &[])
}

fn cuts() -> Program {
    program("cuts", &["fft_columns", "fft_cut"], 3, &[])
}

fn sums() -> Program {
    program("sums", &["fft_sums", "fft_weighted"], 2, &[])
}

/// The products of rows. If `own_words`, shared memory has words of each thread's own for the second factor.
fn rows(long: bool, own_words: bool) -> Program {
    let name = if long { "long rows" } else { "short rows" };
    let defines = [("LONG_ROWS", u32::from(long)), ("OWN_WORDS", u32::from(own_words))];
    program(name, &["fft_rows"], 2, &defines)
}

/// Whether a device's shared memory has room for the points of a block of rows and for words of each thread's
/// own.
pub(super) fn has_own_words(limits: &Limits) -> bool {
    limits.shared_per_block >= 8 * (ROW_PLACES + ROW_POINTS)
}

/// Points of a block of rows.
const ROW_POINTS: u32 = 4096;

/// Places of these points in shared memory: one is left out after sixteen.
const ROW_PLACES: u32 = ROW_POINTS + ROW_POINTS / 16;

/// Bytes of shared memory of a block of rows.
pub(super) fn rows_shared_bytes(task: RowTask, limits: &Limits) -> u32 {
    let own = match task {
        RowTask::Multiply | RowTask::MultiplyKept if has_own_words(limits) => ROW_POINTS,
        RowTask::Multiply | RowTask::MultiplyKept | RowTask::Square | RowTask::Keep | RowTask::Back => 0,
    };
    8 * (ROW_PLACES + own)
}

fn carries(digit_bits: u32) -> Program {
    let name = format!("carries of {digit_bits} bits");
    program(&name, &["fft_chain", "fft_carry"], 2, &[("DIGIT_BITS", digit_bits)])
}

fn program(name: &str, files: &[&str], resident: u32, defines: &[(&str, u32)]) -> Program {
    let files = [&["device", "numbers", "fft_field", "fft_butterfly"], files].concat();
    let defines = [&[("BLOCK", BLOCK), ("RESIDENT", resident)], defines].concat();
    Program::new(format!("transforms: {name}"), &files, &defines)
}

/// The kernels on a device.
pub(super) struct Kernels {
    device: Device,
    /// The kernels that cut numbers for transforms of one row, and of several.
    pub(super) cut: [ByRadix; 2],
    pub(super) cut_half: ByRadix,
    pub(super) columns: Kernel,
    pub(super) columns_back: Kernel,
    pub(super) last: ByRadix,
    /// The kernels that join coefficients, for three rows and for five.
    pub(super) join: [Kernel; 2],
    pub(super) remainder: Kernel,
    pub(super) extract: Kernel,
    /// The kernels that choose table entries, by `Reads`.
    pub(super) choose: [Kernel; 2],
    /// The kernels of short rows and of long ones, compiled when they are first needed.
    rows: Memo<bool, Arc<RowKernels>>,
    /// The kernels of carries by the bits of digits, compiled when they are first needed.
    carry: Memo<u32, Kernel>,
    /// The kernels of sums of products and of sums with weights, compiled when they are first needed.
    sums: Memo<(), [Kernel; 2]>,
}

/// A kernel for transforms of 2, 4, 8 and 16 points.
pub(super) type ByRadix = [Kernel; 4];

fn by_radix(module: &Module, name: &str) -> Result<ByRadix> {
    let kernel = |radix: u32| module.kernel(&format!("{name}_{radix}"));
    Ok([kernel(2)?, kernel(4)?, kernel(8)?, kernel(16)?])
}

/// The kernels for rows of one length, by `RowTask`.
pub(super) type RowKernels = [Kernel; 5];

/// An operation on rows; the index of its kernel.
#[derive(Clone, Copy)]
pub(super) enum RowTask {
    Multiply,
    Square,
    MultiplyKept,
    Keep,
    Back,
}

impl Kernels {
    pub(super) fn load(device: &Device) -> Result<Self> {
        let (module, cuts) = (device.compile(&passes())?, device.compile(&cuts())?);
        Ok(Self {
            device: device.clone(),
            cut: [by_radix(&cuts, "fft_cut")?, by_radix(&cuts, "fft_cut_rows")?],
            cut_half: by_radix(&cuts, "fft_cut_half")?,
            columns: module.kernel("fft_columns")?,
            columns_back: module.kernel("fft_columns_back")?,
            last: by_radix(&module, "fft_last")?,
            rows: Memo::new(),
            join: [module.kernel("fft_join_3")?, module.kernel("fft_join_5")?],
            carry: Memo::new(),
            sums: Memo::new(),
            remainder: module.kernel("fft_remainder")?,
            extract: module.kernel("fft_extract")?,
            choose: [module.kernel("fft_choose")?, module.kernel("fft_choose_direct")?],
        })
    }

    pub(super) fn rows(&self, long: bool) -> Result<Arc<RowKernels>> {
        self.rows.get(&long, || {
            let module = self.device.compile(&rows(long, has_own_words(self.device.limits())))?;
            let kernel = |name: &str| module.kernel(&format!("fft_{name}rows"));
            Ok(Arc::new([
                kernel("")?,
                kernel("square_")?,
                kernel("kept_")?,
                kernel("keep_")?,
                kernel("back_")?,
            ]))
        })
    }

    pub(super) fn carry(&self, digit_bits: u32) -> Result<Kernel> {
        self.carry.get(&digit_bits, || self.device.compile(&carries(digit_bits))?.kernel("fft_carry"))
    }

    pub(super) fn sums(&self) -> Result<[Kernel; 2]> {
        self.sums.get(&(), || {
            let module = self.device.compile(&sums())?;
            Ok([module.kernel("fft_sums")?, module.kernel("fft_weighted")?])
        })
    }
}
