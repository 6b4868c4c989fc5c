//! One way to compile the kernels: a family, a size, and how many threads share the work.

use crate::compiler::Program;
use crate::device::{Limits, MAX_BLOCK};
use crate::family;
use crate::family::layout::{KernelSet, Layout, Placement, Size};
use crate::family::rns::Rns;
use crate::family::rns::layout::{OneModulusKernel, SECRET_WINDOW};
use crate::part::Part;
use modmill_core::Family;
use std::fmt;

/// A set of kernels for numbers of one size. Equal variants are compiled from the same program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The family of algorithms.
    pub family: Family,
    /// 32-bit words of a number.
    pub words: u32,
    /// Whether moduli have at least two bits less than the words hold, which spares a subtraction in every
    /// product.
    pub room: bool,
    /// How numbers are spread over threads.
    pub layout: Layout,
    /// The memory in which the kernels keep the data that may not fit shared memory.
    pub placement: Placement,
}

/// Words of the longest numbers that kernels take.
pub(crate) const MAX_WORDS: u32 = 1024;

/// A number of words above [`MAX_WORDS`], and a multiple of every step of lengths.
const MORE_WORDS: u32 = 2 * MAX_WORDS;

/// Threads of a block of the kernels of `rsa.cuh`.
pub(crate) const GARNER_BLOCK: u32 = 64;

/// The fewest registers of a thread that a layout may leave. Every kernel's addresses and counters take this
/// many.
const LEAST_REGISTERS: u32 = 32;

