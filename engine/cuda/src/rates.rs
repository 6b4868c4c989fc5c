//! A table for a device that nobody measured: the measurements of an H200, scaled by the rates of the two
//! devices.
//!
//! A family is bound by one kind of instruction: multiply-adds of 32-bit integers, multiply-adds in double
//! precision, or products of bytes on the tensor cores together with integer steps. The model knows how many
//! of each a multiprocessor does in a clock. It says which family and layout are worth it, and roughly how
//! long a batch takes; `modmill tune` measures.

use crate::device::{Chip, Limits, Tensor};
use crate::family::layout::{Layout, Placement};
use crate::table::{Table, Timing};
use crate::variant::Variant;
use modmill_core::Family;

/// The part of a power in residues that an H200 spends on the tensor cores; the other part is integer steps.
const TENSOR_PART: f64 = 0.5;

/// How much longer products take whose matrices come from global memory, through caches that hold a part of
/// them.
const GLOBAL_MATRICES: f64 = 3.0;

/// Part of a multiprocessor that a single warp can use: one of four schedulers.
const ONE_WARP: f64 = 0.25;

/// The operations that a multiprocessor does in a clock.
struct Rates {
    /// Multiply-adds of 32-bit integers.
    integer: f64,
    /// Multiply-adds in double precision.
    double: f64,
    /// Multiply-adds of bytes on the tensor cores, by the instructions that the kernels use.
    tensor: f64,
}

impl Rates {
    /// The rates by compute capability, from the arithmetic throughput table of the CUDA C++ Programming
    /// Guide and the data sheets of the chips.
    fn of(limits: &Limits) -> Self {
        let single = if matches!(limits.capability, (7, _) | (8, 0)) { 64.0 } else { 128.0 };
        let tensor = match (limits.tensor(), limits.capability) {
            (Tensor::Warpgroups, _) => 4096.0,
            (Tensor::WarpTiles, (8, 0) | (10, _)) => 2048.0,
            (Tensor::WarpTiles | Tensor::SmallTiles, _) => 1024.0,
        };
        Self { integer: 64.0, double: single / f64::from(limits.single_per_double.max(1)), tensor }
    }

    /// How much longer a clock's work of `measured` takes here, for kernels of a variant.
    fn slowdown(&self, measured: &Self, variant: &Variant) -> f64 {
        let integer = measured.integer / self.integer;
        match variant.family {
            Family::Wide | Family::Narrow => measured.double / self.double,
            Family::Rns => {
                let matrices = if variant.placement == Placement::Global { GLOBAL_MATRICES } else { 1.0 };
                let tensor = matrices * measured.tensor / self.tensor;
                TENSOR_PART * tensor + (1.0 - TENSOR_PART) * integer
            }
            _ => integer,
        }
    }
}

impl Table {
    /// The table for a device called `name`: what was measured on an H200 for every device of its compute
    /// capability, and an estimate for the others.
    #[must_use]
    pub fn for_device(name: &str, limits: &Limits) -> Self {
        let shipped = Self::shipped();
        let measured = Chip::H200.limits();
        if limits.capability == measured.capability && limits.shared_per_block >= measured.shared_per_block {
            return shipped;
        }
        let timings = shipped.timings.iter().filter_map(|timing| estimated(timing, limits, &measured));
        Self { estimated: true, ..Self::measured(name, timings.collect()) }
    }
}

/// How much longer integer work takes on a device than on an H200, by the rates of all its multiprocessors.
pub(crate) fn integer_slowdown(limits: &Limits) -> f64 {
    let rate = |limits: &Limits| {
        Rates::of(limits).integer
            * f64::from(limits.multiprocessors.max(1))
            * f64::from(limits.clock_mhz.max(1))
    };
    rate(&Chip::H200.limits()) / rate(limits)
}

