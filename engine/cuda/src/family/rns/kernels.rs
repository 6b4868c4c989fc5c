//! The residue family's kernels and constants on a device, and the sequence in which the kernels run.
//!
//! A power is a sequence of kernels: B^2 modulo N and the residues of moduli and bases, the power itself on
//! the tensor cores, and words again.
#![allow(unsafe_code)] // launches kernels

use super::Rns;
use super::calls::{ConversionCall, PowerCall, RadixCall, WordsCall};
use super::layout::{OneModulusKernel, ResidueLayout};
use super::tables::{self, MergedTables, SizeTables, radix_square};
use crate::call::{Numbers, word};
use crate::device::{Buffer, Contents, Device, Kernel, Module, Shape, Stream};
use crate::error::{Error, Result};
use crate::task::Task;
use crate::variant::Variant;
use modmill_core::rns::Bases;
use std::sync::Arc;

/// The family's kernels and constants on a device.
pub(crate) struct Residues {
    pub(super) variant: Variant,
    pub(super) layout: ResidueLayout,
    pub(super) bases: Arc<Bases>,
    tables: SizeTables,
    moduli: Kernel,
    numbers: Kernel,
    radix: Kernel,
    words: Kernel,
}

/// Work buffers for chunks of some size.
pub(crate) struct ResidueWork {
    /// B^2 modulo every modulus.
    radix: Buffer,
    /// Tiles of the moduli, and the tables of powers.
    workspace: Buffer,
    /// Tiles of the first and second operands and of the results.
    tiles: [Buffer; 3],
    /// Items of a tile.
    tile_items: usize,
}

impl ResidueWork {
    /// Items of a tile, and so flags of one modulus for all items.
    pub(crate) fn tile_items(&self) -> usize {
        self.tile_items
    }
}

/// Threads of a block of the conversions.
const BLOCK: u32 = 32;

/// One chunk: the task, its operands, and the places of its results.
pub(crate) struct Request<'a> {
    pub(crate) task: Task,
    pub(crate) a: Numbers,
    pub(crate) b: Numbers,
    pub(crate) moduli: Numbers,
    pub(crate) count: u32,
    pub(crate) results: Numbers,
    /// One flag per modulus: non-zero if it shares a factor with base B.
    pub(crate) flags: &'a Buffer,
    /// Whether the one modulus of all items, and its flags, are there from a chunk before.
    pub(crate) is_set_up: bool,
}

/// The places that [`Flow::set_up`] writes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModuliPlace {
    /// B^2 modulo every modulus.
    pub(crate) radix: u64,
    /// The tiles of the moduli.
    pub(crate) tiles: u64,
    /// One flag per modulus: non-zero if it shares a factor with base B.
    pub(crate) flags: u64,
}

/// The constants of a job's moduli on the device.
pub(crate) struct JobConstants {
    /// B^2 for moduli of some limbs.
    pub(super) radix: RadixSquare,
    /// The matrices of the one modulus of all items, if it is worth them.
    pub(super) merged: Option<OneModulus>,
}

/// The matrices that one modulus is a part of, and the kernel for powers with them.
pub(super) struct OneModulus {
    pub(super) layout: ResidueLayout,
    pub(super) tables: MergedTables,
    pub(super) power: Kernel,
}

pub(super) struct RadixSquare {
    words: Buffer,
    leading_words: usize,
    digit_count: u32,
    first_bits: u32,
}

impl Residues {
    /// The kernels of a module of conversions, and the constants of a variant of this family.
    pub(crate) fn load(device: &Device, module: &Module, variant: &Variant) -> Result<Self> {
        let none = || Error::NoKernel { name: format!("in residues for {variant:?}") };
        let Rns { residues: layout, bases } = variant.rns().ok_or_else(none)?;
        Ok(Self {
            variant: *variant,
            layout,
            tables: SizeTables::new(device, &layout, &bases, variant.words as usize)?,
            bases,
            moduli: module.kernel("residue_moduli")?,
            numbers: module.kernel("residue_numbers")?,
            radix: module.kernel("residue_radix")?,
            words: module.kernel("residue_words")?,
        })
    }

    /// The constants of a task for moduli of `limbs` limbs. `merged` is the one modulus of all items if it is
    /// worth matrices of its own.
    pub(crate) fn job_constants(
        &self,
        device: &Device,
        task: &Task,
        limbs: usize,
        merged: Option<&[u64]>,
    ) -> Result<JobConstants> {
        let merged = merged.map(|modulus| self.one_modulus(device, task, modulus)).transpose()?.flatten();
        Ok(JobConstants { radix: self.radix_square(device, limbs)?, merged })
    }

    fn one_modulus(&self, device: &Device, task: &Task, modulus: &[u64]) -> Result<Option<OneModulus>> {
        let (kernel, name) = match task.is_masked() {
            true => (OneModulusKernel::Power, "residue_power"),
            false => (OneModulusKernel::PowerVartime, "residue_power_vartime"),
        };
        let Some(layout) = self.layout.merged(kernel) else { return Ok(None) };
        let tables = MergedTables::new(device, &layout, &self.bases, modulus)?;
        let program = self.variant.merged_program(task.part());
        let (Some(tables), Some(program)) = (tables, program) else { return Ok(None) };
        let power = device.compile(&program)?.kernel(name)?;
        Ok(Some(OneModulus { layout, tables, power }))
    }

