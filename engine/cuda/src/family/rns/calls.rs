//! The structures that the residue family's kernels take, as in `rns_power.cuh` and `rns_convert.cuh`.
#![allow(unsafe_code)] // says that the structures may be handed to kernels

use crate::call::Numbers;
use crate::device::{KernelArguments, assert_layout};

/// `PowerCall` of `rns_power.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PowerCall {
    pub(crate) matrices: u64,
    pub(crate) channels: u64,
    pub(crate) workspace: u64,
    pub(crate) bases: u64,
    pub(crate) results: u64,
    pub(crate) seconds: u64,
    pub(crate) exponents: Numbers,
    pub(crate) exponent_bits: u32,
    pub(crate) window: u32,
    pub(crate) count: u32,
    pub(crate) modulus_stride: u32,
    pub(crate) tables: u32,
}

assert_layout!(PowerCall: 88 bytes, matrices at 0, channels at 8, workspace at 16, bases at 24, results at 32, seconds at 40, exponents at 48, exponent_bits at 64, window at 68, count at 72, modulus_stride at 76, tables at 80);

/// `ConversionCall` of `rns_convert.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ConversionCall {
    pub(super) input: Numbers,
    pub(super) channels: u64,
    pub(super) conversions: u64,
    pub(super) powers: u64,
    pub(super) radix: Numbers,
    pub(super) tiles: u64,
    pub(super) flags: u64,
    pub(super) roots: u64,
    pub(super) count: u32,
}

assert_layout!(ConversionCall: 88 bytes, input at 0, channels at 16, conversions at 24, powers at 32, radix at 40, tiles at 56, flags at 64, roots at 72, count at 80);

/// `RadixCall` of `rns_convert.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RadixCall {
    pub(super) moduli: Numbers,
    pub(super) leading: u64,
    pub(super) digits: u64,
    pub(super) rows: u64,
    pub(super) digit_count: u32,
    pub(super) first_bits: u32,
    pub(super) count: u32,
    pub(super) limbs: u32,
}

assert_layout!(RadixCall: 56 bytes, moduli at 0, leading at 16, digits at 24, rows at 32, digit_count at 40, first_bits at 44, count at 48, limbs at 52);

/// `WordsCall` of `rns_convert.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordsCall {
    pub(super) tiles: u64,
    pub(super) channels: u64,
    pub(super) cofactors: u64,
    pub(super) moduli: Numbers,
    pub(super) results: u64,
    pub(super) result_stride: u32,
    pub(super) result_length: u32,
    pub(super) count: u32,
    pub(super) limbs: u32,
}

assert_layout!(WordsCall: 64 bytes, tiles at 0, channels at 8, cofactors at 16, moduli at 24, results at 40, result_stride at 48, result_length at 52, count at 56, limbs at 60);

/// `ChooseCall` of `rns_fixed.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChooseCall {
    pub(super) entries: u64,
    pub(super) chosen: u64,
    pub(super) exponents: Numbers,
    pub(super) first: u32,
    pub(super) positions: u32,
    pub(super) window: u32,
    pub(super) count: u32,
    pub(super) rows: u32,
}

assert_layout!(ChooseCall: 56 bytes, entries at 0, chosen at 8, exponents at 16, first at 32, positions at 36, window at 40, count at 44, rows at 48);

// SAFETY: plain structures of integers, laid out as the kernels' own.
unsafe impl KernelArguments for PowerCall {}
// SAFETY: as above.
unsafe impl KernelArguments for ConversionCall {}
// SAFETY: as above.
unsafe impl KernelArguments for RadixCall {}
// SAFETY: as above.
unsafe impl KernelArguments for WordsCall {}
// SAFETY: as above.
unsafe impl KernelArguments for ChooseCall {}