/// A measurement as it would be on another device; `None` if that has no room for the family at this size.
fn estimated(timing: &Timing, limits: &Limits, measured: &Limits) -> Option<Timing> {
    let variant = variant_like(timing, limits)?;
    let Layout { threads, block, .. } = variant.layout;
    let slowdown = Rates::of(limits).slowdown(&Rates::of(measured), &variant);
    let clock = f64::from(measured.clock_mhz) / f64::from(limits.clock_mhz.max(1));
    let numbers_of = |blocks: u32| blocks * (block / threads).max(1);
    let multiprocessor = timing.wave as f64 / f64::from(measured.multiprocessors);
    let room = limits.resident_blocks(block, variant.shared_bytes()).min(variant.layout.resident);
    let held = f64::from(numbers_of(room.max(1)));
    // A full multiprocessor works at its rate, however many numbers it holds. A single warp waits for its own
    // instructions, unless the rate is so low that it alone fills its part.
    let alone = timing.alone_seconds * clock * (ONE_WARP * slowdown).max(1.0);
    let full = |seconds: f64| (seconds * held / multiprocessor * clock * slowdown).max(alone);
    Some(Timing {
        layout: variant.layout,
        wave: numbers_of(room.max(1)) as usize * limits.multiprocessors.max(1) as usize,
        wave_seconds: full(timing.wave_seconds),
        direct_seconds: full(timing.direct_seconds),
        alone_seconds: alone,
        ..*timing
    })
}

/// The variant of a measurement, or the candidate of the device that is the most like it.
fn variant_like(timing: &Timing, limits: &Limits) -> Option<Variant> {
    let same = Variant::new(timing.family, timing.bits, timing.layout, limits);
    same.or_else(|| {
        let distance = |variant: &Variant| {
            let ratio = |own: u32, other: u32| (f64::from(own) / f64::from(other)).ln().abs();
            let Layout { threads, block, resident, .. } = variant.layout;
            let numbers = ratio(block * resident, timing.layout.block * timing.layout.resident);
            10.0 * ratio(threads, timing.layout.threads) + numbers
        };
        let candidates = Variant::candidates(timing.family, timing.bits, limits).into_iter();
        candidates.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::Op;

    fn table(chip: Chip) -> (Table, Limits) {
        (Table::for_device(chip.device_name(), &chip.limits()), chip.limits())
    }

    /// Every length has a choice for every operation and size of batch, and no choice exceeds the chip's
    /// limits.
    #[test]
    fn every_length_has_a_choice_within_the_limits_of_every_chip() {
        let lengths = (64..2048).step_by(32).chain((2048..=32768).step_by(256));
        for chip in Chip::ALL {
            let (table, limits) = table(chip);
            for bits in lengths.clone() {
                for (op, exponent_bits) in [(Op::Pow, bits), (Op::PowVartime, 17), (Op::MulMod, 0)] {
                    for count in [1, 1000, 1_000_000] {
                        let choices = table.choices(&limits, op, bits, count, exponent_bits);
                        assert!(!choices.is_empty(), "{chip}: {op} of {bits} bits");
                        for choice in choices {
                            let (variant, layout) = (choice.variant, choice.variant.layout);
                            let threads = layout.block * layout.resident;
                            assert!(
                                variant.shared_bytes() <= limits.shared_per_block
                                    && threads <= limits.threads_per_multiprocessor
                                    && layout.resident * (variant.shared_bytes() + limits.shared_reserved)
                                        <= limits.shared_per_multiprocessor
                                    && choice.seconds.is_finite()
                                    && choice.seconds > 0.0,
                                "{chip}: {choice:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn an_h200_is_measured_and_other_chips_are_estimated() {
        for chip in Chip::ALL {
            let (table, _) = table(chip);
            assert_eq!(table.estimated, chip != Chip::H200);
            assert!(table.basis().contains(chip.device_name()), "{}", table.basis());
            assert_eq!(table.basis().contains("modmill tune"), table.estimated);
        }
    }

    /// Chips that compute few products in double precision do not choose the families that need them.
    #[test]
    fn chips_with_slow_doubles_choose_integers() {
        for chip in [Chip::T4, Chip::A10, Chip::Rtx4090, Chip::Rtx5090] {
            let (table, limits) = table(chip);
            for bits in [256, 512, 1024, 2048, 4096, 8192] {
                for count in [1000, 1_000_000] {
                    let family = table.choices(&limits, Op::Pow, bits, count, bits)[0].variant.family;
                    assert!(
                        !matches!(family, Family::Wide | Family::Narrow),
                        "{chip}, {bits} bits: {family}"
                    );
                }
            }
        }
    }

    /// A chip with more multiprocessors at a higher clock takes less time for a large batch.
    #[test]
    fn larger_chips_are_faster() {
        let seconds = |chip| {
            let (table, limits) = table(chip);
            table.choices(&limits, Op::Pow, 1024, 1_000_000, 1024)[0].seconds
        };
        assert!(seconds(Chip::Rtx4090) < seconds(Chip::A10));
        assert!(seconds(Chip::A10) < seconds(Chip::T4));
        assert!(seconds(Chip::H200) < seconds(Chip::A100));
    }
}
