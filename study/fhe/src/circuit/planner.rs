//! Makes the steps of plans.

use super::noises::{Noises, pair};
use super::step::{Operation, Step};
use super::{Circuit, Gate, Scheme, Wire};
use std::collections::BTreeMap;

/// The gates in the order of their batches, with their depth and operation: by depth; within a depth first
/// the AND gates, then the others by their number of XOR and NOT gates behind those; within that by
/// operation.
pub(super) fn batches(circuit: &Circuit) -> Vec<(usize, Operation, Vec<Wire>)> {
    let depths = circuit.depths();
    let mut batches = BTreeMap::<_, Vec<Wire>>::new();
    let mut ranks: Vec<usize> = Vec::with_capacity(depths.len());
    for (index, &gate) in circuit.gates().iter().enumerate() {
        let depth = depths[index];
        let behind = gate.operands().filter(|wire| depths[wire.index()] == depth);
        let rank = behind.map(|wire| ranks[wire.index()] + 1).max().unwrap_or(0);
        let (rank, operation) = match gate {
            Gate::Input(_) => (0, None),
            Gate::Constant(bit) => (0, Some(Operation::Constant(bit))),
            Gate::And(..) => (0, Some(Operation::And)),
            Gate::Not(_) => (rank, Some(Operation::Not)),
            Gate::Xor(..) => (rank, Some(Operation::Xor)),
        };
        ranks.push(rank);
        if let Some(operation) = operation {
            batches.entry((depth, rank, operation)).or_default().push(Wire::new(index));
        }
    }
    batches.into_iter().map(|((depth, _, operation), wires)| (depth, operation, wires)).collect()
}

/// Steps in the making.
pub(super) struct Planner<'a, S: Scheme> {
    circuit: &'a Circuit,
    noises: &'a Noises<'a, S>,
    /// The number of each wire's value; that of a wire which is not computed yet has no meaning.
    numbers: Vec<usize>,
    /// Wires that are computed and wait for their recryption.
    waiting: Vec<Wire>,
    pub(super) steps: Vec<Step>,
    /// The number of the next value.
    next: usize,
}

impl<'a, S: Scheme> Planner<'a, S> {
    pub(super) fn new(circuit: &'a Circuit, noises: &'a Noises<'a, S>) -> Self {
        let mut numbers = vec![0; circuit.gates().len()];
        let mut waiting = Vec::new();
        for (index, gate) in circuit.gates().iter().enumerate() {
            if let Gate::Input(bit) = gate {
                numbers[index] = *bit as usize;
                waiting.extend(Some(Wire::new(index)).filter(|&wire| noises.is_recrypted(wire)));
            }
        }
        let next = circuit.inputs().iter().map(|word| word.width).sum();
        Self { circuit, noises, numbers, waiting, steps: Vec::new(), next }
    }

    /// The number of a wire's value.
    pub(super) fn number(&self, wire: Wire) -> usize {
        self.numbers[wire.index()]
    }

    /// Adds a batch of gates. If any of them reads a wire that waits for its recryption, all that wait are
    /// recrypted before, as one batch.
    pub(super) fn batch(&mut self, level: usize, operation: Operation, wires: &[Wire]) {
        let gates: Vec<Gate> = wires.iter().map(|wire| self.circuit.gates()[wire.index()]).collect();
        if gates.iter().any(|gate| gate.operands().any(|wire| self.waiting.contains(&wire))) {
            let waiting = std::mem::take(&mut self.waiting);
            let operands = waiting.iter().map(|&wire| self.number(wire)).collect();
            let least_budget = least(waiting.iter().map(|&wire| self.noises.least_read(wire)));
            self.step(level, Operation::Recrypt, &waiting, (operands, Vec::new()), least_budget);
        }
        let numbers = |side: usize| {
            let operands = gates.iter().filter_map(|&gate| pair(gate)[side]);
            operands.map(|wire| self.number(wire)).collect()
        };
        let least_budget = least(wires.iter().map(|&wire| self.noises.least_made(wire)));
        let operands = (numbers(0), numbers(1));
        self.step(level, operation, wires, operands, least_budget);
        self.waiting.extend(wires.iter().filter(|&&wire| self.noises.is_recrypted(wire)));
    }

    /// Adds a step that gives wires new values.
    fn step(
        &mut self,
        level: usize,
        operation: Operation,
        wires: &[Wire],
        (left, right): (Vec<usize>, Vec<usize>),
        least_budget: f64,
    ) {
        for wire in wires {
            self.numbers[wire.index()] = self.next;
            self.next += 1;
        }
        self.steps.push(Step { level, operation, left, right, count: wires.len(), least_budget });
    }
}

fn least(budgets: impl Iterator<Item = f64>) -> f64 {
    budgets.fold(f64::INFINITY, f64::min)
}
