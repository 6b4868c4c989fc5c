//! The structures that all families' kernels take, as in `call.cuh` and `constants.cuh`.
#![allow(unsafe_code)] // says that the structures below may be handed to kernels

use crate::device::{Buffer, KernelArguments, assert_layout};
use crate::error::{Error, Result};

/// A count or a length as kernels take it, in 32 bits.
pub(crate) fn word(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::TooMany { number })
}

/// The numbers of a batch on the device, `Numbers` of `numbers.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub address: u64,
    /// Words from one number to the next; 0 if all items have the same number.
    pub stride: u32,
    /// Words of a number.
    pub length: u32,
}

assert_layout!(Numbers: 16 bytes, address at 0, stride at 8, length at 12);

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
    pub keeps_form: u32,
}

assert_layout!(Call: 96 bytes, a at 0, b at 16, constants at 32, results at 48, result_stride at 56, result_length at 60, scratch at 64, count at 72, exponent_bits at 76, window at 80, repeat at 84, keeps_form at 88);

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

assert_layout!(Preparation: 48 bytes, input at 0, constants at 16, rows at 32, count at 40, limbs at 44);

// SAFETY: plain structures of integers, laid out as the kernels' own.
unsafe impl KernelArguments for Call {}
// SAFETY: as above.
unsafe impl KernelArguments for Preparation {}
