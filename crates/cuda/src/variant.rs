//! One way to compile the kernels: a family, a size, and how many threads share the work.

use crate::compiler::Program;
use crate::residues::{ResidueLayout, SECRET_WINDOW};
use crate::sources;
use modmill_core::Family;
use modmill_core::rns::Bases;
use std::sync::Arc;

/// A family of kernels for numbers of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The family of algorithms.
    pub family: Family,
    /// 32-bit words of a number.
    pub words: u32,
    /// Whether moduli have at least two bits less than the words hold, which spares a subtraction in every
    /// product.
    pub room: bool,
    /// How it is spread over threads.
    pub layout: Layout,
}

/// How numbers are spread over the threads of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Layout {
    /// Threads that hold a number together.
    pub threads: u32,
    /// Threads of a block.
    pub block: u32,
    /// Blocks that a multiprocessor is to hold at once; limits registers.
    pub resident: u32,
    /// Words of a block of the two-pass family; in the residue family ten times the chunks of the matrix to
    /// base B, and those to base A; 0 elsewhere.
    pub tile: u32,
}

/// The longest numbers that fit, in words.
pub const MAX_WORDS: u32 = 1024;

/// More than that, and a multiple of every step of lengths.
const MORE_WORDS: u32 = 2 * MAX_WORDS;

/// Shared memory that a block may have; what these GPUs have at least. A multiprocessor has 1 KiB more, and
/// takes as much for itself with every block.
pub(crate) const MAX_SHARED_BYTES: u32 = 227 << 10;

/// Threads of a block of the kernels of `rsa.cuh`.
pub(crate) const GARNER_BLOCK: u32 = 64;

/// The files of powers in residues.
const RESIDUE_POWERS: [&str; 5] = ["rns", "rns_product", "rns_memory", "rns_scan", "rns_power"];

/// Words for numbers of some bits: few enough sizes that a batch of mixed lengths does not compile for
/// minutes, and the common ones without waste.
#[must_use]
pub fn words_for(bits: usize) -> u32 {
    // Whatever is longer has no kernel, and is not to overflow.
    let words = u32::try_from(bits.div_ceil(32)).unwrap_or(u32::MAX).min(MORE_WORDS);
    let step = match words {
        0..=32 => 4,
        33..=64 => 8,
        65..=128 => 16,
        129..=256 => 32,
        257..=512 => 64,
        _ => 128,
    };
    words.next_multiple_of(step).max(4)
}

impl Variant {
    /// The variant for moduli of some bits, if the family has one with this layout.
    #[must_use]
    pub fn new(family: Family, bits: usize, layout: Layout) -> Option<Self> {
        let words = words_for(bits);
        // Residues have room of their own.
        let room = family != Family::Rns && bits.saturating_add(2) <= 32 * words as usize;
        let variant = Self { family, words, room, layout };
        variant.exists().then_some(variant)
    }

    /// The variant for moduli of some bits that a layout measured at other ones says most of. Residues are cut up
    /// anew for every length.
    pub(crate) fn nearest(family: Family, bits: usize, layout: Layout, measured_bits: usize) -> Option<Self> {
        if family != Family::Rns || words_for(bits) == words_for(measured_bits) {
            return Self::new(family, bits, layout);
        }
        let candidates = Self::candidates(family, bits);
        let same_block = candidates.iter().find(|variant| variant.layout.block == layout.block);
        same_block.or(candidates.last()).copied()
    }

