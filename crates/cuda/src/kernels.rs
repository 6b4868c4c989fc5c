//! The kernels of a variant on one device, and what they are handed.
#![allow(unsafe_code)] // says that the structures below may be handed to kernels

use crate::device::{Buffer, Device, Kernel, KernelArguments};
use crate::error::Result;
use crate::variant::Variant;

/// Numbers of a batch, as in `call.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub address: u64,
    /// Words from one number to the next; 0 if there is one for all items.
    pub stride: u32,
    /// Words of a number.
    pub length: u32,
}

impl Numbers {
    pub(crate) fn at(buffer: &Buffer, stride: u32, length: u32) -> Self {
        Self { address: buffer.address(), stride, length }
    }
}

/// `Call` of `call.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Call {
    pub a: Numbers,
    pub b: Numbers,
    pub constants: Numbers,
    pub results: u64,
    pub result_stride: u32,
    pub result_length: u32,
    pub scratch: u64,
    pub count: u32,
    pub exponent_bits: u32,
    pub window: u32,
    pub repeat: u32,
}

/// `Preparation` of `constants.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Preparation {
    pub input: Numbers,
    pub constants: Numbers,
    pub rows: u64,
    pub count: u32,
    pub limbs: u32,
}

// SAFETY: plain structures of integers, laid out as the kernels' own.
unsafe impl KernelArguments for Call {}
// SAFETY: as above.
unsafe impl KernelArguments for Preparation {}

/// A variant, compiled and loaded.
#[derive(Clone)]
pub(crate) struct Kernels {
    pub variant: Variant,
    pub power: Kernel,
    pub power_vartime: Kernel,
    pub multiply: Kernel,
    pub multiply_chain: Kernel,
    pub square_chain: Kernel,
    pub constants: Kernel,
    pub reduce: Kernel,
    /// Blocks that the device computes at once.
    pub blocks: u32,
}

impl Kernels {
    pub(crate) fn load(device: &Device, variant: Variant) -> Result<Self> {
        let module = device.compile(&variant.program())?;
        let power = module.kernel("power")?;
        let per_multiprocessor = power.occupancy(variant.layout.block, variant.shared_bytes())?.max(1);
        Ok(Self {
            variant,
            power_vartime: module.kernel("power_vartime")?,
            multiply: module.kernel("multiply")?,
            multiply_chain: module.kernel("multiply_chain")?,
            square_chain: module.kernel("square_chain")?,
            constants: module.kernel("constants")?,
            reduce: module.kernel("reduce")?,
            blocks: per_multiprocessor * device.properties().multiprocessors,
            power,
        })
    }

    /// Blocks for so many numbers: no more than the device holds.
    pub(crate) fn grid(&self, count: usize) -> u32 {
        let layout = self.variant.layout;
        let needed = count.saturating_mul(layout.threads as usize).div_ceil(layout.block as usize);
        self.blocks.min(u32::try_from(needed).unwrap_or(u32::MAX))
    }

    /// Numbers that the device computes at once.
    pub(crate) fn wave(&self) -> usize {
        self.blocks as usize * (self.variant.layout.block / self.variant.layout.threads) as usize
    }
}
