//! The noise of every wire of a circuit, for a choice of wires that are recrypted.

use super::{Circuit, Gate, Input, PlanError, Scheme, Wire};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The operands of a gate, of which NOT has one and a constant none.
pub(super) type Pair = [Option<Wire>; 2];

/// The noise of every wire, as its gate makes it. A wire that is recrypted is so before any gate reads it.
///
/// Instances of the circuit whose inputs have the same noise are one class, and computed once.
pub(super) struct Noises<'a, S: Scheme> {
    circuit: &'a Circuit,
    pub(super) scheme: &'a S,
    classes: usize,
    /// The noise that the gate of each wire makes in each class, one wire after the other.
    made: Vec<S::Noise>,
    is_recrypted: Vec<bool>,
    /// The gates that read each wire.
    readers: Vec<Vec<Wire>>,
    /// The changes so far, for [`Noises::undo`].
    log: Vec<Change<S::Noise>>,
    /// How many gates were computed.
    pub(super) work: usize,
}

enum Change<N> {
    Made(usize, N),
    Recrypted(Wire),
}

impl<'a, S: Scheme> Noises<'a, S> {
    /// The noise of inputs, in the order of `Plan::new`. That of gates is not known yet.
    pub(super) fn new(
        circuit: &'a Circuit,
        scheme: &'a S,
        inputs: &[Vec<S::Noise>],
        instances: usize,
    ) -> Result<Self, PlanError> {
        let gates = circuit.gates();
        let words = || circuit.inputs().iter().zip(inputs);
        let classes = classes(circuit, inputs, instances);
        let mut readers = vec![Vec::new(); gates.len()];
        for (index, gate) in gates.iter().enumerate() {
            gate.operands().for_each(|wire| readers[wire.index()].push(Wire::new(index)));
        }
        let places: Vec<(&Input, &Vec<S::Noise>, usize)> =
            words().flat_map(|(word, noise)| (0..word.width).map(move |bit| (word, noise, bit))).collect();
        let mut made = vec![scheme.noise_of_constant(); gates.len() * classes.len()];
        for (made, &gate) in made.chunks_mut(classes.len().max(1)).zip(gates) {
            let Gate::Input(index) = gate else { continue };
            let (Input { name, width }, noise, bit) = places[index as usize];
            for (made, instance) in made.iter_mut().zip(&classes) {
                *made = noise[instance * width + bit];
                if !scheme.is_safe(*made) {
                    return Err(PlanError::Input { name: name.clone(), bit, budget: scheme.budget(*made) });
                }
            }
        }
        let (is_recrypted, classes) = (vec![false; gates.len()], classes.len());
        Ok(Self { circuit, scheme, classes, made, is_recrypted, readers, log: Vec::new(), work: 0 })
    }

    pub(super) fn is_recrypted(&self, wire: Wire) -> bool {
        self.is_recrypted[wire.index()]
    }

    /// How many gates read a wire.
    pub(super) fn uses(&self, wire: Wire) -> usize {
        self.readers[wire.index()].len()
    }

    /// Whether a wire would have less noise by recryption, in any class.
    pub(super) fn gains(&self, wire: Wire) -> bool {
        let gains = |noise| {
            self.scheme
                .after_recrypt(noise)
                .is_some_and(|less| self.scheme.budget(less) > self.scheme.budget(noise))
        };
        !self.is_recrypted(wire) && (0..self.classes).any(|class| gains(self.made(wire, class)))
    }

    /// Whether a gate's output is safe if its operands are recrypted, beyond those that are.
    pub(super) fn is_safe(&self, gate: Gate, recrypted: [bool; 2]) -> bool {
        (0..self.classes).all(|class| self.scheme.is_safe(self.of_gate(gate, recrypted, class)))
    }

    /// The least budget of a gate's output.
    pub(super) fn least_of_gate(&self, gate: Gate) -> f64 {
        self.least((0..self.classes).map(|class| self.of_gate(gate, [false; 2], class)))
    }

    /// The least budget of a wire, as its gate makes it.
    pub(super) fn least_made(&self, wire: Wire) -> f64 {
        self.least((0..self.classes).map(|class| self.made(wire, class)))
    }

    /// The least budget of a wire, as gates read it.
    pub(super) fn least_read(&self, wire: Wire) -> f64 {
        self.least((0..self.classes).map(|class| self.read(wire, self.is_recrypted(wire), class)))
    }

