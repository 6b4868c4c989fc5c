//! The family `rns`: residues modulo many primes, multiplied by constant matrices on the tensor cores. A warp
//! holds sixteen numbers.
//!
//! `layout` has the sizes of its data, `tables` the constants of a size, `calls` the structures that its
//! kernels take, `kernels` the sequence in which they run, and `fixed` the powers of one base. See
//! `docs/algorithms/rns.md`.

pub(crate) mod calls;
pub(crate) mod fixed;
pub(crate) mod kernels;
pub(crate) mod layout;
mod tables;

use super::layout::{Cut, KernelSet, Layout, Placement};
use crate::device::{Limits, Tensor};
use layout::{
    LEAST_STREAMED, MOST_GROUPS, MOST_IN_REGISTERS, OneModulusKernel, ResidueLayout, fewest_to_a, fewest_to_b,
};
use modmill_core::rns::Bases;
use std::sync::Arc;

/// The source files of powers in residues.
pub(crate) const POWER_FILES: [&str; 6] =
    ["rns", "rns_product", "rns_words", "rns_memory", "rns_scan", "rns_power"];

/// Two threads of a warp's 32 for each of its 16 numbers.
const THREADS: u32 = 2;

/// Groups for which four warpgroups have registers: with more, three are as fast, and faster with one
/// modulus.
const MOST_GROUPS_OF_FOUR: u32 = 12;

/// The bases of a size, and how residues lie in memory.
pub(crate) struct Rns {
    pub(crate) residues: ResidueLayout,
    pub(crate) bases: Arc<Bases>,
}

impl Rns {
    pub(crate) fn new(words: u32, layout: &Layout, placement: Placement) -> Option<Self> {
        let &Layout { threads: THREADS, block, cut: Some(Cut::Chunks(to_b, to_a)), .. } = layout else {
            return None;
        };
        // The four warps of a warpgroup work together. A single warp is for the emulated device.
        if block != 32 && !block.is_multiple_of(128) {
            return None;
        }
        let bases = Bases::for_bits(32 * words as usize)?;
        let residues = ResidueLayout::new(&bases, words, block, [to_b, to_a], placement)?;
        Some(Self { residues, bases })
    }

    /// Matrices that fit shared memory stay there. Others are streamed by devices with warpgroups, which
    /// multiply by matrices in shared memory only, and read from global memory by other devices.
    pub(super) fn place(words: u32, layout: &Layout, limits: &Limits) -> Option<Placement> {
        let set = Self::new(words, layout, Placement::Shared)?;
        let room = limits.shared_per_block.checked_sub(set.residues.other_bytes(true))?;
        // Matrices with a modulus are the larger ones. Chunks do not matter.
        let merged = set.residues.merged(OneModulusKernel::Power).unwrap_or(set.residues);
        if merged.matrices_bytes() <= room {
            return Some(Placement::Shared);
        }
        match limits.tensor() {
            Tensor::Warpgroups => Some(Placement::Ring(room)),
            Tensor::WarpTiles | Tensor::SmallTiles => Some(Placement::Global),
        }
    }

    /// The layouts worth measuring: for each number of warpgroups the fewest chunks that fit the registers,
    /// and one less to base A, which spills a little and waits less. Streamed matrices leave room for two
    /// warpgroups, and few long chunks are the best.
    pub(super) fn layouts(words: u32) -> Vec<Layout> {
        let channels = Bases::for_bits(32 * words as usize).map_or(0, |bases| bases.channels());
        let groups = u32::try_from(channels / 4).unwrap_or(u32::MAX);
        let layout = |block, (to_b, to_a)| {
            let cut = Some(Cut::Chunks(to_b, to_a));
            Layout { threads: THREADS, block, resident: 1, cut }
        };
        match groups {
            1..LEAST_STREAMED => {
                let blocks = [512, 384, 256].into_iter();
                let blocks = blocks.filter(|&block| block < 512 || groups <= MOST_GROUPS_OF_FOUR);
                let chunks = |block: u32| {
                    let chunks = fewest_to_b(groups, block).zip(fewest_to_a(groups, block, 12));
                    let pairs = chunks.into_iter().flat_map(|(to_b, to_a)| [(to_b, to_a), (to_b, to_a - 1)]);
                    pairs.filter(|&(_, to_a)| to_a > 0).map(move |chunks| layout(block, chunks))
                };
                blocks.flat_map(chunks).collect()
            }
            LEAST_STREAMED..=23 | 26 => vec![layout(256, (3, 3))],
            // With fewer chunks the compiler would put their products one after the other.
            24..=25 => vec![layout(256, (4, 5))],
            27..=34 => vec![layout(256, (groups.div_ceil(7), groups.div_ceil(5)))],
            // With (5, 7) chunks the compiler would put products one after the other, too.
            MOST_IN_REGISTERS => vec![layout(256, (6, 8))],
            // The longest chunks for which no registers are spilled in the loops.
            ..=MOST_GROUPS => vec![layout(256, (groups.div_ceil(6), groups.div_ceil(5)))],
            _ => Vec::new(),
        }
    }
    /// This size with one modulus for all items, which is a part of the matrices that `kernel` multiplies by.
    pub(crate) fn merged(self, kernel: OneModulusKernel) -> Option<Self> {
        Some(Self { residues: self.residues.merged(kernel)?, ..self })
    }

    /// The kernels of this size. Tables are a part of the workspace, so that threads keep no entries.
    pub(crate) fn kernels(&self) -> KernelSet {
        KernelSet {
            radix_bits: 32 * self.residues.words(),
            input_bits: self.bases.capacity_bits(),
            entry_bytes: 0,
            shared_bytes: self.residues.shared_bytes(true),
            defines: self.residues.defines(),
        }
    }

    /// Whether a device has the instructions that the kernels use.
    pub(crate) fn runs_on(&self, limits: &Limits) -> bool {
        let has_warpgroups = limits.tensor() == Tensor::Warpgroups;
        match self.residues.placement() {
            Placement::Ring(_) => has_warpgroups,
            // Without warpgroups a thread has both bases' words in registers.
            Placement::Global => !has_warpgroups && !self.residues.shares_words(),
            _ => true,
        }
    }
}
