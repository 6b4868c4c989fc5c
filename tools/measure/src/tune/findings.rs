//! The measurements of a tuning, and the table that they make.

use modmill::{Family, Op};
use modmill_cuda::{Layout, Table, Timing, TransformTiming, Transforms, Variant};
use std::fmt;

/// The measurements of some lengths.
#[derive(Default)]
pub(super) struct Findings {
    /// The families and lengths that were measured.
    pub(super) measured: Vec<(Family, usize)>,
    /// One timing per variant and window.
    pub(super) timings: Vec<Timing>,
    /// One timing per operation by transforms and length.
    pub(super) transforms: Vec<TransformTiming>,
    pub(super) failed: Vec<Failed>,
    /// Whether an answer was wrong.
    pub(super) wrong: bool,
}

/// Something that does not compile, does not run or gives wrong answers.
pub(super) struct Failed {
    pub(super) bits: usize,
    pub(super) what: Candidate,
    pub(super) reason: String,
}

/// The kernels or the operation that failed.
pub(super) enum Candidate {
    Kernels(Variant),
    Transforms(Op),
}

/// The reason of a failure that makes the whole tuning fail.
pub(super) const WRONG: &str = "its answers are wrong";

impl Findings {
    pub(super) fn fail(&mut self, bits: usize, what: Candidate, reason: String) {
        self.wrong |= reason == WRONG;
        self.failed.push(Failed { bits, what, reason });
    }

    /// A table in which these timings replace the old ones of the same families and lengths. Timings of
    /// another device at these lengths are dropped, and all of its transforms.
    pub(super) fn merged_into(&self, old: &Table, device: &str) -> Table {
        let same_device = !old.estimated && old.device == device;
        let stays = |timing: &&Timing| {
            let is_again = |&(family, bits): &(Family, usize)| {
                bits == timing.bits && (!same_device || family == timing.family)
            };
            !self.measured.iter().any(is_again)
        };
        let transform_stays = |old: &&TransformTiming| {
            let is_again = |new: &TransformTiming| (new.op, new.bits) == (old.op, old.bits);
            same_device && !self.transforms.iter().any(is_again)
        };
        let timings = old.timings.iter().filter(stays).chain(&self.timings).copied().collect();
        let mut transforms: Vec<TransformTiming> =
            old.transforms.0.iter().filter(transform_stays).chain(&self.transforms).copied().collect();
        transforms.sort_by_key(|timing| (timing.op, timing.bits));
        let mut table = Table::measured(device, timings);
        table.transforms = Transforms(transforms);
        table.keep_winners();
        table
    }
}

impl Failed {
    pub(super) fn family(&self) -> Family {
        match &self.what {
            Candidate::Kernels(variant) => variant.family,
            Candidate::Transforms(_) => Family::Fft,
        }
    }

    /// How the kernels were spread over threads.
    pub(super) fn layout(&self) -> Option<Layout> {
        match &self.what {
            Candidate::Kernels(variant) => Some(variant.layout),
            Candidate::Transforms(_) => None,
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bits, what, reason } = self;
        match what {
            Candidate::Kernels(Variant { family, layout, .. }) => {
                write!(f, "{family} of {bits} bits, {} threads: {reason}", layout.threads)
            }
            Candidate::Transforms(op) => write!(f, "{op} of {bits} bits by transforms: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(bits: usize, family: Family, wave_seconds: f64) -> Timing {
        let layout = Layout { threads: 1, block: 128, resident: 3, cut: None };
        Timing {
            bits,
            family,
            layout,
            window: 4,
            wave: 1000,
            wave_seconds,
            direct_seconds: wave_seconds,
            alone_seconds: wave_seconds / 2.0,
        }
    }

    fn transform(op: Op, bits: usize, batch_seconds: f64) -> TransformTiming {
        TransformTiming { op, bits, batch: 4, batch_seconds, alone_seconds: batch_seconds }
    }

    #[test]
    fn timings_that_are_measured_again_are_replaced() {
        let (old, wide) = (timing(256, Family::Row, 0.1), timing(256, Family::Wide, 0.05));
        let (new, other) = (timing(256, Family::Row, 0.2), timing(512, Family::Row, 0.4));
        let old_transforms = [transform(Op::Mul, 4096, 0.1), transform(Op::Square, 4096, 0.2)];
        let again = transform(Op::Mul, 4096, 0.3);
        let findings = Findings {
            measured: vec![(Family::Row, 256)],
            timings: vec![new],
            transforms: vec![again],
            ..Findings::default()
        };
        let merged = |device: &str| {
            let mut old = Table::measured(device, vec![old, wide, other]);
            old.transforms = Transforms(old_transforms.to_vec());
            let table = findings.merged_into(&old, "mine");
            assert_eq!(table.device, "mine");
            (table.timings, table.transforms.0)
        };
        assert_eq!(merged("mine"), (vec![wide, new, other], vec![again, old_transforms[1]]));
        assert_eq!(merged("another"), (vec![new, other], vec![again]));
    }
}
