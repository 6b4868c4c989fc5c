//! The structures that all families' kernels take, as in `call.cuh` and `constants.cuh`.
#![allow(unsafe_code)] // says that the structures below may be handed to kernels

use crate::device::{Buffer, KernelArguments};

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
