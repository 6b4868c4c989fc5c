//! Powers of one base modulo one number, in residues: the kernels, the table, and the sequence in which the
//! kernels run.
#![allow(unsafe_code)] // launches kernels

use super::calls::{ChooseCall, PowerCall};
use super::kernels::{JobConstants, ModuliPlace, OneModulus, Residues};
use super::layout::OneModulusKernel;
use super::tables::{self, MergedTables};
use crate::call::{Numbers, word};
use crate::device::{Buffer, Contents, Device, Kernel, Shape, Stream};
use crate::error::Result;
use crate::kernels::residue_shape;
use crate::staging::words;
use std::cell::Cell;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes of entries that are chosen before products multiply by them: about a dozen positions of a wave of
/// 4096 bits.
const CHOSEN_BYTES: usize = 256 << 20;
/// Threads of a block that chooses, at most: kernels are compiled for blocks of the layout, and take no
/// larger ones.
const CHOOSING_BLOCK: u32 = 256;
/// Shared memory of a block that chooses: what every device has without being asked.
const CHOOSING_BYTES: usize = 48 << 10;

/// The table of a base on a device, with the kernels that make it and read it.
pub(crate) struct FixedTable {
    device: Device,
    residues: Arc<Residues>,
    constants: JobConstants,
    choose: Kernel,
    power: Kernel,
    /// Blocks of products that the device computes at once.
    blocks: u32,
    /// Blocks that choose at a time.
    choosing_blocks: u32,
    /// The tile of the modulus, and then the entries.
    table: Buffer,
    pub(crate) window: u32,
    pub(crate) positions: u32,
}

/// Work buffers for chunks of some size.
pub(crate) struct FixedWork {
    /// The tile of the modulus, and then the chosen entries of some positions.
    workspace: Buffer,
    /// Positions whose entries the workspace has room for.
    positions: u32,
    /// Tiles before and after the products of some positions.
    tiles: [Buffer; 2],
    has_modulus: Cell<bool>,
}

impl FixedTable {
    /// The table of a base whose powers `base^(d 2^(window j))` modulo `modulus` are the rows `powers`, row
    /// `j 2^window + d`; each row has as many limbs as the modulus. `None` if the kernels do not serve the
    /// modulus.
    pub(crate) fn new(
        device: &Device,
        residues: Arc<Residues>,
        modulus: &[u64],
        powers: &[u64],
        window: u32,
    ) -> Result<Option<Self>> {
        let Some(layout) = residues.layout.merged(OneModulusKernel::FixedBase) else { return Ok(None) };
        let tables = MergedTables::new(device, &layout, &residues.bases, modulus)?;
        let program = residues.variant.fixed_base_program();
        let (Some(tables), Some(program)) = (tables, program) else { return Ok(None) };
        let module = device.compile(&program)?;
        let power = module.kernel("residue_fixed_power")?;
        let limbs = modulus.len();
        let merged = Some(OneModulus { layout, tables, power: power.clone() });
        let constants = JobConstants { radix: residues.radix_square(device, limbs)?, merged };
        let count = powers.len() / limbs;
        let tile_items = layout.tile_items();
        let bytes = residues.moduli_bytes(tile_items) + layout.entry_bytes() * count.div_ceil(tile_items);
        let table = Self {
            device: device.clone(),
            choose: module.kernel("residue_fixed_choose")?,
            blocks: power.blocks(residues.variant.layout.block, layout.shared_bytes(false))?,
            power,
            choosing_blocks: 4 * device.limits().multiprocessors,
            table: device.buffer(bytes, Contents::Secret)?,
            window,
            positions: word(count >> window)?,
            constants,
            residues,
        };
        table.fill(device, &module.kernel("residue_fixed_entries")?, modulus, powers)?;
        Ok(Some(table))
    }

    /// Computes the tile of the modulus and the entries.
    fn fill(&self, device: &Device, entries: &Kernel, modulus: &[u64], powers: &[u64]) -> Result<()> {
        let residues = &self.residues;
        let limbs = modulus.len();
        let count = word(powers.len() / limbs)?;
        let upload = |limbs: &[u64]| tables::upload(device, &words_of(limbs), Contents::Secret);
        let numbers =
            |buffer: &Buffer, stride| Numbers { address: buffer.address(), stride, length: words(limbs) };
        let (modulus, powers) = (upload(modulus)?, upload(powers)?);
        let row_bytes = 4 * residues.variant.words as usize;
        let tile_items = residues.layout.tile_items();
        let radix = device.buffer(row_bytes * tile_items, Contents::Secret)?;
        let flags = device.buffer(4 * tile_items, Contents::Secret)?;
        let tiles = device.buffer(residues.side_bytes(count as usize), Contents::Secret)?;
        let place =
            ModuliPlace { radix: radix.address(), tiles: self.table.address(), flags: flags.address() };
        let used = [&modulus, &powers, &radix, &flags, &tiles, &self.table];
        let stream = device.stream()?;
        stream.fill(&flags, 0..4 * tile_items, 0)?;
        let flow = residues.on(&stream, &self.constants, &used);
        flow.set_up(numbers(&modulus, 0), count, place)?;
        flow.enter(numbers(&powers, words(limbs)), count, tiles.address())?;
        let call = PowerCall {
            workspace: self.table.address(),
            bases: tiles.address(),
            count,
            tables: self.first_entry()?,
            ..PowerCall::default()
        };
        let shape = residue_shape(self.blocks, residues.variant.layout.block, count as usize);
        // SAFETY: the kernel reads the tile of the modulus and the tiles of `count` numbers, and writes as
        // many entries behind the tile.
        unsafe { flow.launch_tiles(entries, false, shape, call)? };
        stream.synchronize()
    }

