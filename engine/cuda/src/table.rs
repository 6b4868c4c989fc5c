//! The timings of a device, measured or estimated, and the choice that follows from them.

mod transforms;

use crate::device::Limits;
use crate::family::layout::Layout;
use crate::variant::{Variant, words_for};
use modmill_core::{Family, Op};
use serde::{Deserialize, Serialize};
pub use transforms::{TransformTiming, Transforms};

/// The time of one way to compute powers of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Bits of moduli and exponents.
    pub bits: usize,
    /// The family, by its name.
    #[serde(with = "by_name")]
    pub family: Family,
    /// How numbers are spread over threads.
    #[serde(flatten)]
    pub layout: Layout,
    /// The window where every digit reads the whole table.
    pub window: u32,
    /// Powers that the device computes at once.
    pub wave: usize,
    /// Seconds for that many powers.
    pub wave_seconds: f64,
    /// Seconds for that many powers where a digit reads only its own entry.
    pub direct_seconds: f64,
    /// Seconds for as many powers as give every multiprocessor a single warp.
    pub alone_seconds: f64,
}

/// Families and operations by their names.
mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(super) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The timings of a kind of device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The device's name.
    pub device: String,
    /// The measurements or estimates.
    pub timings: Vec<Timing>,
    /// The measured times of products by transforms.
    #[serde(default)]
    pub transforms: Transforms,
    /// Whether the timings are estimates from the rates of the device.
    #[serde(skip)]
    pub estimated: bool,
}

/// A chosen variant, and its estimated time.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The kernels that run.
    pub variant: Variant,
    /// Window of a power.
    pub window: u32,
    /// Estimated seconds for the whole batch.
    pub seconds: f64,
}

/// The longest window worth its table where a digit reads only its own entry.
const MAX_DIRECT_WINDOW: u32 = 6;

/// The longest window that a caller may ask for. The tables of longer ones do not fit a GPU's memory.
pub(crate) const MAX_WINDOW: u32 = 8;

/// The conversions to residues and back, as a part of a power with an exponent of full length. Every
/// operation in residues takes this time.
const RESIDUE_CONVERSIONS: f64 = 0.04;

/// Seconds to hand a batch to a device and to get it back.
const OVERHEAD_SECONDS: f64 = 150e-6;

impl Table {
    /// A table of measurements.
    #[must_use]
    pub fn measured(device: &str, timings: Vec<Timing>) -> Self {
        let (device, transforms) = (device.to_owned(), Transforms::default());
        Self { device, timings, transforms, estimated: false }
    }

    /// The source of the timings, in words.
    #[must_use]
    pub fn basis(&self) -> String {
        if self.estimated {
            format!("estimated from the rates of {}; `modmill tune` measures", self.device)
        } else {
            format!("measured on {}", self.device)
        }
    }

    /// The timings that were measured on an H200.
    ///
    /// # Panics
    /// Never: the table is a part of the program, and tests read it.
    #[must_use]
    pub fn shipped() -> Self {
        serde_json::from_str(include_str!("../plans/sm_90.json")).expect("the shipped table is valid")
    }

    /// Every way to compute a batch on a device with these limits, the fastest first.
    #[must_use]
    pub fn choices(
        &self,
        limits: &Limits,
        op: Op,
        bits: usize,
        count: usize,
        exponent_bits: usize,
    ) -> Vec<Choice> {
        let size = |bits: usize| f64::from(words_for(bits));
        let nearest = |timing: &&Timing| (size(timing.bits) / size(bits)).ln().abs();
        let Some(distance) = self.timings.iter().map(|timing| nearest(&timing)).min_by(f64::total_cmp) else {
            return Vec::new();
        };
        let mut choices: Vec<Choice> = self
            .timings
            .iter()
            .filter(|timing| nearest(timing) <= distance + 1e-9)
            .filter_map(|timing| {
                // `None` if the device has no room for it.
                let variant = Variant::nearest(timing.family, bits, timing.layout, timing.bits, limits)?;
                let longest = if op == Op::PowVartime { MAX_DIRECT_WINDOW } else { timing.window };
                let window = best_window(longest, exponent_bits);
                Some(Choice { variant, window, seconds: timing.seconds(op, bits, count, exponent_bits) })
            })
            .collect();
        choices.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        choices
    }
}

