//! A step of a stage: reads, radix-16 units, multipliers.

use super::{Multiplier, Writes};
use crate::design::{Kind, Stage};
use crate::error::Error;
use crate::radix16::{Direction, RADIX, radix16};
use crate::record::Part;
use crate::stage::Place;
use modmill_core::goldilocks::mul;

impl Multiplier {
    /// Issues step `step` of the stage of number `index`: reads the groups of all units. Returns the words
    /// that the pipeline writes after its latency.
    pub(super) fn issue(&mut self, index: usize, step: usize) -> Result<Writes, Error> {
        let stage = self.stages[index];
        let mut groups = Vec::with_capacity(2);
        for unit in 0..self.design.units(stage) {
            let base = self.design.base(stage, unit, step);
            let words = match index == 0 && self.design.kind == Kind::Improved {
                true => self.read_buffer(unit, base)?,
                false => self.read_memories(stage, unit, base)?,
            };
            groups.push((base, radix16(&words, stage.direction)));
            let name = self.names[index].clone();
            self.note(Part::Unit(unit), &name, self.product);
        }
        let words = match (self.design.is_product(stage), groups.as_slice()) {
            (true, [(base, a), (_, b)]) => self.products_of(stage, *base, a, b),
            _ => groups
                .iter()
                .enumerate()
                .flat_map(|(unit, group)| self.twiddled(stage, unit, group))
                .collect(),
        };
        Ok(Writes { words, ends: None })
    }

    /// Lanes 0 to 7 of a group of F1; the upper half of an operand's samples is zero.
    fn read_buffer(&mut self, unit: usize, base: usize) -> Result<[u64; RADIX], Error> {
        let mut words = [0; RADIX];
        for (lane, word) in words.iter_mut().enumerate().take(RADIX / 2) {
            let (bank, row) = self.design.buffer_place(self.design.lane(self.stages[0], base, lane));
            *word = self.buffers[unit].read(self.cycle, bank, row)?;
        }
        Ok(words)
    }

    /// A group from the memories.
    fn read_memories(&mut self, stage: Stage, unit: usize, base: usize) -> Result<[u64; RADIX], Error> {
        let mut words = [0; RADIX];
        for (lane, word) in words.iter_mut().enumerate() {
            let position = self.design.lane(stage, base, lane);
            let place = self.design.place(stage, unit, position, self.parity());
            *word = self.memories[place.memory].read(self.cycle, place.bank, place.row)?;
        }
        Ok(words)
    }

    /// A group's results, multiplied by their twiddle factors, and where they go.
    fn twiddled(
        &self,
        stage: Stage,
        unit: usize,
        &(base, results): &(usize, [u64; RADIX]),
    ) -> impl Iterator<Item = (Place, u64)> {
        results.into_iter().enumerate().map(move |(lane, result)| {
            let factor = self.twiddles.value(self.design.factor(stage, base, lane));
            let position = self.design.lane(stage, base, lane);
            (self.design.place(stage, unit, position, self.parity()), mul(result, factor))
        })
    }

    /// The products of the two transforms, and where they go.
    fn products_of(
        &self,
        stage: Stage,
        base: usize,
        a: &[u64; RADIX],
        b: &[u64; RADIX],
    ) -> Vec<(Place, u64)> {
        debug_assert_eq!(stage.direction, Direction::Forward);
        let lanes = a.iter().zip(b).enumerate();
        lanes
            .map(|(lane, (&a, &b))| {
                let position = self.design.lane(stage, base, lane);
                let memory = self.design.product_memory(position);
                (self.design.place(stage, memory, position, self.parity()), mul(a, b))
            })
            .collect()
    }
}
