//! Measured times of products by transforms.

use modmill_core::Op;
use serde::{Deserialize, Serialize};

/// The time of one operation by transforms at one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransformTiming {
    /// `Mul`, `Square` or `MulMod`, by its name.
    #[serde(with = "super::by_name")]
    pub op: Op,
    /// Bits of each factor, and of the modulus.
    pub bits: usize,
    /// Items of a batch that fills the device.
    pub batch: usize,
    /// Seconds in kernels for that batch.
    pub batch_seconds: f64,
    /// Seconds in kernels for a single item.
    pub alone_seconds: f64,
}

/// The measured times of products by transforms. A table that was written before they were measured has
/// none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transforms(pub Vec<TransformTiming>);

impl Transforms {
    /// Estimated seconds in kernels for `count` items; `None` if the operation was not measured.
    ///
    /// Between two measured lengths the time per bit is interpolated over the logarithm of the length.
    /// Beyond the shortest and the longest, the time per bit of the nearest length holds.
    #[must_use]
    pub fn seconds(&self, op: Op, bits: usize, count: usize) -> Option<f64> {
        let per_bit = |time: fn(&TransformTiming) -> f64| self.per_bit(op, bits, time);
        let in_batch = per_bit(|timing| timing.batch_seconds / timing.batch as f64)?;
        let alone = per_bit(|timing| timing.alone_seconds)?;
        Some(bits as f64 * (count as f64 * in_batch).max(alone))
    }

    fn per_bit(&self, op: Op, bits: usize, time: fn(&TransformTiming) -> f64) -> Option<f64> {
        let mut points: Vec<(f64, f64)> = self
            .0
            .iter()
            .filter(|timing| timing.op == op)
            .map(|timing| ((timing.bits as f64).ln(), time(timing) / timing.bits as f64))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let place = (bits as f64).ln();
        let after = points.iter().position(|point| point.0 >= place);
        match after {
            None => points.last().map(|point| point.1),
            Some(0) => points.first().map(|point| point.1),
            Some(after) => {
                let (low, high) = (points[after - 1], points[after]);
                let part = (place - low.0) / (high.0 - low.0);
                Some(low.1 + part * (high.1 - low.1))
            }
        }
    }

    /// The first timing that no measurement can have produced.
    pub(crate) fn unsound(&self) -> Option<&TransformTiming> {
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        self.0.iter().find(|timing| {
            let are_times = is_time(timing.batch_seconds) && is_time(timing.alone_seconds);
            timing.bits == 0 || timing.batch == 0 || !are_times
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transforms() -> Transforms {
        let timing = |op, bits, batch_seconds, alone_seconds| TransformTiming {
            op,
            bits,
            batch: 100,
            batch_seconds,
            alone_seconds,
        };
        Transforms(vec![
            timing(Op::Mul, 1 << 20, 0.3, 0.004),
            timing(Op::Mul, 1 << 16, 0.01, 0.002),
            timing(Op::Square, 1 << 16, 0.008, 0.001),
        ])
    }

    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn measured_lengths_have_their_measured_times() {
        close(transforms().seconds(Op::Mul, 1 << 16, 100), 0.01);
        close(transforms().seconds(Op::Mul, 1 << 16, 1000), 0.1);
        close(transforms().seconds(Op::Mul, 1 << 16, 1), 0.002);
        close(transforms().seconds(Op::Mul, 1 << 20, 100), 0.3);
        close(transforms().seconds(Op::Square, 1 << 16, 100), 0.008);
        assert_eq!(transforms().seconds(Op::MulMod, 1 << 16, 100), None);
    }

    #[test]
    fn other_lengths_are_interpolated_per_bit() {
        let per_bit = |bits: usize| transforms().seconds(Op::Mul, bits, 1 << 20).unwrap() / bits as f64;
        let (low, high) = (per_bit(1 << 16), per_bit(1 << 20));
        close(Some(per_bit(1 << 18)), (low + high) / 2.0);
        close(Some(per_bit(1 << 12)), low);
        close(Some(per_bit(1 << 24)), high);
    }

    #[test]
    fn impossible_timings_are_found() {
        assert_eq!(transforms().unsound(), None);
        for spoil in [
            |timing: &mut TransformTiming| timing.bits = 0,
            |timing: &mut TransformTiming| timing.batch = 0,
            |timing: &mut TransformTiming| timing.batch_seconds = f64::NAN,
            |timing: &mut TransformTiming| timing.alone_seconds = -1.0,
        ] {
            let mut spoilt = transforms();
            spoil(&mut spoilt.0[1]);
            assert!(spoilt.unsound().is_some(), "{spoilt:?}");
        }
    }
}