    /// Every layout worth measuring for a family and a length.
    #[must_use]
    pub fn candidates(family: Family, bits: usize) -> Vec<Self> {
        if family == Family::Rns {
            return ResidueLayout::candidates(bits)
                .filter_map(|(block, tile)| {
                    Self::new(family, bits, Layout { threads: 2, block, resident: 1, tile })
                })
                .collect();
        }
        // Threads of a block and blocks to a multiprocessor, by the words or samples of a thread.
        let shapes = |variant: &Self| -> &'static [(u32, u32)] {
            match (family, variant.part()) {
                (Family::Row, part) => match part {
                    ..=4 => &[(256, 6), (128, 8)],
                    5..=8 => &[(256, 4), (128, 7)],
                    9..=12 => &[(128, 6)],
                    13..=16 => &[(128, 5), (128, 4)],
                    17..=32 => &[(128, 3)],
                    _ => &[(128, 2)],
                },
                (Family::TwoPass, ..32) => &[(128, 4)],
                (Family::TwoPass, _) => &[(128, 2), (128, 1), (128, 3)],
                (_, part) => match part {
                    ..=5 => &[(128, 8)],
                    6..=10 => &[(128, 5)],
                    11..=15 => &[(128, 4)],
                    16..=24 => &[(128, 3)],
                    _ => &[(128, 2)],
                },
            }
        };
        // The wider the blocks, the fewer words go over from one to the next; registers set the limit, which
        // threads of a group share, and so does the cache for instructions.
        let tiles = |threads: u32| -> &'static [&'static [u32]] {
            match (family, threads) {
                (Family::TwoPass, 1) => &[&[16, 12, 8, 4]],
                (Family::TwoPass, 2) => &[&[32, 24], &[16]],
                (Family::TwoPass, _) => &[&[32, 24]],
                _ => &[&[0]],
            }
        };
        let mut found = Vec::new();
        for threads in [1, 2, 4, 8, 16, 32] {
            let layout = |tile| Layout { threads, block: 32, resident: 1, tile };
            let fits = |&tile: &u32| Self::new(family, bits, layout(tile));
            for variant in tiles(threads).iter().filter_map(|tiles| tiles.iter().find_map(fits)) {
                // Groups have to pay for their exchanges with something to do.
                let least = if family == Family::TwoPass { 32 } else { 4 };
                if threads > 1 && variant.part() < least {
                    continue;
                }
                for &(block, resident) in shapes(&variant) {
                    found.extend(Self::new(family, bits, Layout { block, resident, ..variant.layout }));
                }
            }
        }
        found
    }

    /// Words or samples of a thread.
    fn part(&self) -> u32 {
        match self.family {
            Family::Wide | Family::Narrow => self.digits(),
            _ => self.words / self.layout.threads,
        }
    }

    /// Whether it exists and its numbers hold moduli of some bits.
    pub(crate) fn serves(&self, bits: usize) -> bool {
        let room = if self.room { 2 } else { 0 };
        self.exists() && bits > 0 && bits.saturating_add(room) <= 32 * self.words as usize
    }

    pub(crate) fn exists(&self) -> bool {
        let Layout { threads, block, tile, .. } = self.layout;
        let is_shape = threads.is_power_of_two()
            && threads <= 32
            && block.is_multiple_of(32)
            && (32..=1024).contains(&block)
            && (self.family != Family::TwoPass || tile > 0)
            && (1..=MAX_WORDS).contains(&self.words);
        // What follows divides by these.
        if !is_shape {
            return false;
        }
        let digits = self.digits();
        self.shared_bytes() <= MAX_SHARED_BYTES
            && match self.family {
                Family::Row => self.words.is_multiple_of(2 * threads) && self.words / threads <= 48,
                Family::TwoPass => tile.is_multiple_of(4 * threads) && self.words.is_multiple_of(tile),
                Family::Wide => {
                    digits <= if threads == 1 { 30 } else { 24 }
                        && (threads == 1 || digits >= 2)
                        && self.rows() <= 1000
                }
                Family::Narrow => digits <= 32 && (threads == 1 || digits >= 3) && self.rows() <= 255,
                // A warp holds sixteen numbers, and warpgroups work together.
                Family::Rns => {
                    threads == 2 && (block == 32 || block.is_multiple_of(128)) && self.residues().is_some()
                }
                _ => false,
            }
    }

    /// The bases of the residue family, and how residues lie in memory.
    pub(crate) fn residues(&self) -> Option<(ResidueLayout, Arc<Bases>)> {
        if self.family != Family::Rns {
            return None;
        }
        let bases = Bases::for_bits(32 * self.words as usize)?;
        let layout = ResidueLayout::new(&bases, self.words, self.layout.block, self.layout.tile)?;
        Some((layout, bases))
    }

    /// The window of secret exponents, where the family has a fixed one.
    #[must_use]
    pub fn secret_window(&self) -> Option<u32> {
        (self.family == Family::Rns).then_some(SECRET_WINDOW)
    }

    /// Bits of a sample, in the families that have them.
    fn sample_bits(&self) -> u32 {
        match self.family {
            Family::Wide => 52,
            // 23-bit samples as long as a column of their products fits a double.
            Family::Narrow if (32 * self.words + 2).div_ceil(23) <= 63 => 23,
            Family::Narrow => 22,
            _ => 32,
        }
    }

    /// Digits of a number that take part in products: R is four times what the words hold.
    fn rows(&self) -> u32 {
        (32 * self.words + 2).div_ceil(self.sample_bits())
    }

    /// Samples of a thread.
    fn digits(&self) -> u32 {
        self.rows().div_ceil(self.layout.threads)
    }

    /// log2 of the Montgomery radix R.
    #[must_use]
    pub fn radix_bits(&self) -> u32 {
        match self.family {
            Family::Wide | Family::Narrow => self.sample_bits() * self.rows(),
            _ => 32 * self.words,
        }
    }

    /// Longest integers that are taken as they are; longer ones are reduced first.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        if let Some((_, bases)) = self.residues() {
            return bases.capacity_bits();
        }
        let room = if self.room { 2 } else { 0 };
        match self.family {
            Family::Wide | Family::Narrow => 32 * self.words as usize,
            _ => (32 * self.words - room) as usize,
        }
    }

    /// Bytes of a table entry that a thread keeps.
    #[must_use]
    pub fn entry_bytes(&self) -> usize {
        let quads = match self.family {
            // Tables are a part of the workspace.
            Family::Rns => 0,
            Family::Wide => self.digits().div_ceil(2),
            Family::Narrow => self.digits().div_ceil(4),
            _ => (self.words / self.layout.threads).div_ceil(4),
        };
        16 * quads as usize
    }

    /// Bytes of shared memory of a block.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        if let Some((layout, _)) = self.residues() {
            return layout.shared_bytes(true);
        }
        let words_of_block = match self.family {
            Family::TwoPass => {
                let Layout { threads, block, tile, .. } = self.layout;
                let groups =
                    if threads > 1 { 96 * (self.words / tile) + (tile - tile / threads) * block } else { 0 };
                (3 - self.in_table()) * self.words * block / threads + groups
            }
            Family::Wide if self.squares_in_groups() => 6 * self.digits() * self.layout.block,
            Family::Wide | Family::Narrow => 2 * self.digits() * self.layout.block,
            _ => 0,
        };
        4 * words_of_block
    }

    /// Numbers of the two-pass family that are in tables, so that as many blocks as wanted share a
    /// multiprocessor's memory: N, or N and the quotient.
    fn in_table(&self) -> u32 {
        let Layout { threads, block, resident, .. } = self.layout;
        let fits =
            |numbers: u32| resident * (4 * numbers * self.words * block + 1024) <= MAX_SHARED_BYTES + 1024;
        if threads > 1 { 0 } else { (0..2).find(|in_table| fits(3 - in_table)).unwrap_or(2) }
    }

    fn squares_in_groups(&self) -> bool {
        self.layout.threads > 1 && self.digits() >= 8
    }

    /// What is compiled.
    #[must_use]
    pub fn program(&self) -> Program {
        match self.family {
            Family::Rns => self.program_of(&[&RESIDUE_POWERS[..], &["rns_multiply", "rns_convert"]].concat()),
            family => self.program_of(&[family.name(), "operations"]),
        }
    }

    /// What is compiled for powers in residues modulo one number that the matrices have in them.
    #[must_use]
    pub fn merged_program(&self) -> Option<Program> {
        let (layout, _) = self.residues()?;
        let program = self.program_with(&RESIDUE_POWERS, Some(layout.merged()));
        Some(Program { name: format!("{}, one modulus", program.name), ..program })
    }

    /// Everything that is compiled for it, with what operations of RSA need.
    #[must_use]
    pub fn programs(&self) -> Vec<Program> {
        let others = [self.merged_program(), self.public_program(), self.garner_program()];
        [self.program()].into_iter().chain(others.into_iter().flatten()).collect()
    }

    /// What is compiled for powers with short public exponents, from octets to octets; not in residues.
    #[must_use]
    pub fn public_program(&self) -> Option<Program> {
        let files = [self.family.name(), "items", "public_power", "octets"];
        (self.family != Family::Rns).then(|| self.program_of(&files))
    }

    /// What is compiled for RSA with powers in residues, before and after these: the same for all layouts.
    #[must_use]
    pub fn garner_program(&self) -> Option<Program> {
        let defines = [
            ("WORDS", self.words),
            ("RADIX_BITS", 32 * self.words),
            // The seed is R^2 itself.
            ("SQUARINGS", 0),
            ("BLOCK", GARNER_BLOCK),
            ("RESIDENT", 1),
        ];
        let files = ["device", "call", "constants", "rsa"];
        (self.family == Family::Rns).then(|| Program {
            name: format!("Garner's step for primes of {} bits", 32 * self.words),
            main: files.map(|file| format!("#include \"{file}.cuh\"\n")).concat(),
            files: sources::ALL,
            defines: defines.map(|(name, value)| (name.to_owned(), value.to_string())).to_vec(),
            options: Vec::new(),
            specific: false,
        })
    }

    fn program_of(&self, files: &[&str]) -> Program {
        self.program_with(files, self.residues().map(|(layout, _)| layout))
    }

    fn program_with(&self, files: &[&str], residues: Option<ResidueLayout>) -> Program {
        let radix_bits = self.radix_bits();
        let mut defines = vec![
            ("WORDS", self.words),
            ("ROOM", u32::from(self.room)),
            ("RADIX_BITS", radix_bits),
            // Squarings of 2^(k / 2^s) R give 2^k R, if 2^s divides k.
            ("SQUARINGS", radix_bits.trailing_zeros().min(5)),
            ("THREADS", self.layout.threads),
            ("BLOCK", self.layout.block),
            ("RESIDENT", self.layout.resident),
        ];
        match self.family {
            Family::TwoPass => {
                defines.extend([("TILE", self.layout.tile), ("IN_TABLE", self.in_table())]);
            }
            Family::Wide => {
                defines.extend([
                    ("DIGITS", self.digits()),
                    ("GROUP_SQUARES", u32::from(self.squares_in_groups())),
                ]);
            }
            Family::Narrow => {
                defines.extend([("DIGITS", self.digits()), ("SAMPLE_BITS", self.sample_bits())])
            }
            _ => {}
        }
        defines.extend(residues.iter().flat_map(ResidueLayout::defines));
        let family = self.family.name();
        let includes = ["device", "call", "constants"].iter().chain(files);
        Program {
            name: format!("{family} of {} bits, {} threads a number", 32 * self.words, self.layout.threads),
            main: includes.map(|file| format!("#include \"{file}.cuh\"\n")).collect(),
            files: sources::ALL,
            defines: defines.into_iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
            options: Vec::new(),
            specific: residues.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_sizes_are_exact_and_no_size_is_far_off() {
        for bits in [128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 32768] {
            assert_eq!(words_for(bits) as usize * 32, bits);
        }
        for bits in 1..=32768 {
            let words = words_for(bits) as usize;
            assert!(words * 32 >= bits && (bits < 512 || words * 32 <= bits + bits / 4), "{bits}");
        }
    }

    #[test]
    fn radix_is_large_enough_for_every_family() {
        let layout = |threads, tile| Layout { threads, block: 128, resident: 2, tile };
        for bits in [100, 1000, 1024, 2048, 4096] {
            for threads in [1, 4, 8, 32] {
                for (family, tile) in
                    [(Family::Row, 0), (Family::TwoPass, 16), (Family::Wide, 0), (Family::Narrow, 0)]
                {
                    if let Some(variant) = Variant::new(family, bits, layout(threads, tile)) {
                        assert!(variant.radix_bits() as usize >= bits);
                        assert!(variant.input_bits() >= bits);
                    }
                }
            }
        }
    }
}
