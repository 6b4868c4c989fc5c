//! The kernels of a variant on one device, compiled part by part when they are needed.

use crate::compiler::Program;
use crate::device::{Device, Kernel, Module};
use crate::error::{Error, Result};
use crate::family::rns::kernels::Residues;
use crate::memo::Memo;
use crate::part::Part;
use crate::task::Task;
use crate::variant::Variant;
use modmill_core::Family;
use std::sync::Arc;

/// A variant on a device, with the parts that have been needed so far.
pub(crate) struct Kernels {
    variant: Variant,
    device: Device,
    /// The kernels of tasks that have been computed, by name, without and with constants of moduli.
    tasks: Memo<(&'static str, bool), TaskKernels>,
    /// The conversions and the constants of the residue family.
    residues: Memo<(), Arc<Residues>>,
}

/// The kernels for one task.
#[derive(Clone)]
pub(crate) struct TaskKernels {
    pub(crate) variant: Variant,
    /// The task's own kernel.
    pub(crate) kernel: Kernel,
    /// Blocks of it that the device computes at once.
    blocks: u32,
    /// The kernels that run first, if constants of moduli are needed or numbers have to be reduced.
    pub(crate) preparation: Option<PreparationKernels>,
    /// The conversions and the constants of the residue family.
    pub(crate) residues: Option<Arc<Residues>>,
}

/// The kernels that run before a task's own.
#[derive(Clone)]
pub(crate) struct PreparationKernels {
    pub(crate) constants: Kernel,
    pub(crate) reduce: Kernel,
}

impl Kernels {
    pub(crate) fn new(device: &Device, variant: Variant) -> Self {
        Self { variant, device: device.clone(), tasks: Memo::new(), residues: Memo::new() }
    }

    /// The kernels for a task. `is_prepared` asks for constants of moduli and remainders too.
    pub(crate) fn of(&self, task: &Task, is_prepared: bool) -> Result<TaskKernels> {
        self.tasks.get(&(name_of(task), is_prepared), || self.load(task, is_prepared))
    }

    fn load(&self, task: &Task, is_prepared: bool) -> Result<TaskKernels> {
        let variant = self.variant;
        let part = task.part();
        let is_residues = variant.family == Family::Rns;
        let mut parts = vec![part];
        parts.extend(is_prepared.then_some(Part::Preparation));
        parts.extend(is_residues.then_some(Part::Conversion));
        let mut modules = self.compiled(&parts)?.into_iter();
        let mut next = || modules.next().ok_or_else(|| Error::NoKernel { name: format!("for {part:?}") });
        let prefix = if is_residues { "residue_" } else { "" };
        let kernel = next()?.kernel(&format!("{prefix}{}", name_of(task)))?;
        let preparation = match is_prepared {
            false => None,
            true => {
                let module = next()?;
                Some(PreparationKernels {
                    constants: module.kernel("constants")?,
                    reduce: module.kernel("reduce")?,
                })
            }
        };
        let residues = if is_residues { Some(self.residues(&next()?)?) } else { None };
        let blocks = kernel.blocks(variant.layout.block, variant.shared_bytes())?;
        Ok(TaskKernels { variant, kernel, blocks, preparation, residues })
    }

    /// The modules of some parts. Those that are new are compiled side by side.
    fn compiled(&self, parts: &[Part]) -> Result<Vec<Module>> {
        let program = |part: &Part| {
            let (variant, family) = (self.variant, self.variant.family);
            let none = || Error::NoKernel { name: format!("for {} by {family}", part.describe()) };
            let program = variant.program(*part).ok_or_else(none)?;
            Ok(if self.device.properties().emulated { variant.whole_program() } else { program })
        };
        self.device.compile_all(&parts.iter().map(program).collect::<Result<Vec<Program>>>()?)
    }

    /// The conversions and the constants of the residue family, without the kernels of a task.
    pub(crate) fn conversions(&self) -> Result<Arc<Residues>> {
        let none = || Error::NoKernel { name: "for conversions to residues".to_owned() };
        let modules = self.compiled(&[Part::Conversion])?;
        self.residues(modules.first().ok_or_else(none)?)
    }

    fn residues(&self, conversions: &Module) -> Result<Arc<Residues>> {
        let load = || Ok(Arc::new(Residues::load(&self.device, conversions, &self.variant)?));
        self.residues.get(&(), load)
    }
}

/// The name of a task's kernel, without that of the residue family.
fn name_of(task: &Task) -> &'static str {
    match (task.part(), task) {
        (Part::Power, _) => "power",
        (Part::PowerVartime, _) => "power_vartime",
        (_, Task::MultiplyChain { .. } | Task::MontgomeryProduct) => "multiply_chain",
        (_, Task::SquareChain { .. }) => "square_chain",
        (_, Task::Multiply | Task::Square | Task::Power { .. }) => "multiply",
    }
}

/// [`TaskKernels::residue_shape`] on a device that holds `blocks` blocks of at most `block` threads.
pub(crate) fn residue_shape(blocks: u32, block: u32, count: usize) -> (u32, u32) {
    let warpgroups = (block / 128).max(1);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let needed = count.div_ceil(64 * blocks).clamp(1, warpgroups);
    let block = block / warpgroups * needed;
    (blocks.min(count.div_ceil(block / 2)), block)
}

/// [`TaskKernels::residue_threads`]. A number has two threads. Beyond these there is less than a block, whose
/// size depends on the count: fewer numbers may have more threads.
fn residue_threads(blocks: u32, block: u32, most: usize) -> usize {
    let (blocks, block) = (blocks as usize, block as usize);
    most.saturating_mul(2).saturating_add(block).min(blocks * block)
}

impl TaskKernels {
    /// The number of blocks for `count` numbers: no more than the device holds at once.
    pub(crate) fn grid(&self, count: usize) -> u32 {
        let layout = self.variant.layout;
        let needed = count.saturating_mul(layout.threads as usize).div_ceil(layout.block as usize);
        self.blocks.min(u32::try_from(needed).unwrap_or(u32::MAX))
    }

    /// The number of blocks, and of threads of a block, for `count` numbers in residues. Every multiprocessor
    /// gets one warpgroup before any gets more.
    pub(crate) fn residue_shape(&self, count: usize) -> (u32, u32) {
        residue_shape(self.blocks, self.variant.layout.block, count)
    }

    /// The most threads that [`TaskKernels::residue_shape`] has for `most` numbers or fewer: each warp has a
    /// table in the workspace.
    pub(crate) fn residue_threads(&self, most: usize) -> usize {
        residue_threads(self.blocks, self.variant.layout.block, most)
    }

    /// Numbers that the device computes at once.
    pub(crate) fn wave(&self) -> usize {
        self.blocks as usize * (self.variant.layout.block / self.variant.layout.threads) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_tables() {
        for blocks in [1, 2, 3, 5, 64, 132] {
            for block in [128, 256, 384, 512] {
                for most in (1..1000).chain([8448, 8577, 16896, 20000]) {
                    let threads = residue_threads(blocks, block, most);
                    for count in [1, most / 3, most / 2, most - 1, most] {
                        let (grid, block) = residue_shape(blocks, block, count.max(1));
                        assert!((grid * block) as usize <= threads, "{count} of {most} in {grid} x {block}");
                    }
                }
            }
        }
    }
}