    fn least(&self, noise: impl Iterator<Item = S::Noise>) -> f64 {
        noise.map(|noise| self.scheme.budget(noise)).fold(f64::INFINITY, f64::min)
    }

    /// Computes the noise of one gate's output, of which nothing that is known depends.
    pub(super) fn make(&mut self, wire: Wire) {
        for class in 0..self.classes {
            let gate = self.circuit.gates()[wire.index()];
            self.made[wire.index() * self.classes + class] = self.of_gate(gate, [false; 2], class);
        }
    }

    /// Marks a wire as recrypted, before the gates that read it are computed.
    pub(super) fn mark(&mut self, wire: Wire) {
        self.is_recrypted[wire.index()] = true;
    }

    /// Forgets how to undo changes.
    pub(super) fn keep(&mut self) {
        self.log.clear();
    }

    /// How much there is to undo.
    pub(super) fn mark_of_log(&self) -> usize {
        self.log.len()
    }

    /// Takes back all changes behind a mark.
    pub(super) fn undo(&mut self, mark: usize) {
        for change in self.log.drain(mark..).rev() {
            match change {
                Change::Made(place, noise) => self.made[place] = noise,
                Change::Recrypted(wire) => self.is_recrypted[wire.index()] ^= true,
            }
        }
    }

    /// Recrypts a wire, or no longer, and computes the noise of all wires that depend on it. If any of it is
    /// not safe, `false`, and the caller takes the change back.
    pub(super) fn toggle(&mut self, wire: Wire) -> bool {
        self.is_recrypted[wire.index()] ^= true;
        self.log.push(Change::Recrypted(wire));
        let mut open: BinaryHeap<Reverse<Wire>> =
            self.readers[wire.index()].iter().copied().map(Reverse).collect();
        while let Some(Reverse(wire)) = open.pop() {
            while open.peek() == Some(&Reverse(wire)) {
                open.pop();
            }
            self.work += 1;
            let gate = self.circuit.gates()[wire.index()];
            let mut is_changed = false;
            for class in 0..self.classes {
                let noise = self.of_gate(gate, [false; 2], class);
                if !self.scheme.is_safe(noise) {
                    return false;
                }
                let place = wire.index() * self.classes + class;
                if noise != self.made[place] {
                    self.log.push(Change::Made(place, self.made[place]));
                    self.made[place] = noise;
                    is_changed = true;
                }
            }
            if is_changed {
                open.extend(self.readers[wire.index()].iter().copied().map(Reverse));
            }
        }
        true
    }

    fn made(&self, wire: Wire, class: usize) -> S::Noise {
        self.made[wire.index() * self.classes + class]
    }

    /// The noise of a wire with or without recryption.
    fn read(&self, wire: Wire, is_recrypted: bool, class: usize) -> S::Noise {
        let made = self.made(wire, class);
        if is_recrypted { self.scheme.after_recrypt(made).unwrap_or(made) } else { made }
    }

    fn of_gate(&self, gate: Gate, recrypted: [bool; 2], class: usize) -> S::Noise {
        let read =
            |wire: Wire, side: usize| self.read(wire, self.is_recrypted(wire) || recrypted[side], class);
        match gate {
            Gate::Input(_) | Gate::Constant(_) => self.scheme.noise_of_constant(),
            Gate::Not(a) => self.scheme.after_not(read(a, 0)),
            Gate::Xor(a, b) => self.scheme.after_xor(read(a, 0), read(b, 1)),
            Gate::And(a, b) => self.scheme.after_and(read(a, 0), read(b, 1)),
        }
    }
}

/// The operands of a gate.
pub(super) fn pair(gate: Gate) -> Pair {
    let mut operands = gate.operands();
    [operands.next(), operands.next()]
}

/// One instance of each class.
fn classes<N: PartialEq>(circuit: &Circuit, inputs: &[Vec<N>], instances: usize) -> Vec<usize> {
    let words = || circuit.inputs().iter().zip(inputs);
    let is_same = |a: usize, b: usize| {
        words().all(|(word, noise)| {
            noise[a * word.width..][..word.width] == noise[b * word.width..][..word.width]
        })
    };
    let mut classes: Vec<usize> = Vec::new();
    for instance in 0..instances {
        if !classes.iter().any(|&class| is_same(class, instance)) {
            classes.push(instance);
        }
    }
    classes
}
