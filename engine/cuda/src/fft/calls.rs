//! The arguments of the kernels, field by field as in `kernels/fft_*.cuh`.
#![allow(unsafe_code)] // says that the structures may be handed to kernels

use crate::call::Numbers;
use crate::device::{KernelArguments, assert_layout};

/// `CutCall` of `fft_cut.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CutCall {
    pub(super) numbers: Numbers,
    pub(super) addends: Numbers,
    pub(super) points: u64,
    pub(super) factors: u64,
    pub(super) roots: u64,
    pub(super) stride: u32,
    pub(super) log_stride: u32,
    pub(super) columns: u32,
    pub(super) rows: u32,
    pub(super) digit_bits: u32,
    pub(super) digits: u32,
    pub(super) offset: u32,
    pub(super) count: u32,
    pub(super) flags: u64,
    pub(super) flag_count: u32,
}

assert_layout!(CutCall: 104 bytes, numbers at 0, addends at 16, points at 32, factors at 40, roots at 48, stride at 56, log_stride at 60, columns at 64, rows at 68, digit_bits at 72, digits at 76, offset at 80, count at 84, flags at 88, flag_count at 96);

/// `ColumnsCall` of `fft_columns.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ColumnsCall {
    pub(super) points: u64,
    pub(super) factors: u64,
    pub(super) stride: u32,
    pub(super) log_stride: u32,
    pub(super) count: u32,
}

assert_layout!(ColumnsCall: 32 bytes, points at 0, factors at 8, stride at 16, log_stride at 20, count at 24);

/// `RowsCall` of `fft_rows.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowsCall {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) there: [u64; 2],
    pub(super) back: [u64; 2],
    pub(super) b_rows: u32,
    pub(super) count: u32,
}

assert_layout!(RowsCall: 56 bytes, a at 0, b at 8, there at 16, back at 32, b_rows at 48, count at 52);

/// `JoinCall` of `fft_join.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JoinCall {
    pub(super) points: u64,
    pub(super) roots: u64,
    pub(super) columns: u32,
    pub(super) log_columns: u32,
    pub(super) count: u32,
}

assert_layout!(JoinCall: 32 bytes, points at 0, roots at 8, columns at 16, log_columns at 20, count at 24);

/// `CarryCall` of `fft_carry.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CarryCall {
    pub(super) points: u64,
    pub(super) count: u32,
    pub(super) results: u64,
    pub(super) result_stride: u32,
    pub(super) flags: u64,
    pub(super) blocks: u32,
}

assert_layout!(CarryCall: 48 bytes, points at 0, count at 8, results at 16, result_stride at 24, flags at 32, blocks at 40);

/// `RemainderCall` of `fft_remainder.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RemainderCall {
    pub(super) x: Numbers,
    pub(super) y: Numbers,
    pub(super) divisor: Numbers,
    pub(super) halves: Numbers,
    pub(super) estimates: Numbers,
    pub(super) results: u64,
    pub(super) result_stride: u32,
    pub(super) length: u32,
    pub(super) wrap: u32,
    pub(super) offset: u32,
}

assert_layout!(RemainderCall: 104 bytes, x at 0, y at 16, divisor at 32, halves at 48, estimates at 64, results at 80, result_stride at 88, length at 92, wrap at 96, offset at 100);

/// `ExtractCall` of `fft_extract.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExtractCall {
    pub(super) numbers: Numbers,
    pub(super) results: u64,
    pub(super) result_stride: u32,
    pub(super) skipped: u32,
    pub(super) offset: u32,
    pub(super) flip: u32,
    pub(super) bits: u64,
    pub(super) count: u32,
}

assert_layout!(ExtractCall: 56 bytes, numbers at 0, results at 16, result_stride at 24, skipped at 28, offset at 32, flip at 36, bits at 40, count at 48);

/// `ChooseCall` of `fft_choose.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChooseCall {
    pub(super) exponents: Numbers,
    pub(super) table: u64,
    pub(super) results: u64,
    pub(super) entry_quads: u64,
    pub(super) row_quads: u32,
    pub(super) from: u32,
    pub(super) bits: u32,
    pub(super) count: u32,
}

assert_layout!(ChooseCall: 56 bytes, exponents at 0, table at 16, results at 24, entry_quads at 32, row_quads at 40, from at 44, bits at 48, count at 52);

/// `SumsCall` of `fft_sums.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SumsCall {
    pub(super) results: u64,
    pub(super) ends: u64,
    pub(super) rights_ends: u64,
    pub(super) lefts: u64,
    pub(super) rights: u64,
    pub(super) length: u32,
    pub(super) count: u32,
    pub(super) flags: u64,
    pub(super) flag_count: u32,
}

assert_layout!(SumsCall: 64 bytes, results at 0, ends at 8, rights_ends at 16, lefts at 24, rights at 32, length at 40, count at 44, flags at 48, flag_count at 56);

/// `WeightedCall` of `fft_weighted.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WeightedCall {
    pub(super) numbers: Numbers,
    pub(super) weights: u64,
    pub(super) results: u64,
    pub(super) count: u32,
    pub(super) sums: u32,
    pub(super) length: u32,
    pub(super) flags: u64,
    pub(super) flag_count: u32,
}

assert_layout!(WeightedCall: 64 bytes, numbers at 0, weights at 16, results at 24, count at 32, sums at 36, length at 40, flags at 48, flag_count at 56);

// SAFETY: plain structures of integers, laid out as the kernels' own.
unsafe impl KernelArguments for CutCall {}
// SAFETY: as above.
unsafe impl KernelArguments for ColumnsCall {}
// SAFETY: as above.
unsafe impl KernelArguments for RowsCall {}
// SAFETY: as above.
unsafe impl KernelArguments for JoinCall {}
// SAFETY: as above.
unsafe impl KernelArguments for CarryCall {}
// SAFETY: as above.
unsafe impl KernelArguments for RemainderCall {}
// SAFETY: as above.
unsafe impl KernelArguments for ChooseCall {}
// SAFETY: as above.
unsafe impl KernelArguments for ExtractCall {}
// SAFETY: as above.
unsafe impl KernelArguments for SumsCall {}
// SAFETY: as above.
unsafe impl KernelArguments for WeightedCall {}