impl Timing {
    /// Estimated seconds of a batch of `count` items.
    pub(crate) fn seconds(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> f64 {
        let waves = count as f64 / self.wave as f64;
        let part = waves.fract();
        let rest = if part > 0.0 {
            self.alone_seconds + part * (self.wave_seconds - self.alone_seconds)
        } else {
            0.0
        };
        // Products grow with the square of the length, and a power has as many as the exponent has bits.
        let product = (f64::from(words_for(bits)) / f64::from(words_for(self.bits))).powi(2);
        let products = match op {
            Op::Pow | Op::PowVartime => exponent_bits as f64 / self.bits as f64,
            _ => 8.0 / (1.25 * self.bits as f64),
        };
        let products = products + if self.family == Family::Rns { RESIDUE_CONVERSIONS } else { 0.0 };
        let reads = if op == Op::PowVartime { self.direct_seconds / self.wave_seconds } else { 1.0 };
        OVERHEAD_SECONDS + reads * product * products * (waves.floor() * self.wave_seconds + rest)
    }
}

/// The window of an exponent where a digit reads only its own entry.
#[must_use]
pub fn direct_window(exponent_bits: usize) -> u32 {
    best_window(MAX_DIRECT_WINDOW, exponent_bits)
}

/// The window with the fewest products for the table and for the digits of an exponent. `full` is the best
/// window of an exponent as long as the modulus, and the longest that is considered.
fn best_window(full: u32, exponent_bits: usize) -> u32 {
    let cost = |window: u32| (1usize << window) + exponent_bits.div_ceil(window as usize);
    (1..=full.min(MAX_WINDOW)).min_by_key(|&window| cost(window)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Chip;

    #[test]
    fn the_shipped_table_serves_every_size() {
        let table = Table::shipped();
        for bits in (1..2000).chain([2048, 3072, 4096, 8192, 16384, 32768]) {
            for count in [1, 1000, 1_000_000] {
                assert!(
                    !table.choices(&Chip::H200.limits(), Op::Pow, bits, count, bits).is_empty(),
                    "{bits} bits"
                );
            }
        }
    }

    /// Converting to residues and back takes longer than a few products.
    #[test]
    fn residues_are_for_long_exponents() {
        let table = Table::shipped();
        for bits in [1024, 2048, 4096] {
            for (op, exponent_bits) in [(Op::PowVartime, 17), (Op::MulMod, 0), (Op::SquareMod, 0)] {
                let choice = table.choices(&Chip::H200.limits(), op, bits, 1_000_000, exponent_bits)[0];
                assert_ne!(choice.variant.family, Family::Rns, "{op} at {bits} bits");
            }
        }
    }

    /// Residues are the fastest from 1024 bits on, also between the lengths that were measured.
    #[test]
    fn residues_serve_every_length() {
        let table = Table::shipped();
        for bits in (1024..=4096).step_by(32) {
            let choice = table.choices(&Chip::H200.limits(), Op::Pow, bits, 1_000_000, bits)[0];
            assert_eq!(choice.variant.family, Family::Rns, "{bits} bits");
        }
    }

    #[test]
    fn small_batches_are_spread_over_more_threads() {
        let table = Table::shipped();
        let threads =
            |count| table.choices(&Chip::H200.limits(), Op::Pow, 1024, count, 1024)[0].variant.layout.threads;
        assert!(threads(100) > threads(1_000_000));
    }

    #[test]
    fn short_exponents_have_short_windows() {
        assert_eq!(best_window(5, 17), 2);
        assert_eq!(best_window(5, 1024), 5);
        assert_eq!(best_window(5, 1), 1);
    }
}
