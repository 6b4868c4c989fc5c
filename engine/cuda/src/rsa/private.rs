//! `c^d mod n` by the Chinese remainder theorem:
//!
//! ```text
//! blocks -> numbers -> numbers modulo p and q -> residues -> powers -> words -> Garner's step -> check -> blocks
//! ```
#![allow(unsafe_code)] // launches kernels

use super::TILE_ITEMS;
use super::fault::{Fault, Injector, Stage};
use super::keys::{KeyPlaces, KeyRows};
use super::public::Public;
use crate::call::{Numbers, word};
use crate::constants::launch_constants;
use crate::device::{Buffer, Contents, Device, HostBuffer, Kernel, Shape, Stream, kernel_structs};
use crate::error::{Error, Result};
use crate::family::rns::calls::PowerCall;
use crate::family::rns::kernels::{JobConstants, ModuliPlace, Residues};
use crate::kernels::TaskKernels;
use crate::pipeline::{Chunk, Footprint, Stages};
use crate::staging::words;
use crate::task::Task;
use crate::variant::{GARNER_BLOCK, Variant};
use modmill_core::{PerItem, PublicPowers};

kernel_structs! {
    /// `Bases` of `rsa.cuh`.
    struct BasesCall: 40 bytes {
        numbers at 0: u64,
        words at 8: u32,
        count at 12: u32,
        constants at 16: u64,
        constants_stride at 24: u32,
        second at 28: u32,
        bases at 32: u64,
    }

    /// `Join` of `rsa.cuh`.
    struct JoinCall: 64 bytes {
        halves at 0: u64,
        half_words at 8: u32,
        count at 12: u32,
        constants at 16: u64,
        constants_stride at 24: u32,
        second at 28: u32,
        coefficients at 32: Numbers,
        results at 48: u64,
        words at 56: u32,
    }
}

/// The kernels of a size, the constants of keys, and memory for a chunk.
pub(super) struct Private<'a, 'j> {
    kernels: &'a TaskKernels,
    residues: &'a Residues,
    task: Task,
    /// The keys of the job, and how their parts lie in memory. If every chunk carries the keys of its items,
    /// its two halves are computed together, with moduli by item, and not one after the other.
    rows: KeyRows<'a, 'j>,
    check: Public,
    plain: Plain,
    /// For the primes of any key; or for the first prime of one and for the second, in matrices of their own.
    constants: Vec<JobConstants>,
    /// The key on the device, where all items have it.
    key: Option<Buffer>,
    memory: Memory,
    injector: Option<Injector>,
}

/// Kernels in plain integer code.
struct Plain {
    constants: Kernel,
    bases: Kernel,
    join: Kernel,
}

/// Memory for a chunk, with everything twice that halves have.
struct Memory {
    /// Rows of constants of the primes.
    constants: Buffer,
    /// Numbers that are right modulo the primes.
    bases: Buffer,
    /// B^2 modulo the primes, and whether residues cannot serve one.
    radix: Buffer,
    flags: Buffer,
    /// Tiles of the primes, and tables.
    workspace: Buffer,
    /// Tiles of bases and of powers.
    tiles: [Buffer; 2],
    /// The powers.
    halves: Buffer,
    /// The answers that will be released.
    answers: Buffer,
}

