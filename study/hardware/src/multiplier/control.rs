//! The controller: which stage issues which step, and what follows.

use super::{Multiplier, Unload, Writes};
use crate::design::Kind;
use crate::error::Error;

/// The action of the controller in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Idle,
    /// The thesis's multiplier writes a beat of each operand to the memories.
    Load {
        beat: usize,
    },
    /// A stage, by its number, issues a step.
    Run {
        stage: usize,
        step: usize,
    },
    /// The pipeline empties after a stage.
    Gap {
        stage: usize,
        left: usize,
    },
}

impl Multiplier {
    /// The controller's work of this cycle: the words that it sends into the pipeline.
    pub(super) fn control(&mut self, full: bool) -> Result<Writes, Error> {
        if self.design.kind == Kind::Thesis && self.control == Control::Idle && self.nothing_left() {
            self.control = if self.waiting.is_empty() { Control::Idle } else { Control::Load { beat: 0 } };
        }
        let last_load = self.design.load_beats() - 1;
        match self.control {
            Control::Idle => {
                if full && self.design.kind == Kind::Improved {
                    self.control = Control::Run { stage: 0, step: 0 };
                }
                Ok(Writes::default())
            }
            Control::Load { beat } => {
                self.load_memories(beat)?;
                self.control = match beat == last_load {
                    true => Control::Run { stage: 0, step: 0 },
                    false => Control::Load { beat: beat + 1 },
                };
                Ok(Writes::default())
            }
            Control::Run { stage, step } => {
                let last = step + 1 == self.design.steps(self.stages[stage]);
                let mut writes = self.issue(stage, step)?;
                writes.ends = last.then_some((stage, self.product));
                if last && stage == 0 {
                    self.clear_input();
                }
                self.control = match (last, self.design.gap) {
                    (false, _) => Control::Run { stage, step: step + 1 },
                    (true, 0) => self.after(stage, full),
                    (true, left) => Control::Gap { stage, left },
                };
                Ok(writes)
            }
            Control::Gap { stage, left } => {
                self.control = match left {
                    1 => self.after(stage, full),
                    _ => Control::Gap { stage, left: left - 1 },
                };
                Ok(Writes::default())
            }
        }
    }

    /// The action after the stage of number `stage`. After the last one the results are given out, and the
    /// next product may begin.
    fn after(&mut self, stage: usize, full: bool) -> Control {
        if stage + 1 < self.stages.len() {
            return Control::Run { stage: stage + 1, step: 0 };
        }
        self.unload = Some(Unload { row: 0, parity: self.parity(), product: self.product });
        self.product += 1;
        match full && self.design.kind == Kind::Improved {
            true => Control::Run { stage: 0, step: 0 },
            false => Control::Idle,
        }
    }

    /// The parity of the product whose stages run: the order of the digits of rows.
    pub(super) fn parity(&self) -> bool {
        self.product % 2 == 1
    }

    /// Whether no result is on its way out.
    fn nothing_left(&self) -> bool {
        self.unload.is_none() && self.output.iter().all(Option::is_none)
    }
}