    /// B^2 in the form that `residue_radix` takes.
    pub(super) fn radix_square(&self, device: &Device, limbs: usize) -> Result<RadixSquare> {
        let (leading, digits, first_bits) = radix_square(self.bases.product_b(), limbs);
        let mut words = leading.clone();
        words.extend(&digits);
        Ok(RadixSquare {
            words: tables::upload(device, &words, Contents::Public)?,
            leading_words: leading.len(),
            digit_count: word(digits.len())?,
            first_bits,
        })
    }

    /// Memory for chunks of at most `size` items, computed by `threads` threads at a time.
    pub(crate) fn work(
        &self,
        device: &Device,
        size: usize,
        shared_modulus: bool,
        task: Task,
        threads: usize,
    ) -> Result<ResidueWork> {
        let contents = task.contents();
        let layout = &self.layout;
        let moduli = if shared_modulus { layout.tile_items() } else { size };
        let tables = self.tables_bytes(task, threads);
        let side = || device.buffer(self.side_bytes(size), contents);
        Ok(ResidueWork {
            radix: device.buffer(4 * layout.words() as usize * moduli, contents)?,
            workspace: device.buffer(self.moduli_bytes(moduli) + tables, contents)?,
            tiles: [side()?, side()?, side()?],
            tile_items: layout.tile_items(),
        })
    }

    /// Bytes of the tables of `threads` threads.
    pub(crate) fn tables_bytes(&self, task: Task, threads: usize) -> usize {
        self.layout.entry_bytes() * task.residue_entries() * threads.div_ceil(32)
    }

    /// Bytes of the tiles of `count` numbers.
    pub(crate) fn side_bytes(&self, count: usize) -> usize {
        self.layout.side_bytes() * count.div_ceil(self.layout.tile_items())
    }

    /// Bytes of the tiles of `moduli` moduli.
    pub(crate) fn moduli_bytes(&self, moduli: usize) -> usize {
        self.layout.modulus_bytes() * moduli.div_ceil(self.layout.tile_items())
    }

    /// The way to launch kernels that work with the buffers `used` and the constants of a job.
    pub(crate) fn on<'a>(
        &'a self,
        stream: &'a Stream,
        constants: &'a JobConstants,
        used: &[&'a Buffer],
    ) -> Flow<'a> {
        let own = [&self.tables.buffer, &constants.radix.words];
        let merged = constants.merged.iter().map(|merged| &merged.tables.buffer);
        let used = used.iter().copied().chain(own).chain(merged).collect();
        Flow { residues: self, stream, constants, used }
    }

    fn channels(&self) -> u32 {
        u32::try_from(self.bases.channels()).unwrap_or(u32::MAX)
    }

    fn conversion(&self) -> ConversionCall {
        ConversionCall {
            channels: self.tables.channels(),
            conversions: self.tables.conversions(),
            powers: self.tables.powers(),
            ..ConversionCall::default()
        }
    }
}

/// A stream on which the kernels run, one after the other, with the constants of a job.
pub(crate) struct Flow<'a> {
    residues: &'a Residues,
    stream: &'a Stream,
    constants: &'a JobConstants,
    /// The buffers that the kernels work with.
    used: Vec<&'a Buffer>,
}

impl<'a> Flow<'a> {
    /// Launches all kernels of a chunk. `power` is the task's own kernel; `blocks` is the number of its
    /// blocks and of their threads.
    pub(crate) fn run(
        mut self,
        work: &'a ResidueWork,
        request: &Request<'a>,
        power: &Kernel,
        blocks: (u32, u32),
    ) -> Result<()> {
        let &Request { task, a, b, moduli, count, results, flags, is_set_up } = request;
        let Residues { layout, .. } = self.residues;
        self.used.extend([&work.radix, &work.workspace, flags]);
        self.used.extend(&work.tiles);
        let shared_modulus = moduli.stride == 0;
        let modulus_count = if shared_modulus { layout.tile_items() as u32 } else { count };
        if !is_set_up {
            self.stream.fill(flags, 0..4 * modulus_count as usize, 0)?;
            let (radix, tiles) = (work.radix.address(), work.workspace.address());
            self.set_up(moduli, count, ModuliPlace { radix, tiles, flags: flags.address() })?;
        }
        let operands = [Some(a), task.multiplies_b().then_some(b)];
        for (input, tiles) in operands.into_iter().zip(&work.tiles) {
            let Some(input) = input else { continue };
            self.enter(input, count, tiles.address())?;
        }
        let (exponent_bits, window) = task.exponent();
        let call = PowerCall {
            workspace: work.workspace.address(),
            bases: work.tiles[0].address(),
            results: work.tiles[2].address(),
            seconds: work.tiles[1].address(),
            exponents: b,
            exponent_bits,
            window,
            count,
            modulus_stride: u32::from(!shared_modulus),
            tables: word(self.residues.moduli_bytes(modulus_count as usize) / 8)?,
            ..PowerCall::default()
        };
        self.power(task, power, blocks, call)?;
        self.leave(work.tiles[2].address(), moduli, count, results)
    }

