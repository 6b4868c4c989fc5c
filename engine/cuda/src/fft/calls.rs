//! The arguments of the kernels, field by field as in `kernels/fft/fft_*.cuh`.

use crate::call::Numbers;
use crate::device::kernel_structs;

kernel_structs! {
    /// `CutCall` of `fft_cut.cuh`.
    pub(super) struct CutCall: 104 bytes {
        numbers at 0: Numbers,
        addends at 16: Numbers,
        points at 32: u64,
        factors at 40: u64,
        roots at 48: u64,
        stride at 56: u32,
        log_stride at 60: u32,
        columns at 64: u32,
        rows at 68: u32,
        digit_bits at 72: u32,
        digits at 76: u32,
        offset at 80: u32,
        count at 84: u32,
        flags at 88: u64,
        flag_count at 96: u32,
    }

    /// `ColumnsCall` of `fft_columns.cuh`.
    pub(super) struct ColumnsCall: 32 bytes {
        points at 0: u64,
        factors at 8: u64,
        stride at 16: u32,
        log_stride at 20: u32,
        count at 24: u32,
    }

    /// `RowsCall` of `fft_rows.cuh`.
    pub(super) struct RowsCall: 56 bytes {
        a at 0: u64,
        b at 8: u64,
        there at 16: [u64; 2],
        back at 32: [u64; 2],
        b_rows at 48: u32,
        count at 52: u32,
    }

    /// `JoinCall` of `fft_join.cuh`.
    pub(super) struct JoinCall: 32 bytes {
        points at 0: u64,
        roots at 8: u64,
        columns at 16: u32,
        log_columns at 20: u32,
        count at 24: u32,
    }

    /// `CarryCall` of `fft_carry.cuh`.
    pub(super) struct CarryCall: 48 bytes {
        points at 0: u64,
        count at 8: u32,
        results at 16: u64,
        result_stride at 24: u32,
        flags at 32: u64,
        blocks at 40: u32,
    }

    /// `RemainderCall` of `fft_remainder.cuh`.
    pub(super) struct RemainderCall: 104 bytes {
        x at 0: Numbers,
        y at 16: Numbers,
        divisor at 32: Numbers,
        halves at 48: Numbers,
        estimates at 64: Numbers,
        results at 80: u64,
        result_stride at 88: u32,
        length at 92: u32,
        wrap at 96: u32,
        offset at 100: u32,
    }

    /// `ExtractCall` of `fft_extract.cuh`.
    pub(super) struct ExtractCall: 56 bytes {
        numbers at 0: Numbers,
        results at 16: u64,
        result_stride at 24: u32,
        skipped at 28: u32,
        offset at 32: u32,
        flip at 36: u32,
        bits at 40: u64,
        count at 48: u32,
    }

    /// `ChooseCall` of `fft_choose.cuh`.
    pub(super) struct ChooseCall: 56 bytes {
        exponents at 0: Numbers,
        table at 16: u64,
        results at 24: u64,
        entry_quads at 32: u64,
        row_quads at 40: u32,
        from at 44: u32,
        bits at 48: u32,
        count at 52: u32,
    }

    /// `SumsCall` of `fft_sums.cuh`.
    pub(super) struct SumsCall: 64 bytes {
        results at 0: u64,
        ends at 8: u64,
        rights_ends at 16: u64,
        lefts at 24: u64,
        rights at 32: u64,
        length at 40: u32,
        count at 44: u32,
        flags at 48: u64,
        flag_count at 56: u32,
    }

    /// `WeightedCall` of `fft_weighted.cuh`.
    pub(super) struct WeightedCall: 64 bytes {
        numbers at 0: Numbers,
        weights at 16: u64,
        results at 24: u64,
        count at 32: u32,
        sums at 36: u32,
        length at 40: u32,
        flags at 48: u64,
        flag_count at 56: u32,
    }
}
