//! Wires, and words of several wires.

use std::ops::Deref;

/// The output of a gate, by the gate's number. It belongs to the builder or circuit that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wire(u32);

impl Wire {
    pub(super) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a circuit has fewer than 2^32 gates"))
    }

    /// The number of the gate.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A number as wires, the lowest bit first. The number of wires is its width.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word(Vec<Wire>);

impl Word {
    /// The number of bits.
    pub fn width(&self) -> usize {
        self.0.len()
    }
}

impl From<Vec<Wire>> for Word {
    fn from(wires: Vec<Wire>) -> Self {
        Self(wires)
    }
}

impl From<Wire> for Word {
    fn from(wire: Wire) -> Self {
        Self(vec![wire])
    }
}

impl FromIterator<Wire> for Word {
    fn from_iter<I: IntoIterator<Item = Wire>>(wires: I) -> Self {
        Self(wires.into_iter().collect())
    }
}

impl Deref for Word {
    type Target = [Wire];

    fn deref(&self) -> &[Wire] {
        &self.0
    }
}
