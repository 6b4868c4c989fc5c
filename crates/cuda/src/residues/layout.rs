//! Sizes of the family's data, as `rns.cuh` and `rns_power.cuh` have them.

use crate::variant::{MAX_SHARED_BYTES, words_for};
use modmill_core::rns::{Bases, Bounds};

/// Window of secret exponents, whose tables are read whole.
pub(crate) const SECRET_WINDOW: u32 = 4;
/// Entries of a secret table and the copies of entries that digits chose: of two words of an exponent.
pub(crate) const SECRET_ENTRIES: u32 = (1 << SECRET_WINDOW) + 2 * (32 / SECRET_WINDOW);

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
/// Groups of channels from which on matrices are streamed: those of 20 groups fill 200 KiB.
const LEAST_STREAMED: u32 = 20;
/// Groups of which two warpgroups have the registers.
const MOST_GROUPS: u32 = 35;
/// More stages of streamed matrices than this save no time.
const MOST_STAGES: u32 = 6;

/// Groups of which four warpgroups have the registers: with more, three are as fast, and faster with one modulus.
const MOST_GROUPS_OF_FOUR: u32 = 12;

/// Registers of a thread.
fn registers(block: u32) -> u32 {
    (65536 / block).min(255)
}

/// Registers for a number's residues in one base.
fn state(groups: u32) -> u32 {
    4 * groups.div_ceil(2)
}

/// The fewest chunks, of at most nine groups, that satisfy a condition on the groups of a chunk and their number.
fn fewest(groups: u32, fits: impl Fn(u32, u32) -> bool) -> Option<u32> {
    let fits = |&chunks: &u32| groups.div_ceil(chunks) <= 9 && fits(groups.div_ceil(chunks), chunks);
    (1..=9.min(groups)).find(fits)
}

/// The fewest chunks to base B for which there are registers.
fn fewest_to_b(groups: u32, block: u32) -> Option<u32> {
    let state = state(groups);
    fewest(groups, |count, chunks| {
        state + 10 * count + state * (chunks - 1) / chunks + 18 <= registers(block)
    })
}

/// Likewise to base A, with so many registers for a group. Quotients that are not in the matrix need two.
fn fewest_to_a(groups: u32, block: u32, for_group: u32) -> Option<u32> {
    let quotients = if groups.is_multiple_of(2) { 2 } else { 0 };
    let others = 2 * state(groups) + quotients + 48;
    fewest(groups, |count, _| others + for_group * count <= registers(block))
}

/// How the residues of one size lie in memory, and how their products are cut up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResidueLayout {
    channels: u32,
    words: u32,
    /// Parts of the matrices to base B and to base A whose sums are in registers at a time.
    chunks: [u32; 2],
    block: u32,
    quotient_shift: u32,
    narrow_fold: bool,
    /// Whether the matrices have the one modulus of all items in them.
    merged: bool,
}

impl ResidueLayout {
    /// For numbers of some words in blocks of threads; `tile` says how matrices are cut: ten times the
    /// chunks to base B, and those to base A.
    pub(crate) fn new(bases: &Bases, words: u32, block: u32, tile: u32) -> Option<Self> {
        let channels = u32::try_from(bases.channels()).ok()?;
        let layout = Self {
            channels,
            words,
            chunks: [tile / 10, tile % 10],
            block,
            quotient_shift: bases.quotient().precision,
            narrow_fold: bases.narrow_fold(),
            merged: false,
        };
        // Nine groups of sums fit the registers of a thread.
        let fits =
            |chunks: u32| chunks > 0 && layout.groups().div_ceil(chunks) <= 9 && chunks <= layout.groups();
        let fits = layout.chunks.into_iter().all(fits) && layout.groups() <= MOST_GROUPS;
        (fits && layout.stages() != Some(1)).then_some(layout)
    }

    /// Blocks and chunks worth measuring for numbers of some bits: for each number of warpgroups the fewest
    /// chunks whose sums, factors and residues fit the registers, and one to base A less, which spills a
    /// little and waits less. Streamed matrices leave room for two warpgroups, and few long chunks are the best.
    pub(crate) fn candidates(bits: usize) -> impl Iterator<Item = (u32, u32)> {
        let channels =
            Bases::for_bits(32 * words_for(bits) as usize).map_or(0, |bases| bases.channels() as u32);
        let groups = channels / 4;
        let streamed = match groups {
            LEAST_STREAMED..=23 => vec![33],
            // Here the compiler would have their products one after the other.
            24..=25 => vec![45],
            26 => vec![33],
            27..=34 => vec![10 * groups.div_ceil(7) + groups.div_ceil(5)],
            // Those of (5, 7) chunks would be one after the other, too.
            MOST_GROUPS => vec![68],
            _ => vec![],
        };
        let resident = move |block: &u32| {
            (1..LEAST_STREAMED).contains(&groups) && (*block < 512 || groups <= MOST_GROUPS_OF_FOUR)
        };
        let blocks = [512, 384, 256].into_iter().filter(resident).flat_map(move |block: u32| {
            let pairs = fewest_to_b(groups, block).zip(fewest_to_a(groups, block, 12));
            let pairs = pairs.into_iter().flat_map(|(b, a)| [(b, a), (b, a - 1)]);
            pairs.filter(|&(_, a)| a > 0).map(move |(b, a)| (block, 10 * b + a))
        });
        blocks.chain(streamed.into_iter().map(|tile| (256, tile)))
    }

