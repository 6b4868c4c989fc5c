//! Sizes of the residue family's data, as `rns.cuh`, `rns_memory.cuh` and `rns_power.cuh` have them.

use crate::family::layout::Placement;
use modmill_core::rns::{Bases, Bounds};

/// Window of secret exponents, whose tables are read whole.
pub(crate) const SECRET_WINDOW: u32 = 4;
/// Entries of a secret table, and copies of the entries that the digits of two words of an exponent chose.
pub(crate) const SECRET_ENTRIES: u32 = (1 << SECRET_WINDOW) + 2 * (32 / SECRET_WINDOW);

/// Groups of channels for which a thread has registers for the residues in both bases, if a block has two
/// warpgroups. With more groups those in base B are in shared memory.
pub(super) const MOST_IN_REGISTERS: u32 = 35;
/// Groups of channels, at most: those of the longest moduli that have bases.
pub(super) const MOST_GROUPS: u32 = 72;
/// Groups of channels from which on an H200 streams the matrices: those of 20 groups fill 200 KiB.
pub(super) const LEAST_STREAMED: u32 = 20;
/// Groups of a chunk, at most: a thread has registers for their sums.
const MOST_OF_CHUNK: u32 = 9;
/// Stages of a ring, at most: more save no time.
const MOST_STAGES: u32 = 6;
/// Stages of a ring for pieces of chunks. The tensor cores read two pieces while the others are on their way:
/// with three stages of the same length they wait longer, and shorter pieces take more instructions
/// (docs/notebook/residues-h200.md).
const STAGES_OF_PIECES: u32 = 4;

/// Bytes of a group of four channels in a step of a matrix.
const GROUP_BYTES: u32 = 512;
/// Numbers of a tile, which a warp holds.
const TILE_ITEMS: usize = 16;
/// Sides of a modulus's tile.
const MODULUS_SIDES: usize = 7;
/// Bytes of a tile's row, the words of a group: two for each lane.
const ROW_BYTES: usize = 32 * 8;
/// Bytes of a channel's constants.
const CHANNEL_BYTES: u32 = 16;

/// Registers of a multiprocessor and the most of a thread, in every generation from Turing on.
const REGISTERS: (u32, u32) = (65536, 255);

/// Registers of a thread.
fn registers(block: u32) -> u32 {
    (REGISTERS.0 / block).min(REGISTERS.1)
}

/// Registers for a number's residues in one base.
fn state(groups: u32) -> u32 {
    4 * groups.div_ceil(2)
}

/// The fewest chunks for which `fits` holds, called with the groups of a chunk and the number of chunks.
fn fewest(groups: u32, fits: impl Fn(u32, u32) -> bool) -> Option<u32> {
    let fits =
        |&chunks: &u32| groups.div_ceil(chunks) <= MOST_OF_CHUNK && fits(groups.div_ceil(chunks), chunks);
    (1..=9.min(groups)).find(fits)
}

/// The fewest chunks to base B whose sums, factors and residues fit the registers.
pub(super) fn fewest_to_b(groups: u32, block: u32) -> Option<u32> {
    let state = state(groups);
    fewest(groups, |count, chunks| {
        state + 10 * count + state * (chunks - 1) / chunks + 18 <= registers(block)
    })
}

/// The fewest chunks to base A, where a group takes `for_group` registers. Quotients that are not in the
/// matrix take two.
pub(super) fn fewest_to_a(groups: u32, block: u32, for_group: u32) -> Option<u32> {
    let quotients = if groups.is_multiple_of(2) { 2 } else { 0 };
    let others = 2 * state(groups) + quotients + 48;
    fewest(groups, |count, _| others + for_group * count <= registers(block))
}

/// Some groups of columns of a matrix, whose sums are in registers at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    /// The first group.
    pub(super) first: u32,
    /// The number of groups. Those behind the last group of the base have zeros.
    pub(super) count: u32,
    /// Steps of the product with the words of the other base, of 32 rows each.
    pub(super) steps: u32,
    /// Whether each column has one more word, that of its own channel, in one more step.
    pub(super) has_own_words: bool,
}

impl Chunk {
    /// Bytes of all steps.
    pub(super) fn bytes(&self) -> u32 {
        GROUP_BYTES * (self.steps + u32::from(self.has_own_words)) * self.count
    }
}

/// The kernels with one modulus that is a part of the matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OneModulusKernel {
    /// Powers with secret exponents.
    Power,
    /// Powers with public exponents.
    PowerVartime,
    /// Powers of one base.
    FixedBase,
}

/// How the residues of one size lie in memory, and how their products are cut up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResidueLayout {
    channels: u32,
    words: u32,
    /// Chunks of the matrix to base B and of the matrix to base A. The sums of one chunk are in registers at
    /// a time.
    chunks: [u32; 2],
    block: u32,
    placement: Placement,
    quotient_shift: u32,
    narrow_fold: bool,
    /// Whether the one modulus of all items is a part of the matrices.
    merged: bool,
}

