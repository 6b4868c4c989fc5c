//! `x^e mod n` for a short public exponent: plain squarings, without tables and without residues.
#![allow(unsafe_code)] // launches kernels

use super::WORTH_AN_EXIT;
use crate::call::{Numbers, word};
use crate::constants::launch_constants;
use crate::device::{Buffer, Contents, Device, Kernel, Shape, Stream, kernel_structs};
use crate::error::{Error, Result};
use crate::pipeline::{Chunk, Footprint, Stages};
use crate::staging::copy_rows;
use crate::variant::Variant;
use modmill_core::{PerItem, PublicPowers};

/// Words of the longest exponent, `PUBLIC_WORDS` of `public_power.cuh`.
const EXPONENT_WORDS: usize = 8;

/// Numbers in the table of a thread: the base, what leads out of Montgomery form, and the number 1, with
/// those that are no entries.
const ENTRIES: usize = 3 + crate::task::BESIDE;

kernel_structs! {
    /// `PublicCall` of `public_power.cuh`.
    struct PublicCall: 112 bytes {
        numbers at 0: Numbers,
        constants at 16: Numbers,
        exits at 32: Numbers,
        results at 48: u64,
        result_stride at 56: u32,
        result_length at 60: u32,
        scratch at 64: u64,
        count at 72: u32,
        exponent_bits at 76: u32,
        exponent at 80: [u32; EXPONENT_WORDS],
    }

    /// `WordsOfOctets` of `octets.cuh`.
    struct WordsOfOctets: 24 bytes {
        octets at 0: u64,
        numbers at 8: u64,
        words at 16: u32,
        count at 20: u32,
    }

    /// `Release` of `octets.cuh`.
    struct Release: 48 bytes {
        numbers at 0: u64,
        found at 8: u64,
        expected at 16: u64,
        octets at 24: u64,
        wrong at 32: u64,
        words at 40: u32,
        count at 44: u32,
    }
}

/// The kernels of a size, the constants of moduli, and memory for a chunk.
pub(super) struct Public {
    variant: Variant,
    kernels: Kernels,
    blocks: u32,
    /// One modulus, prepared, for all items.
    pub(super) is_shared: bool,
    /// Limbs of a modulus and of a block.
    limbs: usize,
    exponent: [u32; EXPONENT_WORDS],
    exponent_bits: u32,
    constants: Buffer,
    scratch: Buffer,
    /// The blocks as numbers.
    pub(super) numbers: Buffer,
    /// The powers of the blocks.
    powers: Buffer,
    /// The factors that lead out of Montgomery form, for one modulus and many items.
    exits: Option<Buffer>,
}

struct Kernels {
    constants: Kernel,
    power: Kernel,
    words: Kernel,
    release: Kernel,
}

fn load(device: &Device, variant: Variant) -> Result<(Kernels, u32)> {
    let none = || Error::NoKernel { name: format!("for public exponents by {}", variant.family) };
    let module = device.compile(&variant.public_program().ok_or_else(none)?)?;
    let power = module.kernel("public_power")?;
    let blocks = power.blocks(variant.layout.block, variant.shared_bytes())?;
    let kernels = Kernels {
        constants: module.kernel("constants")?,
        words: module.kernel("words_of_octets")?,
        release: module.kernel("release")?,
        power,
    };
    Ok((kernels, blocks))
}

/// Numbers that a device computes at once.
pub(super) fn wave(device: &Device, variant: Variant) -> Result<usize> {
    let (_, blocks) = load(device, variant)?;
    Ok(blocks as usize * (variant.layout.block / variant.layout.threads) as usize)
}

impl Public {
    /// Ready for chunks of at most `size` items; one modulus is prepared here.
    pub(super) fn new(
        device: &Device,
        variant: Variant,
        job: &PublicPowers<'_>,
        size: usize,
        contents: Contents,
    ) -> Result<Self> {
        let (kernels, blocks) = load(device, variant)?;
        let limbs = job.bits.div_ceil(64);
        let is_shared = matches!(job.moduli, PerItem::One(_));
        let row_bytes = 4 * (4 + 3 * variant.words as usize);
        let mut exponent = [0; EXPONENT_WORDS];
        for (place, word) in exponent.iter_mut().enumerate() {
            *word = (job.exponent.get(place / 2).copied().unwrap_or(0) >> (32 * (place % 2))) as u32;
        }
        let with_exits = is_shared && job.count >= WORTH_AN_EXIT;
        let mut public = Self {
            variant,
            kernels,
            blocks,
            is_shared,
            limbs,
            exponent,
            exponent_bits: word(modmill_core::limbs::bit_length(job.exponent))?,
            constants: device.buffer(row_bytes * if is_shared { 1 } else { size }, Contents::Public)?,
            scratch: device.buffer(16, Contents::Public)?,
            numbers: device.buffer(8 * limbs * size, contents)?,
            powers: device.buffer(8 * limbs * size, contents)?,
            exits: None,
        };
        let threads = public.shape(size).grid as usize * variant.layout.block as usize;
        public.scratch = device.buffer((ENTRIES * variant.entry_bytes() * threads).max(16), contents)?;
        if let PerItem::One(modulus) = job.moduli {
            public.prepare_one(device, modulus, with_exits)?;
        }
        Ok(public)
    }