impl<'a, 'j> Private<'a, 'j> {
    /// Ready for chunks of at most `size` items; one key is prepared here.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        device: &Device,
        kernels: &'a TaskKernels,
        task: Task,
        check: Variant,
        rows: KeyRows<'a, 'j>,
        size: usize,
        fault: Option<Fault>,
    ) -> Result<Self> {
        let none = || Error::NoKernel { name: "for residues".to_owned() };
        let residues = kernels.residues.as_deref().ok_or_else(none)?;
        let words = kernels.variant.words as usize;
        let module = device.compile(&kernels.variant.garner_program().ok_or_else(none)?)?;
        let plain = Plain {
            constants: module.kernel("constants")?,
            bases: module.kernel("rsa_bases")?,
            join: module.kernel("rsa_join")?,
        };
        let KeyRows { job, per_item: together } = rows;
        let modulus_of = |item: usize| job.moduli.get(item).modulus;
        let public = PublicPowers {
            count: job.count,
            moduli: match job.moduli {
                PerItem::One(key) => PerItem::One(key.modulus),
                PerItem::Each(_) => PerItem::Each(&modulus_of),
            },
            bits: job.bits,
            exponent: job.public_exponent,
            secret: true,
        };
        let constants = |prime: Option<&[u64]>| residues.job_constants(device, &task, job.prime_limbs, prime);
        let constants = if together {
            vec![constants(None)?]
        } else {
            let primes = job.moduli.get(0).primes;
            let (first, second) = rayon::join(|| constants(Some(primes[0])), || constants(Some(primes[1])));
            vec![first?, second?]
        };
        let buffer = |bytes: usize| device.buffer(bytes.max(16), Contents::Secret);
        // One key stands in every row of a tile.
        let (keys, tiled, at_once) =
            if together { (2 * size, 2 * size, 2 * size) } else { (2, 2 * TILE_ITEMS, size) };
        let threads = kernels.residue_threads(at_once);
        let memory = Memory {
            constants: buffer(4 * (4 + 3 * words) * keys)?,
            bases: buffer(4 * (words + 2) * 2 * size)?,
            radix: buffer(4 * words * keys)?,
            flags: device.buffer(4 * tiled, Contents::Public)?,
            workspace: buffer(residues.moduli_bytes(tiled) + residues.tables_bytes(task, threads))?,
            tiles: [buffer(residues.side_bytes(2 * size))?, buffer(residues.side_bytes(2 * size))?],
            halves: buffer(16 * job.prime_limbs * size)?,
            answers: buffer(8 * job.bits.div_ceil(64) * size)?,
        };
        let mut private = Self {
            kernels,
            residues,
            task,
            rows,
            check: Public::new(device, check, &public, size, Contents::Secret)?,
            plain,
            constants,
            key: None,
            memory,
            injector: fault.map(|fault| Injector::new(device, fault)).transpose()?,
        };
        if !together {
            private.prepare_one(device)?;
        }
        Ok(private)
    }

    fn prepare_one(&mut self, device: &Device) -> Result<()> {
        let stream = device.stream()?;
        let gather = |staging: &mut HostBuffer| self.rows.gather(0..1, 1, staging.limbs_mut());
        let key = device.upload_with(8 * self.rows.limbs_of(1), Contents::Secret, gather)?;
        self.set_up(&stream, &key, key.address(), 1)?;
        self.key = Some(key);
        stream.synchronize()
    }

    /// The primes of `half` of the keys; of one key that all items share, with stride 0.
    fn numbers(&self, address: u64, limbs: usize, half: usize) -> Numbers {
        let length = words(limbs);
        let stride = if self.rows.per_item { length } else { 0 };
        Numbers { address: address + (8 * limbs * half) as u64, stride, length }
    }

    /// Computes the constants of the primes of `rows` keys, in plain arithmetic and in residues.
    fn set_up(&self, stream: &Stream, keys: &Buffer, address: u64, rows: usize) -> Result<()> {
        let Self { residues, memory, constants, rows: KeyRows { job, .. }, .. } = self;
        let limbs = word(job.prime_limbs)?;
        let primes = self.rows.places(address, rows).primes;
        let moduli = Numbers { address: primes, stride: 2 * limbs, length: 2 * limbs };
        let kernel = &self.plain.constants;
        launch_constants(stream, kernel, GARNER_BLOCK, moduli, 2 * rows, &memory.constants, &[keys])?;
        let used = [keys, &memory.radix, &memory.workspace, &memory.flags];
        let place = ModuliPlace {
            radix: memory.radix.address(),
            tiles: memory.workspace.address(),
            flags: memory.flags.address(),
        };
        if self.rows.per_item {
            let moduli = self.numbers(primes, job.prime_limbs, 0);
            return residues.on(stream, &constants[0], &used).set_up(moduli, word(2 * rows)?, place);
        }
        for (half, constants) in constants.iter().enumerate() {
            let moduli = self.numbers(primes, job.prime_limbs, half);
            let place = ModuliPlace { tiles: place.tiles + self.one_modulus(half), ..place };
            residues.on(stream, constants, &used).set_up(moduli, 1, place)?;
        }
        Ok(())
    }

    /// Bytes before the tile of the prime of a half.
    fn one_modulus(&self, half: usize) -> u64 {
        (half * self.residues.moduli_bytes(TILE_ITEMS)) as u64
    }

    /// Powers of the tiles of bases, as words.
    fn powers(&self, stream: &Stream, keys: &Buffer, places: KeyPlaces, rows: usize) -> Result<()> {
        let Self { residues, memory, rows: KeyRows { job, .. }, .. } = self;
        let (exponent_bits, window) = self.task.exponent();
        let kernel = &self.kernels.kernel;
        let used = [keys, &memory.workspace, &memory.tiles[0], &memory.tiles[1], &memory.halves];
        let half_words = 2 * job.prime_limbs;
        // All at once, or half by half: the first row of a part, and how many there are.
        let parts = if self.rows.per_item { vec![(0, 2 * rows)] } else { vec![(0, rows), (rows, rows)] };
        let pass = |half: usize, first: usize, count: usize| {
            let before = residues.side_bytes(first) as u64;
            let modulus = if self.rows.per_item { 0 } else { self.one_modulus(half) };
            let moduli = if self.rows.per_item { 2 * rows } else { (2 - half) * TILE_ITEMS };
            let call = PowerCall {
                workspace: memory.workspace.address() + modulus,
                bases: memory.tiles[0].address() + before,
                results: memory.tiles[1].address() + before,
                exponents: self.numbers(places.exponents, self.rows.exponent_limbs(), half),
                exponent_bits,
                window,
                count: word(count)?,
                modulus_stride: u32::from(self.rows.per_item),
                tables: word(residues.moduli_bytes(moduli) / 8)?,
                ..PowerCall::default()
            };
            let blocks = self.kernels.residue_shape(count);
            residues.on(stream, &self.constants[half], &used).power(self.task, kernel, blocks, call)
        };
        for (half, &(first, count)) in parts.iter().enumerate() {
            pass(half, first, count)?;
        }
        self.look(stream, Stage::Powers, &memory.tiles[1], residues.side_bytes(2 * rows) / 4, rows)?;
        for (half, &(first, count)) in parts.iter().enumerate() {
            let tiles = memory.tiles[1].address() + residues.side_bytes(first) as u64;
            let moduli = self.numbers(places.primes, job.prime_limbs, half);
            let address = memory.halves.address() + (4 * half_words * first) as u64;
            let results = Numbers { address, stride: word(half_words)?, length: word(half_words)? };
            residues.on(stream, &self.constants[half], &used).leave(tiles, moduli, word(count)?, results)?;
        }
        Ok(())
    }

    /// Lets a fault of a test have its turn.
    fn look(&self, stream: &Stream, stage: Stage, buffer: &Buffer, words: usize, rows: usize) -> Result<()> {
        let inject = |injector: &Injector| injector.pass(stream, stage, buffer, words, word(rows)?);
        self.injector.as_ref().map_or(Ok(()), inject)
    }
}

