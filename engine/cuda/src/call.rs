//! The structures that all families' kernels take, as in `call.cuh` and `constants.cuh`.

use crate::device::{Buffer, kernel_structs};
use crate::error::{Error, Result};

/// A count or a length as kernels take it, in 32 bits.
pub(crate) fn word(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::TooMany { number })
}

kernel_structs! {
    /// The numbers of a batch on the device, `Numbers` of `numbers.cuh`.
    pub(crate) struct Numbers: 16 bytes {
        address at 0: u64,
        /// Words from one number to the next; 0 if all items have the same number.
        stride at 8: u32,
        /// Words of a number.
        length at 12: u32,
    }
}

impl Numbers {
    pub(crate) fn at(buffer: &Buffer, stride: u32, length: u32) -> Self {
        Self { address: buffer.address(), stride, length }
    }
}

kernel_structs! {
    /// `Call` of `call.cuh`.
    pub(crate) struct Call: 96 bytes {
        a at 0: Numbers,
        b at 16: Numbers,
        constants at 32: Numbers,
        results at 48: u64,
        result_stride at 56: u32,
        result_length at 60: u32,
        scratch at 64: u64,
        count at 72: u32,
        exponent_bits at 76: u32,
        window at 80: u32,
        repeat at 84: u32,
        keeps_form at 88: u32,
    }

    /// `Preparation` of `constants.cuh`.
    pub(crate) struct Preparation: 48 bytes {
        input at 0: Numbers,
        constants at 16: Numbers,
        rows at 32: u64,
        count at 40: u32,
        limbs at 44: u32,
    }
}
