//! The stages of a transform: which groups they issue, where their words are, and what they are multiplied
//! by.

use crate::design::{Design, Kind, Stage};
use crate::radix16::{Direction, RADIX};
use crate::twiddle::{Factor, TABLE_ORDER};

/// A word of the two memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The memory: 0 is A, 1 is B.
    pub memory: usize,
    /// The bank.
    pub bank: usize,
    /// The row in the bank.
    pub row: usize,
}

/// Hexadecimal digit `index` of a position.
#[must_use]
pub const fn digit(position: usize, index: u32) -> usize {
    position >> (4 * index) & 15
}

/// The sum of all hexadecimal digits, modulo 16 (equation 5.5): the bank of a position.
#[must_use]
pub fn bank(position: usize, digits: u32) -> usize {
    (0..digits).map(|index| digit(position, index)).sum::<usize>() % RADIX
}

impl Design {
    /// The name of a stage, as in `DESIGN.md`: F1 to F4 and I1 to I4.
    #[must_use]
    pub fn stage_name(&self, stage: Stage) -> String {
        match stage.direction {
            Direction::Forward => format!("F{}", self.stages - stage.digit),
            Direction::Inverse => format!("I{}", stage.digit + 1),
        }
    }

    /// The units that work on groups of their own in `stage`. In forward stages both units do the same group,
    /// of two operands.
    #[must_use]
    pub fn units(&self, stage: Stage) -> usize {
        match (self.kind, stage.direction) {
            (Kind::Thesis, Direction::Inverse) => 1,
            _ => 2,
        }
    }

    /// Whether the groups of the two units in `stage` are different ones.
    fn splits(&self, stage: Stage) -> bool {
        self.kind == Kind::Improved && stage.direction == Direction::Inverse
    }

    /// The digit whose top bit is the number of the unit, in a stage that splits.
    fn split_digit(&self, stage: Stage) -> u32 {
        match stage.digit == self.stages - 1 {
            true => self.stages - 2,
            false => self.stages - 1,
        }
    }

    /// The digits that the step counter of `stage` names, the most significant first.
    fn order(&self, stage: Stage) -> Vec<u32> {
        let top = self.stages - 1;
        match self.kind == Kind::Improved && stage.digit == top {
            true => (1..top).chain([0]).collect(),
            false => (0..self.stages).rev().filter(|&index| index != stage.digit).collect(),
        }
    }

    /// The position of lane 0 of the group that `unit` issues in step `step` of `stage`.
    #[must_use]
    pub fn base(&self, stage: Stage, unit: usize, step: usize) -> usize {
        let (mut position, mut rest) = (0, step);
        for index in self.order(stage).into_iter().rev() {
            let split = self.splits(stage) && index == self.split_digit(stage);
            let bits = if split { 3 } else { 4 };
            let mut value = rest & ((1 << bits) - 1);
            rest >>= bits;
            if split {
                value |= unit << 3;
            }
            position |= value << (4 * index);
        }
        debug_assert_eq!(rest, 0, "the step is beyond the stage");
        position
    }

    /// The position of a lane of the group whose lane 0 is at `base`.
    #[must_use]
    pub fn lane(&self, stage: Stage, base: usize, lane: usize) -> usize {
        base | lane << (4 * stage.digit)
    }

    /// The row of a position. With odd `parity` its digits are in the opposite order, in the improved
    /// multiplier: then the rows that F1 writes first are those that the product before has already given
    /// out.
    #[must_use]
    pub fn row(&self, position: usize, parity: bool) -> usize {
        match self.kind == Kind::Improved && parity {
            true => (1..self.stages).fold(0, |row, index| row << 4 | digit(position, index)),
            false => position / RADIX,
        }
    }

    /// The memory in which the product and its inverse transform are at `position`.
    #[must_use]
    pub fn product_memory(&self, position: usize) -> usize {
        match self.kind {
            Kind::Thesis => 0,
            Kind::Improved => digit(position, self.stages - 1) / 8,
        }
    }

    /// The place where `stage` reads `position` for `unit`, and writes it, unless
    /// [`is_product`](Self::is_product).
    #[must_use]
    pub fn place(&self, stage: Stage, unit: usize, position: usize, parity: bool) -> Place {
        let memory = match stage.direction {
            Direction::Forward => unit,
            Direction::Inverse => self.product_memory(position),
        };
        Place { memory, bank: bank(position, self.stages), row: self.row(position, parity) }
    }

    /// The bank and the row of digit `position` of an operand in an input buffer. The 16 digits of a beat
    /// have the same top digit, those of a group of F1 the same lowest digit: in both cases all banks differ.
    #[must_use]
    pub fn buffer_place(&self, position: usize) -> (usize, usize) {
        let top = digit(position, self.stages - 1);
        ((top + digit(position, 0)) % RADIX, position / RADIX)
    }

    /// Whether `stage` multiplies the transforms of the two operands: the last forward stage. It writes to
    /// the [`product_memory`](Self::product_memory).
    #[must_use]
    pub fn is_product(&self, stage: Stage) -> bool {
        stage.direction == Direction::Forward && stage.digit == 0
    }

