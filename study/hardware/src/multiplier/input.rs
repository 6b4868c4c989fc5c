//! The input side: operands into buffers, or in the thesis's multiplier into the memories.

use super::{Control, Multiplier};
use crate::design::Kind;
use crate::error::Error;
use crate::radix16::RADIX;
use crate::record::Part;
use crate::stage::bank;

impl Multiplier {
    /// Whether both buffers hold an operand.
    pub(super) fn full(&self) -> bool {
        self.beats.iter().all(|&beats| beats == self.design.load_beats())
    }

    /// Whether the input port of each operand takes a beat in this cycle.
    pub(super) fn accepting(&self) -> [bool; 2] {
        self.beats.map(|beats| self.design.kind == Kind::Improved && beats < self.design.load_beats())
    }

    /// Takes a beat at each port that accepts one and has one.
    pub(super) fn load(&mut self, accepting: [bool; 2], valid: [bool; 2]) -> Result<(), Error> {
        // The operands stay in front until F1 has read them.
        let loaded = self.full();
        let Some(operands) = self.waiting.front().filter(|_| !loaded) else { return Ok(()) };
        let (before, mut taken) = (self.beats, false);
        for port in 0..2 {
            if !(accepting[port] && valid[port]) {
                continue;
            }
            taken = true;
            let first = RADIX * before[port];
            for (position, &digit) in (first..).zip(&operands[port][first..first + RADIX]) {
                let (bank, row) = self.design.buffer_place(position);
                self.buffers[port].write(self.cycle, bank, row, digit)?;
            }
            self.beats[port] += 1;
        }
        if taken && before == [0; 2] {
            self.started.push_back(self.cycle);
        }
        if taken {
            let product = self.loaded_product();
            self.note(Part::Load, "load", product);
        }
        Ok(())
    }

    /// The number of the product whose operands are loaded: the next one, while stages run.
    fn loaded_product(&self) -> usize {
        self.product + usize::from(self.control != Control::Idle)
    }

    /// The buffers may be loaded anew.
    pub(super) fn clear_input(&mut self) {
        self.beats = [0; 2];
        self.waiting.pop_front();
    }

    /// The thesis's multiplier writes 16 samples, zeros among them, to each memory.
    pub(super) fn load_memories(&mut self, beat: usize) -> Result<(), Error> {
        if beat == 0 {
            self.started.push_back(self.cycle);
        }
        let Some(operands) = self.waiting.front() else { return Ok(()) };
        for (memory, digits) in self.memories.iter_mut().zip(operands) {
            for position in RADIX * beat..RADIX * (beat + 1) {
                let word = digits.get(position).copied().unwrap_or(0);
                let bank = bank(position, self.design.stages);
                memory.write(self.cycle, bank, position / RADIX, word)?;
            }
        }
        self.note(Part::Load, "load", self.product);
        Ok(())
    }
}