/// The grid that has one thread for each of `count` items.
fn threads(count: usize) -> Result<Shape> {
    Ok(Shape { grid: word(count.div_ceil(GARNER_BLOCK as usize))?, block: GARNER_BLOCK, shared_bytes: 0 })
}

impl Stages for Private<'_, '_> {
    fn footprint(&self, rows: usize) -> Footprint {
        let blocks = rows * self.rows.job.bits.div_ceil(64);
        Footprint { input_limbs: blocks + self.rows.limbs(rows), output_limbs: blocks, flag_words: rows }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let Self { residues, memory, check, rows: KeyRows { job, .. }, .. } = self;
        let rows = chunk.rows;
        let words = self.kernels.variant.words;
        let row = 4 + 3 * words;
        // The parts of keys follow the blocks.
        let key_address = chunk.inputs.address() + 8 * (rows * job.bits.div_ceil(64)) as u64;
        let (keys, places, stride, second) = match &self.key {
            Some(key) => (key, self.rows.places(key.address(), 1), 0, row),
            None => (chunk.inputs, self.rows.places(key_address, rows), row, row * word(rows)?),
        };
        check.read(compute, chunk.inputs, rows)?;
        self.look(compute, Stage::Numbers, &check.numbers, 2 * job.bits.div_ceil(64) * rows, rows)?;
        if self.key.is_none() {
            self.set_up(compute, keys, key_address, rows)?;
            if !check.is_shared {
                check.set_up(compute, keys, places.moduli, rows)?;
            }
        }
        let constant_rows = if self.rows.per_item { 2 * rows } else { 2 };
        self.look(compute, Stage::Constants, &memory.constants, row as usize * constant_rows, rows)?;
        let tiled = if self.rows.per_item { 2 * rows } else { 2 * TILE_ITEMS };
        self.look(compute, Stage::Moduli, &memory.workspace, residues.moduli_bytes(tiled) / 4, rows)?;
        let number_words = word(2 * job.bits.div_ceil(64))?;
        let call = BasesCall {
            numbers: check.numbers.address(),
            words: number_words,
            count: word(rows)?,
            constants: memory.constants.address(),
            constants_stride: stride,
            second,
            bases: memory.bases.address(),
        };
        let used = [&check.numbers, &memory.constants, &memory.bases];
        // SAFETY: the kernel takes this structure; it reads `count` numbers and the constants, and writes a
        // row for each half.
        unsafe { compute.launch(&self.plain.bases, threads(2 * rows)?, &call, &used)? };
        self.look(compute, Stage::Bases, &memory.bases, (words as usize + 2) * 2 * rows, rows)?;
        let bases = Numbers::at(&memory.bases, words + 2, words + 1);
        let used = [&memory.bases, &memory.tiles[0]];
        let flow = residues.on(compute, &self.constants[0], &used);
        flow.enter(bases, word(2 * rows)?, memory.tiles[0].address())?;
        self.look(compute, Stage::Residues, &memory.tiles[0], residues.side_bytes(2 * rows) / 4, rows)?;
        self.powers(compute, keys, places, rows)?;
        self.look(compute, Stage::Halves, &memory.halves, 4 * job.prime_limbs * rows, rows)?;
        let call = JoinCall {
            halves: memory.halves.address(),
            half_words: word(2 * job.prime_limbs)?,
            count: word(rows)?,
            constants: memory.constants.address(),
            constants_stride: stride,
            second,
            coefficients: self.numbers(places.coefficients, job.prime_limbs, 0),
            results: memory.answers.address(),
            words: number_words,
        };
        let used = [keys, &memory.halves, &memory.constants, &memory.answers];
        // SAFETY: the kernel takes this structure; it reads `count` halves of each kind, the constants and
        // the coefficients, and writes `count` rows.
        unsafe { compute.launch(&self.plain.join, threads(rows)?, &call, &used)? };
        self.look(compute, Stage::Answers, &memory.answers, number_words as usize * rows, rows)?;
        check.power(compute, &memory.answers, rows)?;
        check.release(compute, &memory.answers, true, chunk)
    }
}