    /// The factor of lane `lane` after the radix-16 unit in `stage`, for the group whose lane 0 is at `base`.
    #[must_use]
    pub fn factor(&self, stage: Stage, base: usize, lane: usize) -> Factor {
        let low = base & ((1 << (4 * stage.digit)) - 1);
        match stage.direction {
            Direction::Forward => {
                let exponent = (lane * low) << (4 * (3 - stage.digit));
                Factor { exponent: exponent as u32 % TABLE_ORDER, shift: 0 }
            }
            // The last stage divides by N = 2^(4 S), and 2^192 = 1.
            Direction::Inverse if stage.digit == self.stages - 1 => {
                Factor { exponent: 0, shift: 192 - 4 * self.stages }
            }
            // This undoes the factors of the forward stage over the next digit.
            Direction::Inverse => {
                let below = lane << (4 * stage.digit) | low;
                let exponent = (digit(base, stage.digit + 1) * below) << (4 * (2 - stage.digit));
                Factor { exponent: (exponent as u32).wrapping_neg() % TABLE_ORDER, shift: 0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn designs() -> impl Iterator<Item = Design> {
        let both = [Design::improved(), Design::thesis()];
        both.into_iter().flat_map(|design| [2, 3, 4].map(|stages| design.with_stages(stages)))
    }

    /// Every step of every stage reads every bank of a memory at most once, and a stage visits every position
    /// once.
    #[test]
    fn bank_maps_are_free_of_conflicts_in_every_step() {
        for design in designs() {
            for stage in design.sequence() {
                for parity in [false, true] {
                    let mut visited = HashSet::new();
                    for step in 0..design.steps(stage) {
                        let mut banks = HashSet::new();
                        for unit in 0..design.units(stage) {
                            let base = design.base(stage, unit, step);
                            for lane in 0..RADIX {
                                let position = design.lane(stage, base, lane);
                                let place = design.place(stage, unit, position, parity);
                                assert!(
                                    banks.insert((place.memory, place.bank)),
                                    "{design:?} {stage:?} {step}"
                                );
                                assert!(visited.insert(place));
                            }
                        }
                    }
                    let operands = if stage.direction == Direction::Forward { 2 } else { 1 };
                    assert_eq!(visited.len(), operands * design.points());
                }
            }
        }
    }

    /// A bank map that leaves out a digit (as equation 5.5 is printed, without a plus) fails in some stage.
    #[test]
    fn a_map_without_one_digit_has_conflicts() {
        let design = Design::improved();
        let wrong = |position: usize| bank(position & !0xf0, 4);
        let conflicts = design.sequence().into_iter().any(|stage| {
            let base = design.base(stage, 0, 5);
            let banks: HashSet<_> = (0..RADIX).map(|lane| wrong(design.lane(stage, base, lane))).collect();
            banks.len() < RADIX
        });
        assert!(conflicts);
    }

    /// The stage that crosses the memories takes its lanes as `DESIGN.md` says: rotated by s, and halves
    /// exchanged.
    #[test]
    fn the_crossing_stage_is_a_rotation_and_an_exchange_of_halves() {
        let design = Design::improved();
        let stage = *design.sequence().last().unwrap();
        for step in 0..design.steps(stage) {
            let s = bank(design.base(stage, 0, step), 4);
            for unit in 0..2 {
                let base = design.base(stage, unit, step);
                for lane in 0..RADIX {
                    let place = design.place(stage, unit, design.lane(stage, base, lane), false);
                    let rotated = (lane + 8 * unit) % 16;
                    assert_eq!((place.memory, place.bank), (lane / 8, (s + rotated) % 16));
                }
            }
        }
    }

    /// A beat writes every bank of an input buffer once; a group of F1 reads eight banks, and all groups read
    /// every digit once.
    #[test]
    fn input_buffers_are_free_of_conflicts() {
        for design in [2, 3, 4].map(|stages| Design::improved().with_stages(stages)) {
            for beat in 0..design.load_beats() {
                let banks: HashSet<_> =
                    (16 * beat..16 * beat + 16).map(|position| design.buffer_place(position).0).collect();
                assert_eq!(banks.len(), RADIX);
            }
            let (stage, mut visited) = (design.sequence()[0], HashSet::new());
            for step in 0..design.steps(stage) {
                let base = design.base(stage, 0, step);
                let places = (0..8).map(|lane| design.buffer_place(design.lane(stage, base, lane)));
                let banks: HashSet<_> = places.clone().map(|(bank, _)| bank).collect();
                assert_eq!(banks.len(), 8);
                visited.extend(places);
            }
            assert_eq!(visited.len(), design.points() / 2);
        }
    }

    #[test]
    fn rows_and_banks_name_every_position_once() {
        for design in designs() {
            for parity in [false, true] {
                let places: HashSet<_> = (0..design.points())
                    .map(|position| (bank(position, design.stages), design.row(position, parity)))
                    .collect();
                assert_eq!(places.len(), design.points());
                assert!(places.iter().all(|&(_, row)| row < design.rows()));
            }
        }
    }
}
