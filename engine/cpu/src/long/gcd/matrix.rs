//! The 2 by 2 matrices that reduce pairs of numbers.

use super::natural::{Natural, add, product, trim, trimmed};
use crate::fft::shape::Ring;
use crate::long::cyclic::CyclicRings;
use crate::long::multiplier::Multiplier;

/// A matrix of determinant 1 with non-negative entries, or some of its rows.
pub(super) struct Matrix {
    rows: Vec<[Natural; 2]>,
}

/// A matrix whose entries are below 2^63.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordMatrix(pub(super) [[u64; 2]; 2]);

impl Matrix {
    /// The first `rows` rows of the identity.
    pub(super) fn identity(rows: usize) -> Self {
        Self { rows: [[vec![1], vec![]], [vec![], vec![1]]].into_iter().take(rows).collect() }
    }

    /// The last row of the identity.
    pub(super) fn last_row() -> Self {
        Self { rows: vec![[vec![], vec![1]]] }
    }

    pub(super) fn is_identity(&self) -> bool {
        let [[_, m01], [m10, _]] = self.entries();
        m01.is_empty() && m10.is_empty()
    }

    pub(super) fn entries(&self) -> [[&[u64]; 2]; 2] {
        [0, 1].map(|row: usize| self.rows[row].each_ref().map(Vec::as_slice))
    }

    pub(super) fn into_entries(self) -> [[Natural; 2]; 2] {
        self.rows.try_into().expect("both rows were carried along")
    }

    pub(super) fn into_last_entry(mut self) -> Natural {
        let [_, last] = self.rows.pop().expect("a row was carried along");
        last
    }

    /// `M <- M (1 q; 0 1)`, or `M (1 0; q 1)` if the second number was reduced.
    pub(super) fn times_step(&mut self, multiplier: &Multiplier, quotient: &[u64], is_second: bool) {
        for [first, second] in &mut self.rows {
            let (to, from) = if is_second { (first, second) } else { (second, first) };
            add(to, &product(multiplier, from, quotient));
        }
    }

    fn times_transformed(&mut self, rings: &CyclicRings, other: &Self) {
        let transform = |number: &Natural| rings.transform(number, Ring::Cyclic);
        let [[m00, m01], [m10, m11]] = [0, 1].map(|row: usize| other.rows[row].each_ref().map(transform));
        for row in &mut self.rows {
            let [first, second] = row.each_ref().map(transform);
            let entry =
                |top, bottom| trimmed(&rings.cyclic_of_transformed(&[(&first, top), (&second, bottom)]));
            *row = [entry(&m00, &m10), entry(&m01, &m11)];
        }
    }

    /// `M <- M m`.
    pub(super) fn times_small(&mut self, WordMatrix([[m00, m01], [m10, m11]]): WordMatrix) {
        for [first, second] in &mut self.rows {
            let len = first.len().max(second.len());
            first.resize(len, 0);
            second.resize(len, 0);
            let mut carries = [0u64; 2];
            for (a, b) in first.iter_mut().zip(&mut *second) {
                // Two products of a limb and a number below 2^63, and a carry below 2^64.
                let sum = |x: u64, y: u64, carry: u64| {
                    u128::from(*a) * u128::from(x) + u128::from(*b) * u128::from(y) + u128::from(carry)
                };
                let sums = [sum(m00, m10, carries[0]), sum(m01, m11, carries[1])];
                carries = sums.map(|sum| (sum >> 64) as u64);
                [*a, *b] = sums.map(|sum| sum as u64);
            }
            for (entry, carry) in [first, second].into_iter().zip(carries) {
                entry.push(carry);
                trim(entry);
            }
        }
    }

    fn longest(&self) -> usize {
        self.rows.iter().flatten().map(Vec::len).max().unwrap_or(0)
    }

    /// `M <- M m`.
    pub(super) fn times(&mut self, multiplier: &Multiplier, other: Self) {
        let (mine, theirs) = (self.longest(), other.longest());
        if mine.min(theirs) >= multiplier.threshold() {
            // Sums of two products are below B^len, so every entry is transformed once.
            let len = mine + theirs + 1;
            if let Some(rings) = CyclicRings::at_least(*multiplier, 64 * len) {
                return self.times_transformed(&rings, &other);
            }
        }
        let [[m00, m01], [m10, m11]] = other.into_entries();
        for row in &mut self.rows {
            let [first, second] = &*row;
            let entry = |top: &[u64], bottom: &[u64]| {
                let mut sum = product(multiplier, first, top);
                add(&mut sum, &product(multiplier, second, bottom));
                sum
            };
            *row = [entry(&m00, &m10), entry(&m01, &m11)];
        }
    }
}
