//! The output side: rows of results through the carry resolver to the output port.

use super::{Multiplier, Product, Unload};
use crate::digits;
use crate::error::Error;
use crate::radix16::RADIX;
use crate::record::Part;
use crate::resolver::Resolver;
use crate::stage::bank;

impl Multiplier {
    /// Reads the next row of results, if results are being given out, and resolves its carries.
    pub(super) fn read_results(&mut self) -> Result<Option<Vec<u64>>, Error> {
        let Some(unload) = self.unload else { return Ok(None) };
        if unload.row == 0 {
            self.resolver = Resolver::new(self.design.digit_bits);
        }
        let mut sums = [0; RADIX];
        for (sum, position) in sums.iter_mut().zip(RADIX * unload.row..) {
            let memory = &mut self.memories[self.design.product_memory(position)];
            let row = self.design.row(position, unload.parity);
            *sum = memory.read(self.cycle, bank(position, self.design.stages), row)?;
        }
        self.note(Part::Resolver, "unload", unload.product);
        let next = unload.row + 1;
        self.unload = (next < self.design.rows()).then_some(Unload { row: next, ..unload });
        Ok(Some(self.resolver.word(&sums)))
    }

    /// The reader takes the beat at the output port.
    pub(super) fn give_out(&mut self) {
        let Some(Some(word)) = self.output.pop_front() else { return };
        self.collected.extend(word);
        if self.collected.len() < self.design.points() {
            return;
        }
        let limbs = digits::join(&std::mem::take(&mut self.collected), self.design.digit_bits);
        let first_cycle = self.started.pop_front().unwrap_or_default();
        self.products.push(Product { limbs, first_cycle, last_cycle: self.cycle });
    }
}