    /// Computes the tiles of moduli, with B^2 modulo each. One modulus of all items fills every row of a
    /// tile.
    pub(crate) fn set_up(&self, moduli: Numbers, count: u32, place: ModuliPlace) -> Result<()> {
        let Self { residues, stream, constants: JobConstants { radix, merged }, used } = self;
        let is_shared = moduli.stride == 0;
        let words = residues.layout.words();
        let call = RadixCall {
            moduli,
            leading: radix.words.address(),
            digits: radix.words.address() + 4 * radix.leading_words as u64,
            rows: place.radix,
            digit_count: radix.digit_count,
            first_bits: radix.first_bits,
            count: if is_shared { 1 } else { count },
            limbs: moduli.length / 2,
        };
        // SAFETY: the kernel takes this structure, reads `count` moduli and the digits, and writes `count`
        // rows.
        unsafe { stream.launch(&residues.radix, one_thread_each(call.count), &call, used)? };
        let call = ConversionCall {
            input: moduli,
            radix: Numbers { address: place.radix, stride: if is_shared { 0 } else { words }, length: words },
            tiles: place.tiles,
            flags: place.flags,
            roots: merged.as_ref().map_or(0, |merged| merged.tables.roots()),
            count: if is_shared { residues.layout.tile_items() as u32 } else { count },
            ..residues.conversion()
        };
        let threads = 2 * residues.channels() * call.count;
        // SAFETY: the kernel takes this structure, reads `count` moduli and rows, and writes their tiles and
        // flags.
        unsafe { stream.launch(&residues.moduli, one_thread_each(threads), &call, used) }
    }

    /// Computes the tiles of numbers.
    pub(crate) fn enter(&self, input: Numbers, count: u32, tiles: u64) -> Result<()> {
        let Self { residues, stream, used, .. } = self;
        let call = ConversionCall { input, tiles, count, ..residues.conversion() };
        let threads = residues.channels() * count;
        // SAFETY: the kernel takes this structure, reads `count` numbers and writes their tiles.
        unsafe { stream.launch(&residues.numbers, one_thread_each(threads), &call, used) }
    }

    /// Computes powers or products of tiles, by the task's own kernel or by the kernel for one modulus. The
    /// constants of the size are filled in here.
    pub(crate) fn power(
        &self,
        task: Task,
        kernel: &Kernel,
        blocks: (u32, u32),
        call: PowerCall,
    ) -> Result<()> {
        let kernel = self.constants.merged.as_ref().map_or(kernel, |merged| &merged.power);
        // SAFETY: the kernel takes this structure, reads the tiles of `count` items, the constants and the
        // exponents, keeps a table for each warp in the workspace, and writes the tiles of the results.
        unsafe { self.launch_tiles(kernel, task.is_masked(), blocks, call) }
    }

    /// Launches a kernel that computes with tiles. The matrices and channels of the call are filled in here.
    /// `scans` says whether the kernel scans tables for secret digits in shared memory.
    ///
    /// # Safety
    /// The kernel takes a [`PowerCall`], and reads and writes what the call names within the buffers in use.
    pub(super) unsafe fn launch_tiles(
        &self,
        kernel: &Kernel,
        scans: bool,
        (grid, block): (u32, u32),
        call: PowerCall,
    ) -> Result<()> {
        let Residues { layout, tables, .. } = self.residues;
        let (layout, matrices, channels) = match &self.constants.merged {
            Some(OneModulus { layout, tables, .. }) => (layout, tables.matrices(), tables.channels()),
            None => (layout, tables.matrices(), tables.channels()),
        };
        let call = PowerCall { matrices, channels, ..call };
        let shape = Shape { grid, block, shared_bytes: layout.shared_bytes(scans) };
        // SAFETY: the caller vouches for the kernel; matrices and channels are those of its layout.
        unsafe { self.stream.launch(kernel, shape, &call, &self.used) }
    }

    /// Computes the words of tiles, below their moduli.
    pub(crate) fn leave(&self, tiles: u64, moduli: Numbers, count: u32, results: Numbers) -> Result<()> {
        let Residues { tables, words, .. } = self.residues;
        let call = WordsCall {
            tiles,
            channels: tables.channels(),
            cofactors: tables.cofactors(),
            moduli,
            results: results.address,
            result_stride: results.stride,
            result_length: results.length,
            count,
            limbs: moduli.length / 2,
        };
        // SAFETY: the kernel takes this structure, reads `count` tiles and moduli, and writes `count`
        // results.
        unsafe { self.stream.launch(words, one_thread_each(count), &call, &self.used) }
    }
}

/// One thread for each of `count` numbers. Blocks are small, so that a few thousand threads reach every
/// multiprocessor.
fn one_thread_each(count: u32) -> Shape {
    Shape { grid: count.div_ceil(BLOCK), block: BLOCK, shared_bytes: 0 }
}
