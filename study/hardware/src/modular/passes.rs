//! The phases of algorithm 7.1: transforms, and passes of 32 digits a cycle that resolve carries, add and
//! subtract.

use super::transform::{Multiplicand, Samples, place};
use super::{DIGITS, Form, ModularMultiplier, POINTS, SIDE};
use crate::digits;
use crate::error::Error;
use crate::memory::Memory;
use crate::resolver::Resolver;

/// Cycles of a pass after its 32 reads: interchange, carry resolver, interchange and write.
const DEPTH: u64 = 14;

/// Rows of an operand, 32 digits each.
const ROWS: usize = DIGITS / SIDE;

/// A pass over the words of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// T to memory T, and T mod R to X.
    ResolveT,
    /// U mod R to X.
    ResolveU,
    /// W to X.
    ResolveW,
    /// `(T + W) / R` to X.
    Add,
    /// The sum less M to T.
    Subtract,
}

impl ModularMultiplier {
    /// Writes the digits of an operand to memory X. They come from the pass before, so that this takes no
    /// cycle of its own.
    pub(super) fn place_digits(&mut self, digits: &[u64]) -> Result<(), Error> {
        self.x.release();
        self.t.release();
        put_digits(&mut self.x, digits)
    }

    /// Computes the transform of `digits` in memory Y.
    pub(super) fn transform_y(&mut self, digits: &[u64]) -> Result<(), Error> {
        self.y.release();
        put_digits(&mut self.y, digits)?;
        self.phase("FFT(Y)", |machine| machine.forward(Samples::Y, Multiplicand::Last))
    }

    /// Algorithm 7.1 with the first operand in X.
    pub(super) fn montgomery(&mut self, form: Form) -> Result<Vec<u64>, Error> {
        self.phase("FFT(X) FFT(Y)", |machine| machine.forward(Samples::X, Multiplicand::Operand(form)))?;
        self.phase("T = IFFT", Self::inverse)?;
        self.phase("resolve T", |machine| machine.pass(Pass::ResolveT))?;
        self.phase("FFT(t) FFT(M')", |machine| machine.forward(Samples::X, Multiplicand::Constant(0)))?;
        self.phase("U = IFFT", Self::inverse)?;
        self.phase("resolve U", |machine| machine.pass(Pass::ResolveU))?;
        self.phase("FFT(u) FFT(M)", |machine| machine.forward(Samples::X, Multiplicand::Constant(1)))?;
        self.phase("W = IFFT", Self::inverse)?;
        self.phase("resolve W", |machine| machine.pass(Pass::ResolveW))?;
        let above = self.phase("T + W", |machine| machine.pass(Pass::Add))?;
        let carry = self.phase("c - M", |machine| machine.pass(Pass::Subtract))?;
        // c - M is not negative if the sum with R - M, or c itself, reaches R.
        let result = if above + carry > 0 { &self.t } else { &self.x };
        let digits: Vec<u64> = (0..DIGITS).map(|position| word_at(result, position)).collect();
        Ok(digits::join(&digits, self.digit_bits))
    }

    /// One pass. Returns the digit that follows the last one.
    fn pass(&mut self, pass: Pass) -> Result<u64, Error> {
        let (first, mut resolver) = (self.cycle, Resolver::new(self.digit_bits));
        let mut rows: Vec<Vec<u64>> = Vec::with_capacity(SIDE);
        for cycle in first..first + SIDE as u64 + DEPTH {
            let row = (cycle - first) as usize;
            let reads = if pass == Pass::Subtract { ROWS } else { SIDE };
            if row < reads {
                let sums = self.sums(pass, row, cycle)?;
                rows.push(resolver.word(&sums));
            }
            if let Some(written) = row.checked_sub(DEPTH as usize).filter(|&written| written < reads) {
                self.write_row(pass, written, &rows[written], cycle)?;
            }
        }
        self.cycle = first + SIDE as u64 + DEPTH;
        Ok(resolver.overflow())
    }

    /// Row `row` of what a pass adds up.
    fn sums(&mut self, pass: Pass, row: usize, cycle: u64) -> Result<[u64; SIDE], Error> {
        let mut sums = [0; SIDE];
        for (sum, position) in sums.iter_mut().zip(SIDE * row..) {
            let (bank, row) = place(position);
            *sum = match pass {
                Pass::ResolveT | Pass::ResolveU | Pass::ResolveW => self.x.read(cycle, bank, row)?,
                Pass::Add => self.x.read(cycle, bank, row)? + self.t.read(cycle, bank, row)?,
                // It is known at the end which of the two is the result.
                Pass::Subtract => {
                    self.x.read_kept(cycle, bank, row)? + self.complement.read_kept(cycle, bank, row)?
                }
            };
        }
        Ok(sums)
    }

    fn write_row(&mut self, pass: Pass, row: usize, digits: &[u64], cycle: u64) -> Result<(), Error> {
        let (x, t) = match pass {
            Pass::ResolveT => ((row < ROWS).then_some(row), Some(row)),
            Pass::ResolveU => ((row < ROWS).then_some(row), None),
            Pass::ResolveW => (Some(row), None),
            // Division by R: the lower half, which is zero, is left out.
            Pass::Add => (row.checked_sub(ROWS), None),
            Pass::Subtract => (None, Some(row)),
        };
        for (memory, row) in [(&mut self.x, x), (&mut self.t, t)] {
            let Some(row) = row else { continue };
            for (&digit, position) in digits.iter().zip(SIDE * row..) {
                let (bank, row) = place(position);
                memory.write(cycle, bank, row, digit)?;
            }
        }
        Ok(())
    }
}

/// The word at a position, outside of any cycle.
fn word_at(memory: &Memory, position: usize) -> u64 {
    let (bank, row) = place(position);
    memory.words()[bank * SIDE + row]
}

/// Writes digits to positions 0 and up, a row in each of some cycles before the first one that counts.
pub(super) fn put_digits(memory: &mut Memory, digits: &[u64]) -> Result<(), Error> {
    for (index, &digit) in digits.iter().enumerate() {
        let (bank, row) = place(index);
        let before = u64::MAX - (POINTS / SIDE) as u64 + row as u64;
        memory.write(before, bank, row, digit)?;
    }
    Ok(())
}
