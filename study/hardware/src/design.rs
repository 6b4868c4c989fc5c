//! The parameters of a multiplier, and its cycles in closed form.

use crate::Error;
use crate::radix16::{Direction, RADIX};
use modmill_core::goldilocks::digit_bits;

/// The kind of a design: one of the two multipliers of `DESIGN.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The multiplier of the thesis: loads zeros, computes the inverse on one unit, overlaps nothing.
    Thesis,
    /// The improved multiplier: both units are busy in every cycle of a stream.
    Improved,
}

/// A stage of a transform. It works over one hexadecimal digit of the positions: a group is the 16 positions
/// that differ in this digit alone, and a lane is a value of the digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The direction of the transform.
    pub direction: Direction,
    /// The digit of the positions, 0 for the least significant.
    pub digit: u32,
}

/// The parameters of a multiplier with two radix-16 units.
///
/// ```
/// use modmill_hardware::Design;
/// assert_eq!(Design::thesis().product_cycles(), 41_146);
/// assert_eq!(Design::improved().interval_cycles(), 24_576);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Design {
    /// The kind of multiplier.
    pub kind: Kind,
    /// The number of radix-16 stages S of a transform, 2 to 4. A transform has `16^S` points.
    pub stages: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Cycles from the read addresses of a group to the write of its results.
    pub latency: usize,
    /// Idle cycles after every stage.
    pub gap: usize,
    /// Cycles from the read address of a row of results to its word on the output port.
    pub resolve: usize,
}

impl Design {
    /// The 768-Kbit multiplier of chapter 5.
    #[must_use]
    pub const fn thesis() -> Self {
        Self { kind: Kind::Thesis, stages: 4, digit_bits: 24, latency: 23, gap: 23, resolve: 2 }
    }

    /// The improved 768-Kbit multiplier.
    #[must_use]
    pub const fn improved() -> Self {
        Self { kind: Kind::Improved, stages: 4, digit_bits: 24, latency: 23, gap: 0, resolve: 5 }
    }

    /// This design with `stages` stages. Below four stages the pipeline is longer than a stage's head start,
    /// so that every stage waits for the one before.
    #[must_use]
    pub const fn with_stages(self, stages: u32) -> Self {
        let gap = match (self.kind, stages) {
            (Kind::Improved, 4) => 0,
            _ => self.latency,
        };
        Self { stages, gap, ..self }
    }

    /// The design of `kind` whose operands have `bits` bits.
    ///
    /// # Errors
    ///
    /// [`Error::Design`] if there is no such design.
    pub fn for_bits(kind: Kind, bits: usize) -> Result<Self, Error> {
        let whole = match kind {
            Kind::Thesis => Self::thesis(),
            Kind::Improved => Self::improved(),
        };
        let all = [2, 3, 4].map(|stages| whole.with_stages(stages));
        all.into_iter().find(|design| design.operand_bits() == bits).ok_or_else(|| {
            let sizes = all.map(|design| design.operand_bits().to_string());
            Error::Design(format!(
                "there is no multiplier for operands of {bits} bits: there are {}",
                sizes.join(", ")
            ))
        })
    }

    /// Checks that the parameters fit together.
    ///
    /// # Errors
    ///
    /// [`Error::Design`] says which do not.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::Design(text));
        if !(2..=4).contains(&self.stages) {
            return wrong(format!("a transform has 2 to 4 stages, not {}", self.stages));
        }
        let most = digit_bits(self.points() / 2);
        // The resolver takes a result apart into three digits.
        if !(22..=most).contains(&self.digit_bits) {
            return wrong(format!("digits have 22 to {most} bits, not {}", self.digit_bits));
        }
        // The first product's results are read at most 15 cycles before the next product overwrites them.
        if self.latency < RADIX {
            return wrong(format!("the latency must be at least {RADIX} cycles, not {}", self.latency));
        }
        if self.resolve == 0 {
            return wrong("the resolver takes at least one cycle".to_owned());
        }
        Ok(())
    }

    /// The number of points N of a transform.
    #[must_use]
    pub const fn points(&self) -> usize {
        1 << (4 * self.stages)
    }

    /// The length of an operand in bits.
    #[must_use]
    pub const fn operand_bits(&self) -> usize {
        self.points() / 2 * self.digit_bits as usize
    }

    /// Rows of a bank of the two memories.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.points() / RADIX
    }

    /// Beats, of 16 digits each, in which an operand is loaded.
    #[must_use]
    pub const fn load_beats(&self) -> usize {
        match self.kind {
            Kind::Thesis => self.points() / RADIX,
            Kind::Improved => self.points() / 2 / RADIX,
        }
    }

    /// The stages of a product in order: forward, then inverse.
    #[must_use]
    pub fn sequence(&self) -> Vec<Stage> {
        let forward = (0..self.stages).rev().map(|digit| Stage { direction: Direction::Forward, digit });
        let inverse = (0..self.stages).map(|digit| Stage { direction: Direction::Inverse, digit });
        forward.chain(inverse).collect()
    }

    /// The steps of a stage: cycles in which it issues groups.
    #[must_use]
    pub fn steps(&self, stage: Stage) -> usize {
        match (self.kind, stage.direction) {
            (Kind::Improved, Direction::Inverse) => self.rows() / 2,
            _ => self.rows(),
        }
    }

    /// The cycles of all stages of a product.
    fn stage_cycles(&self) -> u64 {
        self.sequence().into_iter().map(|stage| (self.steps(stage) + self.gap) as u64).sum()
    }

    /// The cycles of one product alone: from the first beat that goes in to the last that comes out, both
    /// counted.
    #[must_use]
    pub fn product_cycles(&self) -> u64 {
        let start = match self.kind {
            Kind::Thesis => 0,
            // The controller sees the full buffers in one cycle and issues in the next.
            Kind::Improved => 1,
        };
        (self.load_beats() + start + self.rows() + self.resolve) as u64 + self.stage_cycles()
    }

    /// The cycles from one product to the next in a steady stream.
    #[must_use]
    pub fn interval_cycles(&self) -> u64 {
        match self.kind {
            Kind::Thesis => self.product_cycles(),
            Kind::Improved => self.stage_cycles(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_those_of_the_thesis_and_of_the_bound() {
        assert_eq!(Design::thesis().product_cycles(), 4096 + 8 * 4119 + 4098);
        assert_eq!(Design::improved().product_cycles(), 30_726);
        // Twelve passes of 4096 groups, two groups a cycle.
        assert_eq!(Design::improved().interval_cycles(), 12 * 4096 / 2);
    }

    #[test]
    fn wrong_parameters_are_named() {
        let text = |design: Design| design.check().unwrap_err().to_string();
        let whole = Design::improved();
        assert!(text(Design { stages: 5, ..whole }).contains("stages"));
        assert!(text(Design { digit_bits: 25, ..whole }).contains("digits"));
        assert!(text(Design { latency: 15, ..whole }).contains("latency"));
        assert!(text(Design { resolve: 0, ..whole }).contains("resolver"));
        assert!(whole.check().is_ok() && Design::thesis().check().is_ok());
        let sizes = Design::for_bits(Kind::Improved, 768_000).unwrap_err().to_string();
        assert!(sizes.contains("3072, 49152, 786432"), "{sizes}");
    }
}
