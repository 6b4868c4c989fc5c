//! The kernels of a variant, loaded on one device.

use crate::device::{Device, Kernel};
use crate::error::{Error, Result};
use crate::family::rns::kernels::Residues;
use crate::task::{Reads, Task};
use crate::variant::Variant;
use modmill_core::Family;
use std::sync::Arc;

/// A variant, compiled and loaded.
#[derive(Clone)]
pub(crate) struct Kernels {
    pub variant: Variant,
    pub power: Kernel,
    pub power_vartime: Kernel,
    pub multiply: Kernel,
    /// The kernels of chains, in the families that have them.
    pub chains: Option<Chains>,
    pub constants: Kernel,
    pub reduce: Kernel,
    /// The other kernels and the constants of the residue family.
    pub residues: Option<Arc<Residues>>,
    /// Blocks that the device computes at once.
    pub blocks: u32,
}

/// Chains of Montgomery products and squares.
#[derive(Clone)]
pub(crate) struct Chains {
    pub multiply: Kernel,
    pub square: Kernel,
}

impl Kernels {
    pub(crate) fn load(device: &Device, variant: Variant) -> Result<Self> {
        let module = device.compile(&variant.program())?;
        let residues = Residues::load(device, &module, &variant)?;
        let prefix = if residues.is_some() { "residue_" } else { "" };
        let kernel = |name: &str| module.kernel(&format!("{prefix}{name}"));
        let power = kernel("power")?;
        let per_multiprocessor = power.occupancy(variant.layout.block, variant.shared_bytes())?.max(1);
        let chains = match variant.family {
            Family::Rns => None,
            _ => Some(Chains { multiply: kernel("multiply_chain")?, square: kernel("square_chain")? }),
        };
        Ok(Self {
            variant,
            power_vartime: kernel("power_vartime")?,
            multiply: kernel("multiply")?,
            chains,
            constants: module.kernel("constants")?,
            reduce: module.kernel("reduce")?,
            residues,
            blocks: per_multiprocessor * device.limits().multiprocessors,
            power,
        })
    }

    /// The kernel that computes a task; an error if the family has none.
    pub(crate) fn of(&self, task: &Task) -> Result<&Kernel> {
        let chains = || {
            let name = || format!("for chains of products by {}", self.variant.family);
            self.chains.as_ref().ok_or_else(|| Error::NoKernel { name: name() })
        };
        Ok(match task {
            Task::Power { reads: Reads::Whole, .. } => &self.power,
            Task::Power { .. } => &self.power_vartime,
            Task::Multiply | Task::Square => &self.multiply,
            Task::MultiplyChain { .. } => &chains()?.multiply,
            Task::SquareChain { .. } => &chains()?.square,
        })
    }

    /// The number of blocks for `count` numbers: no more than the device holds at once.
    pub(crate) fn grid(&self, count: usize) -> u32 {
        let layout = self.variant.layout;
        let needed = count.saturating_mul(layout.threads as usize).div_ceil(layout.block as usize);
        self.blocks.min(u32::try_from(needed).unwrap_or(u32::MAX))
    }

    /// The number of blocks, and of threads of a block, for `count` numbers in residues. Every multiprocessor gets one
    /// warpgroup before any gets more.
    pub(crate) fn residue_shape(&self, count: usize) -> (u32, u32) {
        let block = self.variant.layout.block;
        let warpgroups = (block / 128).max(1);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let needed = count.div_ceil(64 * self.blocks).clamp(1, warpgroups);
        let block = block / warpgroups * needed;
        (self.blocks.min(count.div_ceil(block / 2)), block)
    }

    /// Numbers that the device computes at once.
    pub(crate) fn wave(&self) -> usize {
        self.blocks as usize * (self.variant.layout.block / self.variant.layout.threads) as usize
    }
}
