//! The programs of the kernels.
#![allow(unsafe_code)] // launches kernels

use super::calls::LayoutCall;
use super::shape::UNIT_BYTES;
use crate::compiler::Program;
use crate::device::{Buffer, Device, Kernel, Limits, Shape, Stream};
use crate::error::{Error, Result};

/// Threads of a block.
pub(super) const BLOCK: u32 = 256;

/// The most stages of the copies to shared memory.
const MOST_STAGES: u32 = 4;

/// Bytes of shared memory of a stage, for products of `64 across` columns of vectors.
fn stage_bytes(across: u32) -> u32 {
    (BLOCK / 32 / across + across) * 2 * UNIT_BYTES as u32
}

fn program(name: String, file: &str, resident: u32, defines: &[(&str, u32)]) -> Program {
    let defines = [&[("BLOCK", BLOCK), ("RESIDENT", resident)], defines].concat();
    Program::new(name, &["device", file], &defines)
}

/// Layouts and products with one vector.
fn vectors_program() -> Program {
    program("residue matrix by one vector".to_owned(), "residue_matrix", 3, &[])
}

/// Products with many vectors.
fn products_program(across: u32, stages: u32) -> Program {
    let name = format!("residue matrix by {} columns", 64 * across);
    program(name, "residue_product", 1, &[("ACROSS", across), ("STAGES", stages)])
}

/// All programs of matrices in residues, for a device with these limits.
#[must_use]
pub fn residue_matrix_programs(limits: &Limits) -> Vec<Program> {
    let products = [1, 2, 4].into_iter().filter_map(|across| {
        let (across, stages) = tile(across, limits)?;
        Some(products_program(across, stages))
    });
    std::iter::once(vectors_program()).chain(products).collect()
}

/// The width and the stages of products with at least `64 across` columns of vectors, or the next width whose
/// two stages fit the shared memory.
fn tile(across: u32, limits: &Limits) -> Option<(u32, u32)> {
    let widths = [1, 2, 4].into_iter().filter(|&width| width >= across);
    let mut tiles =
        widths.map(|width| (width, (limits.shared_per_block / stage_bytes(width)).min(MOST_STAGES)));
    tiles.find(|(_, stages)| *stages >= 2)
}

/// The kernels that lay out a matrix, and those for one vector.
pub(super) struct Layouts {
    layout: Kernel,
    expand: Kernel,
}

impl Layouts {
    pub(super) fn load(device: &Device) -> Result<Self> {
        let module = device.compile(&vectors_program())?;
        Ok(Self { layout: module.kernel("matrix_layout")?, expand: module.kernel("matrix_expand")? })
    }

    /// Lays out rows as the host has them, which are in the buffer `plain`, or expands them from a seed if
    /// there is none.
    pub(super) fn write(
        &self,
        stream: &Stream,
        call: &LayoutCall,
        plain: Option<&Buffer>,
        moduli: &Buffer,
        units: &Buffer,
    ) -> Result<()> {
        let kernel = if plain.is_some() { &self.layout } else { &self.expand };
        // A tile of 32 rows of 17 words for each warp.
        let shape = Shape {
            grid: blocks(call.written_units(), BLOCK / 32)?,
            block: BLOCK,
            shared_bytes: BLOCK / 32 * 32 * 17 * 4,
        };
        assert!(call.bytes() <= units.bytes() as u64, "the units have their memory");
        let used = [plain.unwrap_or(moduli), moduli, units];
        // SAFETY: the kernel takes this structure; it reads the rows and columns that the call names, and
        // writes units within the memory that was just checked.
        unsafe { stream.launch(kernel, shape, call, &used) }
    }
}

/// Blocks for `work` units of work.
pub(super) fn blocks(work: u64, per_block: u32) -> Result<u32> {
    let blocks = work.div_ceil(u64::from(per_block));
    u32::try_from(blocks).ok().filter(|&blocks| blocks < 1 << 31).ok_or(Error::TooLong {
        what: "a section of a matrix",
        bits: usize::try_from(blocks).unwrap_or(usize::MAX),
        limit: 1 << 31,
    })
}

/// The kernels that multiply.
pub(super) enum ProductKernels {
    /// One vector at a time.
    Single { kernel: Kernel },
    /// Many vectors at once.
    Many { across: u32, shared_bytes: u32, factors: Kernel, product: Kernel },
}

impl ProductKernels {
    /// The kernels for `vectors` vectors of `columns` columns in all: one column for a vector of bits, four
    /// for one of residues.
    pub(super) fn load(device: &Device, vectors: usize, columns: usize, is_bits: bool) -> Result<Self> {
        let name = |bits, words| if is_bits { bits } else { words };
        let wanted = match columns {
            0..=64 => 1,
            65..=128 => 2,
            _ => 4,
        };
        let tile = tile(wanted, device.limits()).filter(|_| vectors > 1);
        let Some((across, stages)) = tile else {
            let module = device.compile(&vectors_program())?;
            return Ok(Self::Single {
                kernel: module.kernel(name("matrix_vector_bits", "matrix_vector_words"))?,
            });
        };
        let module = device.compile(&products_program(across, stages))?;
        Ok(Self::Many {
            across,
            shared_bytes: stages * stage_bytes(across),
            factors: module.kernel(name("matrix_factors_bits", "matrix_factors_words"))?,
            product: module.kernel(name("matrix_product_bits", "matrix_product_words"))?,
        })
    }
}
