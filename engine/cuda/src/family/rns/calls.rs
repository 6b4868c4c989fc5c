//! The structures that the residue family's kernels take, as in `rns_power.cuh` and `rns_convert.cuh`.

use crate::call::Numbers;
use crate::device::kernel_structs;

kernel_structs! {
    /// `PowerCall` of `rns_power.cuh`.
    pub(crate) struct PowerCall: 88 bytes {
        matrices at 0: u64,
        channels at 8: u64,
        workspace at 16: u64,
        bases at 24: u64,
        results at 32: u64,
        seconds at 40: u64,
        exponents at 48: Numbers,
        exponent_bits at 64: u32,
        window at 68: u32,
        count at 72: u32,
        modulus_stride at 76: u32,
        tables at 80: u32,
    }

    /// `ConversionCall` of `rns_convert.cuh`.
    pub(super) struct ConversionCall: 88 bytes {
        input at 0: Numbers,
        channels at 16: u64,
        conversions at 24: u64,
        powers at 32: u64,
        radix at 40: Numbers,
        tiles at 56: u64,
        flags at 64: u64,
        roots at 72: u64,
        count at 80: u32,
    }

    /// `RadixCall` of `rns_convert.cuh`.
    pub(super) struct RadixCall: 56 bytes {
        moduli at 0: Numbers,
        leading at 16: u64,
        digits at 24: u64,
        rows at 32: u64,
        digit_count at 40: u32,
        first_bits at 44: u32,
        count at 48: u32,
        limbs at 52: u32,
    }

    /// `WordsCall` of `rns_convert.cuh`.
    pub(super) struct WordsCall: 64 bytes {
        tiles at 0: u64,
        channels at 8: u64,
        cofactors at 16: u64,
        moduli at 24: Numbers,
        results at 40: u64,
        result_stride at 48: u32,
        result_length at 52: u32,
        count at 56: u32,
        limbs at 60: u32,
    }

    /// `ChooseCall` of `rns_fixed.cuh`.
    pub(super) struct ChooseCall: 56 bytes {
        entries at 0: u64,
        chosen at 8: u64,
        exponents at 16: Numbers,
        first at 32: u32,
        positions at 36: u32,
        window at 40: u32,
        count at 44: u32,
        rows at 48: u32,
    }
}