impl ResidueLayout {
    /// The layout for numbers of `words` words in blocks of `block` threads; `None` if sums or residues do
    /// not fit the registers, or a ring of stages its memory.
    pub(super) fn new(
        bases: &Bases,
        words: u32,
        block: u32,
        chunks: [u32; 2],
        placement: Placement,
    ) -> Option<Self> {
        let layout = Self {
            channels: u32::try_from(bases.channels()).ok()?,
            words,
            chunks,
            block,
            placement,
            quotient_shift: bases.quotient().precision,
            narrow_fold: bases.narrow_fold(),
            merged: false,
        };
        let groups = layout.groups();
        let fits = |chunks: u32| (1..=groups).contains(&chunks) && groups.div_ceil(chunks) <= MOST_OF_CHUNK;
        let fits = groups <= MOST_GROUPS && chunks.into_iter().all(fits) && layout.ring_bytes().is_some();
        fits.then_some(layout)
    }

    /// The layout for one modulus that is a part of the matrices. Its factors take no registers, which leaves
    /// them to longer chunks. Chunks to base A are of pairs of groups. `None` if residues are in shared
    /// memory: bases that need it have more channels than the bounds allow.
    pub(crate) fn merged(&self, kernel: OneModulusKernel) -> Option<Self> {
        let merged = Self { chunks: self.merged_chunks(kernel), merged: true, ..*self };
        (!self.shares_words()).then_some(merged)
    }

    /// Chunks to base B and to base A. With fewer chunks the compiler spills registers, or puts the products
    /// of a chunk one after the other; more chunks take longer (docs/notebook/residues-h200.md).
    fn merged_chunks(&self, kernel: OneModulusKernel) -> [u32; 2] {
        use OneModulusKernel::{FixedBase, Power, PowerVartime};
        let (groups, pairs) = (self.groups(), self.steps());
        match (groups, kernel) {
            // 2048 bits.
            (17, Power) => [2, 4],
            (17, PowerVartime) => [3, 4],
            (17, FixedBase) => [2, 6],
            // The quotient needs registers if the matrix has no room for it (`QUOTIENT_IN_MATRIX` of
            // `rns.cuh`).
            (..LEAST_STREAMED, _) if groups % 2 == 1 => {
                [fewest_to_b(groups, self.block).unwrap_or(self.chunks[0]), (2 * pairs).div_ceil(5)]
            }
            (..LEAST_STREAMED, _) => [self.chunks[0], (2 * pairs).div_ceil(5)],
            (23..=26, Power | PowerVartime) => [self.chunks[0], 3],
            (23..=26, FixedBase) => [self.chunks[0], 4],
            // 4096 bits.
            (33..=34, _) => [4, 7],
            _ => [self.chunks[0], pairs.div_ceil(2)],
        }
    }

    /// Whether the kernels are right for matrices with these bounds: quotient and folds are compiled into
    /// them.
    pub(super) fn serves(&self, bounds: &Bounds) -> bool {
        let folds = !self.narrow_fold || u32::try_from(bounds.low_sum).is_ok();
        folds && bounds.quotient.precision == self.quotient_shift
    }

    pub(super) fn words(&self) -> u32 {
        self.words
    }

    pub(super) fn placement(&self) -> Placement {
        self.placement
    }

    pub(super) fn tile_items(&self) -> usize {
        TILE_ITEMS
    }

    /// Groups of four channels.
    pub(super) fn groups(&self) -> u32 {
        self.channels / 4
    }

    /// Steps of a product, of 32 bytes each.
    pub(super) fn steps(&self) -> u32 {
        self.groups().div_ceil(2)
    }

