//! What the kernels are handed, field by field as in `kernels/fft_*.cuh`.
#![allow(unsafe_code)] // says that the structures may be handed to kernels

use crate::call::Numbers;
use crate::device::KernelArguments;

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
    pub(super) most: u32,
}

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
