//! Transforms of 1024 points in place, in two stages of 32 groups.
//!
//! Position `n = 32 n1 + n0` is in bank `(n0 + n1) mod 32`, row n1. The forward transform works over n1 and
//! then over n0, and leaves frequency `k1 + 32 k0` at position `32 k1 + k0`. The inverse transform undoes the
//! stages in the opposite order.

use super::radix32::{CYCLES, radix32};
use super::{Form, ModularMultiplier, SIDE};
use crate::error::Error;
use crate::memory::Memory;
use crate::radix16::Direction;
use crate::twiddle::{Factor, TABLE_ORDER};
use modmill_core::goldilocks::mul;
use std::collections::VecDeque;

/// Cycles from the last of a group's cycles in the unit to the write of its results.
const LATENCY: u64 = 22;

/// The factors by which the eight multipliers multiply a stage's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Multiplicand {
    /// Twiddle factors between the stages.
    Twiddle,
    /// 1, or 1/1024 at the end of the inverse.
    Last,
    /// The transform of the second operand.
    Operand(Form),
    /// The transform of M' (0) or M (1).
    Constant(usize),
}

/// A stage of a transform.
#[derive(Debug, Clone, Copy)]
struct Stage {
    direction: Direction,
    /// Whether the groups are over n1, the row.
    over_rows: bool,
    multiplicand: Multiplicand,
}

/// The bank and the row of a position.
pub(super) fn place(position: usize) -> (usize, usize) {
    ((position / SIDE + position) % SIDE, position / SIDE)
}

/// The memory in which samples are transformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Samples {
    X,
    Y,
}

impl ModularMultiplier {
    fn samples(&mut self, samples: Samples) -> &mut Memory {
        match samples {
            Samples::X => &mut self.x,
            Samples::Y => &mut self.y,
        }
    }

    /// The forward transform of the digits in rows 0 to 15; its results are multiplied by `last`.
    pub(super) fn forward(&mut self, samples: Samples, last: Multiplicand) -> Result<(), Error> {
        let stage =
            |over_rows, multiplicand| Stage { direction: Direction::Forward, over_rows, multiplicand };
        self.stage(samples, stage(true, Multiplicand::Twiddle))?;
        self.stage(samples, stage(false, last))
    }

    /// The inverse transform of memory X.
    pub(super) fn inverse(&mut self) -> Result<(), Error> {
        let stage =
            |over_rows, multiplicand| Stage { direction: Direction::Inverse, over_rows, multiplicand };
        self.stage(Samples::X, stage(false, Multiplicand::Twiddle))?;
        self.stage(Samples::X, stage(true, Multiplicand::Last))
    }

    /// A stage: a group enters the unit every four cycles, and its results are written 22 cycles after its
    /// last cycle there.
    fn stage(&mut self, samples: Samples, stage: Stage) -> Result<(), Error> {
        let (first, mut under_way) = (self.cycle, VecDeque::new());
        for cycle in first..first + CYCLES * SIDE as u64 + LATENCY {
            let group = ((cycle - first) / CYCLES) as usize;
            if (cycle - first).is_multiple_of(CYCLES) && group < SIDE {
                let words = self.group(samples, stage, group, cycle)?;
                under_way.push_back((cycle + CYCLES - 1 + LATENCY, words));
            }
            let due = under_way.front().is_some_and(|&(due, _)| due == cycle);
            if due && let Some((_, words)) = under_way.pop_front() {
                for (position, word) in words {
                    let (bank, row) = place(position);
                    self.samples(samples).write(cycle, bank, row, word)?;
                }
            }
        }
        self.cycle = first + CYCLES * SIDE as u64 + LATENCY;
        Ok(())
    }

    /// A group's results, with their positions. Its 32 words are read in `cycle`.
    fn group(
        &mut self,
        samples: Samples,
        stage: Stage,
        group: usize,
        cycle: u64,
    ) -> Result<[(usize, u64); SIDE], Error> {
        let position = |lane: usize| if stage.over_rows { SIDE * lane + group } else { SIDE * group + lane };
        // The upper half of an operand's samples is zero and in no memory.
        let fresh = stage.direction == Direction::Forward && stage.over_rows;
        let mut words = [0; SIDE];
        for (lane, word) in words.iter_mut().enumerate().take(if fresh { SIDE / 2 } else { SIDE }) {
            let (bank, row) = place(position(lane));
            *word = self.samples(samples).read(cycle, bank, row)?;
        }
        let results = radix32(&words, stage.direction);
        let mut products = [(0, 0); SIDE];
        for (lane, product) in products.iter_mut().enumerate() {
            // The eight multipliers take lanes 8 i to 8 i + 7 in the group's cycle i.
            let turn = cycle + (lane / 8) as u64;
            let factor = self.multiplicand(stage, position(lane), results[lane], turn)?;
            *product = (position(lane), mul(results[lane], factor));
        }
        Ok(products)
    }

    /// The factor of a result.
    fn multiplicand(&mut self, stage: Stage, position: usize, result: u64, cycle: u64) -> Result<u64, Error> {
        let (bank, row) = place(position);
        match (stage.multiplicand, stage.direction) {
            (Multiplicand::Twiddle, direction) => {
                // The root of order 1024 is the 64th power of the table's.
                let exponent = (64 * (position / SIDE) * (position % SIDE)) as u32;
                let exponent = match direction {
                    Direction::Forward => exponent,
                    Direction::Inverse => exponent.wrapping_neg(),
                };
                Ok(self.twiddles.value(Factor { exponent: exponent % TABLE_ORDER, shift: 0 }))
            }
            (Multiplicand::Last, Direction::Forward) => Ok(1),
            (Multiplicand::Last, Direction::Inverse) => {
                Ok(self.twiddles.value(Factor { exponent: 0, shift: 192 - 10 }))
            }
            (Multiplicand::Operand(Form::Same), _) => Ok(result),
            (Multiplicand::Operand(_), _) => self.y.read_kept(cycle, bank, row),
            (Multiplicand::Constant(which), _) => self.constants[which].read_kept(cycle, bank, row),
        }
    }
}