    /// The same for one modulus that the matrices have in them: its factor is not in registers, which leaves
    /// them to longer chunks, except where the quotient needs them (`QUOTIENT_IN_MATRIX` of `rns.cuh`).
    pub(crate) fn merged(&self) -> Self {
        let groups = self.groups();
        let chunks = match groups {
            ..LEAST_STREAMED if groups % 2 == 1 => {
                fewest_to_b(groups, self.block).zip(fewest_to_a(groups, self.block, 8))
            }
            // 4096 bits; with a few groups less the compiler would have products one after the other.
            34 => Some((4, 5)),
            _ => None,
        };
        Self { chunks: chunks.map_or(self.chunks, |(b, a)| [b, a]), merged: true, ..*self }
    }

    /// Whether its kernels are right for matrices with these bounds: quotient and folds are compiled into them.
    pub(crate) fn serves(&self, bounds: &Bounds) -> bool {
        let folds = !self.narrow_fold || u32::try_from(bounds.low_sum).is_ok();
        folds && bounds.quotient.precision == self.quotient_shift
    }

    pub(crate) fn words(&self) -> u32 {
        self.words
    }

    pub(crate) fn tile_items(&self) -> usize {
        TILE_ITEMS
    }

    /// Groups of four channels.
    pub(crate) fn groups(&self) -> u32 {
        self.channels / 4
    }

    /// Steps of a product, of 32 bytes each.
    pub(crate) fn steps(&self) -> u32 {
        self.groups().div_ceil(2)
    }

    /// The groups of a chunk of the matrix to one of the bases: the first, and how many.
    pub(crate) fn chunks(&self, base: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (chunks, groups) = (self.chunks[base], self.groups());
        let first = move |chunk: u32| chunk * groups / chunks;
        (0..chunks).map(move |chunk| (first(chunk), first(chunk + 1) - first(chunk)))
    }

    pub(crate) fn matrix_bytes(&self) -> u32 {
        self.steps() * self.groups() * GROUP_BYTES
    }

    /// Bytes of a side of a tile.
    pub(crate) fn side_bytes(&self) -> usize {
        self.groups() as usize * ROW_BYTES
    }

    pub(crate) fn modulus_bytes(&self) -> usize {
        MODULUS_SIDES * self.side_bytes()
    }

    /// Bytes of a table entry of a tile.
    pub(crate) fn entry_bytes(&self) -> usize {
        2 * self.side_bytes()
    }

    /// Bytes of a stage of streamed matrices, which holds the largest chunk; its barrier comes with it.
    fn stage_bytes(&self) -> u32 {
        let groups = self.groups().div_ceil(self.chunks[0].min(self.chunks[1]));
        groups * self.steps() * GROUP_BYTES + 16
    }

    /// Stages of streamed matrices, or none if they stay in shared memory.
    fn stages(&self) -> Option<u32> {
        let room = MAX_SHARED_BYTES.saturating_sub(self.other_bytes(true));
        (2 * self.matrix_bytes() > room).then(|| (room / self.stage_bytes()).clamp(1, MOST_STAGES))
    }

    /// Shared memory beside the matrices: the channels and, for secrets, each warp's row of a table and its barrier.
    fn other_bytes(&self, secret: bool) -> u32 {
        let row = ((ROW_BYTES as u32) << SECRET_WINDOW) + 16;
        2 * self.channels * CHANNEL_BYTES + if secret { row * self.block / 32 } else { 0 }
    }

    /// Shared memory of a block.
    pub(crate) fn shared_bytes(&self, secret: bool) -> u32 {
        let matrices = self.stages().map_or(2 * self.matrix_bytes(), |stages| stages * self.stage_bytes());
        matrices + self.other_bytes(secret)
    }

    /// What the kernels are compiled with.
    pub(crate) fn defines(&self) -> Vec<(&'static str, u32)> {
        vec![
            ("CHANNELS", self.channels),
            ("CHUNKS_B", self.chunks[0]),
            ("CHUNKS_A", self.chunks[1]),
            ("QUOTIENT_SHIFT", self.quotient_shift),
            ("SECRET_WINDOW", SECRET_WINDOW),
            ("NARROW_FOLD", self.narrow_fold.into()),
            ("STREAMED", self.stages().is_some().into()),
            ("STAGES", self.stages().unwrap_or(0)),
            ("MERGED", self.merged.into()),
        ]
    }
}