    /// The chunks of the matrix to base B (`base` 0) or A (`base` 1).
    pub(super) fn chunks(&self, base: usize) -> impl Iterator<Item = Chunk> + '_ {
        let (chunks, groups) = (self.chunks[base], self.groups());
        let has_own_words = self.merged && base == 1;
        let has_equal_chunks = self.shares_words();
        let length = groups.div_ceil(chunks);
        let first = move |chunk: u32| match chunk {
            // To base B, the last chunk computes some words again; to base A, it has groups behind the last.
            _ if has_equal_chunks && base == 0 => (chunk * length).min(groups - length),
            _ if has_equal_chunks => chunk * length,
            _ if !has_own_words => chunk * groups / chunks,
            // Words of two groups are multiplied at a time.
            _ if chunk < chunks => 2 * (chunk * groups.div_ceil(2) / chunks),
            _ => groups,
        };
        (0..chunks).map(move |chunk| Chunk {
            first: first(chunk),
            count: if has_equal_chunks { length } else { first(chunk + 1) - first(chunk) },
            steps: self.steps(),
            has_own_words,
        })
    }

    /// Whether the residues in base B are in shared memory, and chunks come in pieces.
    pub(super) fn shares_words(&self) -> bool {
        self.groups() > MOST_IN_REGISTERS
    }

    /// Pieces of a chunk: the smallest multiple of the number of stages for which the stages fit their
    /// memory.
    fn pieces(&self) -> u32 {
        match self.placement {
            Placement::Ring(bytes) if self.shares_words() => {
                let fits = |pieces: &u32| STAGES_OF_PIECES * self.piece_bytes(*pieces) <= bytes;
                let mut multiples = (STAGES_OF_PIECES..=self.steps()).step_by(STAGES_OF_PIECES as usize);
                multiples.find(fits).unwrap_or(self.steps())
            }
            _ => 1,
        }
    }

    /// Bytes of a stage for one of `pieces` pieces of a chunk, and its barrier.
    fn piece_bytes(&self, pieces: u32) -> u32 {
        GROUP_BYTES * self.steps().div_ceil(pieces) * self.longest_chunk() + 16
    }

    /// Groups of the longest chunk.
    fn longest_chunk(&self) -> u32 {
        self.chunks(0).chain(self.chunks(1)).map(|chunk| chunk.count).max().unwrap_or(0)
    }

    /// Bytes of both matrices.
    pub(super) fn matrices_bytes(&self) -> u32 {
        [0, 1].map(|base| self.chunks(base).map(|chunk| chunk.bytes()).sum::<u32>()).iter().sum()
    }

    /// Bytes of a side of a tile.
    pub(super) fn side_bytes(&self) -> usize {
        self.groups() as usize * ROW_BYTES
    }

    /// Bytes of a modulus's tile.
    pub(super) fn modulus_bytes(&self) -> usize {
        MODULUS_SIDES * self.side_bytes()
    }

    /// Bytes of a table entry of a tile.
    pub(super) fn entry_bytes(&self) -> usize {
        2 * self.side_bytes()
    }

    /// Bytes of a stage of the ring, which holds the largest chunk or piece of a chunk, and its barrier.
    fn stage_bytes(&self) -> u32 {
        if self.shares_words() {
            return self.piece_bytes(self.pieces());
        }
        let chunks = self.chunks(0).chain(self.chunks(1));
        chunks.map(|chunk| chunk.bytes()).max().unwrap_or(0) + 16
    }

    /// Stages of the ring; 0 if the matrices are not streamed.
    fn stages(&self) -> u32 {
        match self.placement {
            Placement::Ring(bytes) if self.shares_words() => {
                (bytes / self.stage_bytes()).min(STAGES_OF_PIECES)
            }
            Placement::Ring(bytes) => (bytes / self.stage_bytes()).min(MOST_STAGES),
            _ => 0,
        }
    }

    /// Bytes of the ring; `None` if it has room for less than two stages.
    fn ring_bytes(&self) -> Option<u32> {
        let stages = self.stages();
        let is_ring = matches!(self.placement, Placement::Ring(_));
        (!is_ring || stages >= 2).then(|| stages * self.stage_bytes())
    }

    /// Shared memory for all but the matrices: the channels, the residues in base B if they are there, and
    /// for secrets each warp's row of a table and its barrier.
    pub(super) fn other_bytes(&self, secret: bool) -> u32 {
        let row_bytes = ROW_BYTES as u32;
        let (words, items) = if self.shares_words() { (2 * self.steps() * row_bytes, 1) } else { (0, 2) };
        let row = ((items * row_bytes / 2) << SECRET_WINDOW) + 16;
        2 * self.channels * CHANNEL_BYTES + (words + if secret { row } else { 0 }) * self.block / 32
    }

    /// Shared memory of a block.
    pub(super) fn shared_bytes(&self, secret: bool) -> u32 {
        let matrices = match self.placement {
            Placement::Shared => self.matrices_bytes(),
            _ => self.ring_bytes().unwrap_or(0),
        };
        matrices + self.other_bytes(secret)
    }

    /// The macros of the family's sources.
    pub(super) fn defines(&self) -> Vec<(&'static str, u32)> {
        vec![
            ("CHANNELS", self.channels),
            ("CHUNKS_B", self.chunks[0]),
            ("CHUNKS_A", self.chunks[1]),
            ("QUOTIENT_SHIFT", self.quotient_shift),
            ("SECRET_WINDOW", SECRET_WINDOW),
            ("NARROW_FOLD", self.narrow_fold.into()),
            ("STREAMED", u32::from(self.placement != Placement::Shared)),
            ("STAGES", self.stages()),
            ("MERGED", self.merged.into()),
            ("SHARED_WORDS", self.shares_words().into()),
            ("PIECES", self.pieces()),
        ]
    }
}