/// Words for numbers of `bits` bits: few enough sizes that a batch of mixed lengths does not compile for
/// minutes, and the common ones without waste.
#[must_use]
pub fn words_for(bits: usize) -> u32 {
    // Longer numbers have no kernel, and must not overflow.
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

/// The size of kernels for moduli of `bits` bits. Residues have room of their own.
fn size_for(family: Family, bits: usize) -> Size {
    let words = words_for(bits);
    Size { words, room: family != Family::Rns && bits.saturating_add(2) <= 32 * words as usize }
}

impl Variant {
    /// The variant for moduli of `bits` bits; `None` if the family has none in this layout, or the device has
    /// no room for it.
    #[must_use]
    pub fn new(family: Family, bits: usize, layout: Layout, limits: &Limits) -> Option<Self> {
        let Size { words, room } = size_for(family, bits);
        let unplaced = Self { family, words, room, layout, placement: Placement::Fixed };
        if !unplaced.is_shape() {
            return None;
        }
        let placement = family::place(family, unplaced.size(), &layout, limits)?;
        let variant = Self { placement, ..unplaced };
        variant.exists(limits).then_some(variant)
    }

    /// The variant for moduli of `bits` bits that is the most like a layout measured at `measured_bits` bits.
    /// The residue family cuts up its matrices anew for every length.
    pub(crate) fn nearest(
        family: Family,
        bits: usize,
        layout: Layout,
        measured_bits: usize,
        limits: &Limits,
    ) -> Option<Self> {
        if family != Family::Rns || words_for(bits) == words_for(measured_bits) {
            return Self::new(family, bits, layout, limits);
        }
        let candidates = Self::candidates(family, bits, limits);
        let same_block = candidates.iter().find(|variant| variant.layout.block == layout.block);
        same_block.or(candidates.last()).copied()
    }

    /// Every variant worth measuring for moduli of `bits` bits, within the limits of a device.
    #[must_use]
    pub fn candidates(family: Family, bits: usize, limits: &Limits) -> Vec<Self> {
        let layouts = family::layouts(family, size_for(family, bits), limits).into_iter();
        layouts.filter_map(|layout| Self::new(family, bits, layout, limits)).collect()
    }

    /// Whether the family has these kernels, and their numbers hold moduli of `bits` bits.
    pub(crate) fn serves(&self, bits: usize) -> bool {
        self.kernel_set().is_some() && bits > 0 && bits <= self.size().bits() as usize
    }

    /// Whether a family has this layout for moduli of `bits` bits on some device.
    pub(crate) fn is_layout(family: Family, bits: usize, layout: Layout) -> bool {
        let Size { words, room } = size_for(family, bits);
        let placement = family::least_placement(family);
        Self { family, words, room, layout, placement }.kernel_set().is_some()
    }

    /// Whether the family has these kernels, and a device has room and instructions for them.
    pub(crate) fn exists(&self, limits: &Limits) -> bool {
        let Layout { block, resident, .. } = self.layout;
        let threads = u64::from(block) * u64::from(resident.max(1));
        let Some(set) = self.kernel_set() else { return false };
        self.rns().is_none_or(|rns| rns.runs_on(limits))
            && limits.resident_blocks(block, set.shared_bytes) >= resident.max(1)
            && threads * u64::from(LEAST_REGISTERS) <= u64::from(limits.registers_per_multiprocessor)
    }

    /// Whether the numbers are ones that families can divide by.
    fn is_shape(&self) -> bool {
        let Layout { threads, block, .. } = self.layout;
        threads.is_power_of_two()
            && threads <= 32
            && block.is_multiple_of(32)
            && (32..=MAX_BLOCK).contains(&block)
            && (1..=MAX_WORDS).contains(&self.words)
    }

    fn size(&self) -> Size {
        Size { words: self.words, room: self.room }
    }

    /// The family's description of these kernels; `None` if it does not have them.
    fn kernel_set(&self) -> Option<KernelSet> {
        if !self.is_shape() {
            return None;
        }
        family::kernel_set(self.family, self.size(), &self.layout, self.placement)
    }

    /// The bases of the residue family, and how residues lie in memory.
    pub(crate) fn rns(&self) -> Option<Rns> {
        if self.family != Family::Rns || !self.is_shape() {
            return None;
        }
        Rns::new(self.words, &self.layout, self.placement)
    }

    /// The window of secret exponents, where the family has a fixed one.
    #[must_use]
    pub fn secret_window(&self) -> Option<u32> {
        (self.family == Family::Rns).then_some(SECRET_WINDOW)
    }

    /// log2 of the Montgomery radix R.
    #[must_use]
    pub fn radix_bits(&self) -> u32 {
        self.kernel_set().unwrap_or_default().radix_bits
    }

    /// Bits of the longest integers that kernels take as they are. Longer ones are reduced first.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.kernel_set().unwrap_or_default().input_bits
    }

    /// Bytes of a table entry that a thread keeps.
    pub(crate) fn entry_bytes(&self) -> usize {
        self.kernel_set().unwrap_or_default().entry_bytes
    }

    /// Bytes of shared memory of a block.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        self.kernel_set().unwrap_or_default().shared_bytes
    }

    /// The program of one part of the kernels; `None` if the family does not have it.
    #[must_use]
    pub fn program(&self, part: Part) -> Option<Program> {
        let files = match (self.family, part) {
            (_, Part::Preparation) => Vec::new(),
            (Family::Rns, Part::Chains) => return None,
            (Family::Rns, Part::Power | Part::PowerVartime) => family::rns::POWER_FILES.to_vec(),
            (Family::Rns, Part::Multiply) => [&family::rns::POWER_FILES[..], &["rns_multiply"]].concat(),
            (Family::Rns, Part::Conversion) => [&family::rns::POWER_FILES[..], &["rns_convert"]].concat(),
            (_, Part::Conversion) => return None,
            (family, Part::Power | Part::PowerVartime | Part::Multiply | Part::Chains) => {
                vec![family.name(), "operations"]
            }
        };
        Some(with_part(self.program_of(&files), part))
    }

    /// All parts in one program, for the emulated device: its compiler takes as long to read the files as to
    /// compile a part.
    pub(crate) fn whole_program(&self) -> Program {
        let files = match self.family {
            Family::Rns => [&family::rns::POWER_FILES[..], &["rns_multiply", "rns_convert"]].concat(),
            family => vec![family.name(), "operations"],
        };
        let mut program = self.program_of(&files);
        program.defines.extend(Part::ALL.map(|part| (part.define().to_owned(), "1".to_owned())));
        program
    }

    /// The program of powers in residues modulo one number that is a part of the matrices. `part` is one of
    /// the two parts with powers.
    #[must_use]
    pub fn merged_program(&self, part: Part) -> Option<Program> {
        let kernel = match part {
            Part::Power => OneModulusKernel::Power,
            _ => OneModulusKernel::PowerVartime,
        };
        let set = self.rns()?.merged(kernel)?.kernels();
        let program = with_part(self.program_with(&family::rns::POWER_FILES, &set), part);
        Some(Program { name: format!("{}, one modulus", program.name), ..program })
    }

    /// The program of powers of one base modulo one number that is a part of the matrices, in residues.
    #[must_use]
    pub fn fixed_base_program(&self) -> Option<Program> {
        let set = self.rns()?.merged(OneModulusKernel::FixedBase)?.kernels();
        let files = [&family::rns::POWER_FILES[..], &["rns_fixed"]].concat();
        let program = self.program_with(&files, &set);
        Some(Program { name: format!("{}, powers of one base", program.name), ..program })
    }

    /// Every program of the variant, including those that operations of RSA need.
    #[must_use]
    pub fn programs(&self) -> Vec<Program> {
        let parts = Part::ALL.into_iter().filter_map(|part| self.program(part));
        let merged = [Part::Power, Part::PowerVartime].map(|part| self.merged_program(part));
        let others = [self.public_program(), self.garner_program(), self.fixed_base_program()];
        parts.chain(merged.into_iter().chain(others).flatten()).collect()
    }

    /// The program of powers with short public exponents, from bytes to bytes. The residue family has none.
    #[must_use]
    pub fn public_program(&self) -> Option<Program> {
        let files = [self.family.name(), "items", "public_power", "octets"];
        (self.family != Family::Rns).then(|| with_part(self.program_of(&files), Part::Preparation))
    }

    /// The program of the steps of RSA before and after powers in residues. It is the same for all layouts.
    #[must_use]
    pub fn garner_program(&self) -> Option<Program> {
        let defines = [
            ("WORDS", self.words),
            ("RADIX_BITS", 32 * self.words),
            // The seed is R^2 itself.
            ("SQUARINGS", 0),
            ("BLOCK", GARNER_BLOCK),
            ("RESIDENT", 1),
            (Part::Preparation.define(), 1),
        ];
        let name = format!("Garner's step for primes of {} bits", 32 * self.words);
        (self.family == Family::Rns)
            .then(|| Program::new(name, &["device", "call", "constants", "rsa"], &defines))
    }

    /// The program of these files. That of a variant that does not exist is never compiled.
    fn program_of(&self, files: &[&str]) -> Program {
        self.program_with(files, &self.kernel_set().unwrap_or_default())
    }

    fn program_with(&self, files: &[&str], set: &KernelSet) -> Program {
        let Self { family, words, layout, .. } = *self;
        let mut defines = vec![
            ("WORDS", words),
            ("ROOM", u32::from(self.room)),
            ("RADIX_BITS", set.radix_bits),
            // Squarings of 2^(k / 2^s) R give 2^k R, if 2^s divides k.
            ("SQUARINGS", set.radix_bits.trailing_zeros().min(5)),
            ("THREADS", layout.threads),
            ("BLOCK", layout.block),
            ("RESIDENT", layout.resident),
        ];
        defines.extend(&set.defines);
        let name = format!("{family} of {} bits, {} threads a number", 32 * words, layout.threads);
        let files = [&["device", "call", "constants"], files].concat();
        Program { specific: family == Family::Rns, ..Program::new(name, &files, &defines) }
    }
}

/// A program with one of its parts.
fn with_part(mut program: Program, part: Part) -> Program {
    program.name = format!("{}, {}", program.name, part.describe());
    program.defines.push((part.define().to_owned(), "1".to_owned()));
    program
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { threads, block, .. } = self.layout;
        let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        write!(f, "{threads} a number, blocks of {block}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Chip;
    use crate::family::layout::Cut;

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
        let limits = Chip::H200.limits();
        let tiles = Some(Cut::Tile(16));
        let layout = |threads, cut| Layout { threads, block: 128, resident: 2, cut };
        for bits in [100, 1000, 1024, 2048, 4096] {
            for threads in [1, 4, 8, 32] {
                for (family, cut) in [
                    (Family::Row, None),
                    (Family::TwoPass, tiles),
                    (Family::Wide, None),
                    (Family::Narrow, None),
                ] {
                    if let Some(variant) = Variant::new(family, bits, layout(threads, cut), &limits) {
                        assert!(variant.radix_bits() as usize >= bits);
                        assert!(variant.input_bits() >= bits);
                    }
                }
            }
        }
    }
}