    fn prepare_one(&mut self, device: &Device, modulus: &[u64], with_exits: bool) -> Result<()> {
        let stream = device.stream()?;
        let input = device.upload_with(8 * self.limbs, Contents::Public, |staging| {
            copy_rows(staging.limbs_mut(), self.limbs, |_| modulus);
        })?;
        self.set_up(&stream, &input, input.address(), 1)?;
        if with_exits {
            let exits = device.buffer(4 * self.variant.words as usize, Contents::Public)?;
            let call = PublicCall {
                results: exits.address(),
                result_stride: self.variant.words,
                result_length: self.variant.words,
                count: 1,
                ..self.call()
            };
            self.launch_power(&stream, &call, &[&exits])?;
            stream.synchronize()?;
            self.exits = Some(exits);
        }
        stream.synchronize()
    }

    /// Constants of moduli at an address in a buffer.
    pub(super) fn set_up(&self, stream: &Stream, buffer: &Buffer, moduli: u64, count: usize) -> Result<()> {
        let words = word(2 * self.limbs)?;
        let moduli = Numbers { address: moduli, stride: words, length: words };
        let (kernel, block) = (&self.kernels.constants, self.variant.layout.block);
        launch_constants(stream, kernel, block, moduli, count, &self.constants, &[buffer])
    }

    /// Converts blocks to numbers.
    pub(super) fn read(&self, stream: &Stream, blocks: &Buffer, count: usize) -> Result<()> {
        let call = WordsOfOctets {
            octets: blocks.address(),
            numbers: self.numbers.address(),
            words: word(2 * self.limbs)?,
            count: word(count)?,
        };
        let shape = self.threads(2 * self.limbs * count)?;
        // SAFETY: the kernel takes this structure; it reads `count` blocks and writes as many numbers.
        unsafe { stream.launch(&self.kernels.words, shape, &call, &[blocks, &self.numbers]) }
    }

    /// Powers of numbers in a buffer.
    pub(super) fn power(&self, stream: &Stream, numbers: &Buffer, count: usize) -> Result<()> {
        let words = word(2 * self.limbs)?;
        let call = PublicCall {
            numbers: Numbers::at(numbers, words, words),
            exits: self
                .exits
                .as_ref()
                .map_or_else(Numbers::default, |exits| Numbers::at(exits, 0, self.variant.words)),
            results: self.powers.address(),
            result_stride: words,
            result_length: words,
            count: word(count)?,
            ..self.call()
        };
        let mut used = vec![numbers, &self.powers];
        used.extend(&self.exits);
        self.launch_power(stream, &call, &used)
    }

    /// Numbers as blocks; where they are checked, only those whose powers are the blocks that came in.
    pub(super) fn release(
        &self,
        stream: &Stream,
        numbers: &Buffer,
        checked: bool,
        chunk: &Chunk<'_>,
    ) -> Result<()> {
        let call = Release {
            numbers: numbers.address(),
            found: self.powers.address(),
            expected: if checked { chunk.inputs.address() } else { 0 },
            octets: chunk.outputs.address(),
            wrong: chunk.flags.address(),
            words: word(2 * self.limbs)?,
            count: word(chunk.rows)?,
        };
        let used = [numbers, &self.powers, chunk.inputs, chunk.outputs, chunk.flags];
        // SAFETY: the kernel takes this structure; it reads `count` numbers, and writes as many blocks and
        // words.
        unsafe { stream.launch(&self.kernels.release, self.threads(32 * chunk.rows)?, &call, &used) }
    }

    fn call(&self) -> PublicCall {
        let row = 4 + 3 * self.variant.words;
        let stride = if self.is_shared { 0 } else { row };
        PublicCall {
            constants: Numbers::at(&self.constants, stride, row),
            scratch: self.scratch.address(),
            exponent_bits: self.exponent_bits,
            exponent: self.exponent,
            ..PublicCall::default()
        }
    }

    fn launch_power(&self, stream: &Stream, call: &PublicCall, used: &[&Buffer]) -> Result<()> {
        let used: Vec<&Buffer> = used.iter().copied().chain([&self.constants, &self.scratch]).collect();
        // SAFETY: the kernel takes this structure; it reads `count` numbers and the constants, keeps three
        // values for each thread of the grid in the scratch, and writes `count` results.
        unsafe { stream.launch(&self.kernels.power, self.shape(call.count as usize), call, &used) }
    }

    /// Blocks for powers: no more than the device holds.
    fn shape(&self, count: usize) -> Shape {
        let layout = self.variant.layout;
        let needed = count.saturating_mul(layout.threads as usize).div_ceil(layout.block as usize);
        let grid = self.blocks.min(u32::try_from(needed).unwrap_or(u32::MAX));
        Shape { grid, block: layout.block, shared_bytes: self.variant.shared_bytes() }
    }

    fn threads(&self, count: usize) -> Result<Shape> {
        let block = self.variant.layout.block;
        Ok(Shape { grid: word(count.div_ceil(block as usize))?, block, shared_bytes: 0 })
    }
}

/// The stages of powers with a public exponent: blocks, and after them the moduli where every item has its
/// own.
impl Stages for Public {
    fn footprint(&self, rows: usize) -> Footprint {
        let moduli = if self.is_shared { 0 } else { rows * self.limbs };
        let output_limbs = rows * self.limbs;
        Footprint { input_limbs: output_limbs + moduli, output_limbs, flag_words: rows }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        if !self.is_shared {
            let moduli = chunk.inputs.address() + 8 * (self.limbs * chunk.rows) as u64;
            self.set_up(compute, chunk.inputs, moduli, chunk.rows)?;
        }
        self.read(compute, chunk.inputs, chunk.rows)?;
        self.power(compute, &self.numbers, chunk.rows)?;
        self.release(compute, &self.powers, false, chunk)
    }
}