    /// The first entry behind the tile of the modulus, in pairs of words.
    fn first_entry(&self) -> Result<u32> {
        let pairs = self.residues.moduli_bytes(self.residues.layout.tile_items()) / 8;
        word(pairs)
    }

    /// Whether it is on this device.
    pub(crate) fn is_on(&self, device: &Device) -> bool {
        self.device.is(device)
    }

    /// Bytes of the device's memory.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Items that the device computes at once.
    pub(crate) fn wave(&self) -> usize {
        (self.blocks * self.residues.variant.layout.block / 2) as usize
    }

    /// Memory for chunks of at most `size` items.
    pub(crate) fn work(&self, device: &Device, size: usize) -> Result<FixedWork> {
        let layout = &self.residues.layout;
        let chosen = layout.entry_bytes() * size.div_ceil(layout.tile_items());
        let positions = (CHOSEN_BYTES / chosen).clamp(1, self.positions as usize);
        let side = || device.buffer(self.residues.side_bytes(size), Contents::Secret);
        let modulus = self.residues.moduli_bytes(layout.tile_items());
        Ok(FixedWork {
            workspace: device.buffer(modulus + chosen * positions, Contents::Secret)?,
            positions: word(positions)?,
            tiles: [side()?, side()?],
            has_modulus: Cell::new(false),
        })
    }

    /// Launches all kernels of a chunk of `count` items: the powers of the base to `exponents`, modulo
    /// `modulus`, into `results`.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        work: &FixedWork,
        exponents: Numbers,
        modulus: Numbers,
        count: u32,
        results: Numbers,
        used: &[&Buffer],
    ) -> Result<()> {
        let residues = &self.residues;
        let mut used: Vec<&Buffer> = used.to_vec();
        used.extend([&self.table, &work.workspace, &work.tiles[0], &work.tiles[1]]);
        if !work.has_modulus.replace(true) {
            stream.copy_within(&self.table, 0..8 * self.first_entry()? as usize, &work.workspace, 0)?;
        }
        let flow = residues.on(stream, &self.constants, &used);
        let shape = residue_shape(self.blocks, residues.variant.layout.block, count as usize);
        let [mut from, mut to] = [&work.tiles[0], &work.tiles[1]];
        for first in (0..self.positions).step_by(work.positions as usize) {
            let positions = work.positions.min(self.positions - first);
            self.choose(stream, work, exponents, first, positions, count, &used)?;
            let call = PowerCall {
                workspace: work.workspace.address(),
                bases: if first == 0 { 0 } else { from.address() },
                results: to.address(),
                window: positions,
                count,
                tables: self.first_entry()?,
                ..PowerCall::default()
            };
            // SAFETY: the kernel reads the tile of the modulus, the tiles of `count` items and their chosen
            // entries, and writes the tiles of the results.
            unsafe { flow.launch_tiles(&self.power, false, shape, call)? };
            (from, to) = (to, from);
        }
        flow.leave(from.address(), modulus, count, results)
    }

    /// Launches the kernel that looks up the entries of some positions.
    #[allow(clippy::too_many_arguments)]
    fn choose(
        &self,
        stream: &Stream,
        work: &FixedWork,
        exponents: Numbers,
        first: u32,
        positions: u32,
        count: u32,
        used: &[&Buffer],
    ) -> Result<()> {
        let entries_at = 8 * u64::from(self.first_entry()?);
        // A row of all entries: a word for every lane and entry.
        let row_bytes = (4 * 32) << self.window;
        let rows = (CHOOSING_BYTES / row_bytes).clamp(1, 2 * self.residues.layout.groups() as usize);
        let tiles = (count as usize).div_ceil(self.residues.layout.tile_items());
        let block = CHOOSING_BLOCK.min(self.residues.variant.layout.block);
        let most_slices = tiles.div_ceil(block as usize / 32);
        let slices = (self.choosing_blocks as usize).div_ceil(positions as usize).min(most_slices);
        let call = ChooseCall {
            entries: self.table.address() + entries_at,
            chosen: work.workspace.address() + entries_at,
            exponents,
            first,
            positions,
            window: self.window,
            count,
            rows: word(rows)?,
        };
        let shape = Shape { grid: positions * word(slices)?, block, shared_bytes: word(rows * row_bytes)? };
        // SAFETY: the kernel takes this structure, reads the entries of `positions` positions and `count`
        // exponents, keeps `rows` rows in shared memory, and writes an entry for every position and tile, for
        // which the workspace has room.
        unsafe { stream.launch(&self.choose, shape, &call, used) }
    }
}

fn words_of(limbs: &[u64]) -> Zeroizing<Vec<u32>> {
    Zeroizing::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}
