//! Powers modulo long numbers (the thesis's Algorithm 7.2, with windows): everything stays on the device from
//! the base to the power.
//!
//! A table has the powers 1 to `2^w - 1` of each item's base. The exponent is read from above, w bits at a
//! time: w squares, and a product with the entry that the bits name. Which kernels run depends on lengths
//! alone, but for a public exponent of all items, whose digits of zero cost no product.

use super::barrett::{Divisors, Reduction};
use super::calls::ChooseCall;
use super::{Factor, Input, Output, Work};
use crate::call::{Numbers, word};
use crate::device::{Buffer, Contents, Device};
use crate::error::Result;
use crate::task::Reads;
use modmill_core::Operand;
use modmill_core::limbs::bits_at;
use modmill_core::window::best_fixed_window;

/// The exponents of a batch, and how they are gone through.
#[derive(Clone, Copy)]
pub(crate) struct Exponents<'a> {
    pub(crate) operand: Operand<'a>,
    /// Bits of them that are looked at: as declared, or of the longest one.
    pub(crate) bits: usize,
    /// Bits of a digit.
    pub(crate) window: u32,
    /// How the tables of powers are read.
    pub(crate) reads: Reads,
}

/// Reading one entry, in products modulo N: a number of n bits compared with some 12 passes over points of 5
/// n bits.
const SCAN: f64 = 0.006;

/// The window of secret exponents.
pub(crate) fn secret_window(bits: usize) -> u32 {
    best_fixed_window(bits, SCAN)
}

impl Exponents<'_> {
    fn digits(&self) -> usize {
        self.bits.div_ceil(self.window as usize)
    }

    /// Whether a digit is known to be zero for all items, and may be.
    fn is_zero_vartime(&self, place: usize) -> bool {
        match self.operand {
            Operand::Shared { value, .. } if self.reads == Reads::Vartime => {
                bits_at(value, place * self.window as usize, self.window) == 0
            }
            _ => false,
        }
    }
}

/// Memory for the powers of chunks of some size.
pub(super) struct Powers {
    window: u32,
    reads: Reads,
    table: Buffer,
    entry_bytes: usize,
    chosen: Buffer,
    words: u32,
}

impl Powers {
    /// A table for moduli of `limbs` limbs, and chunks of `size` items.
    pub(super) fn new(device: &Device, exponents: &Exponents<'_>, limbs: usize, size: usize) -> Result<Self> {
        // Rows are whole quads of words.
        let limbs = limbs.next_multiple_of(2);
        let entry_bytes = 8 * limbs * size;
        let entries = (1 << exponents.window) - 1;
        Ok(Self {
            window: exponents.window,
            reads: exponents.reads,
            table: device.buffer(entries * entry_bytes, Contents::Secret)?,
            entry_bytes,
            chosen: device.buffer(entry_bytes, Contents::Secret)?,
            words: word(2 * limbs)?,
        })
    }

    /// The rows of a power of the bases, from the first on.
    fn entry(&self, power: usize) -> Output<'_> {
        Output { buffer: &self.table, start: (power - 1) * self.entry_bytes, words: self.words }
    }

    /// The powers of a chunk, whose bases have at most twice the bits of their moduli.
    pub(super) fn run(
        &self,
        work: &Work<'_>,
        reduction: &Reduction,
        divisors: Divisors<'_>,
        bases: Input<'_>,
        (exponents, digits): (&Exponents<'_>, Input<'_>),
        output: Output<'_>,
    ) -> Result<()> {
        let buffers = [&self.table, &self.chosen, output.buffer];
        let input = |numbers: Numbers| Input::plain(numbers, &buffers);
        let multiply = |a: Output<'_>, b: Factor<'_>, to: Output<'_>| {
            reduction.multiply(work, divisors, input(a.numbers()), b, to)
        };
        reduction.reduce(work, divisors, bases, self.entry(1))?;
        for power in 2..1 << self.window {
            match power % 2 {
                0 => multiply(self.entry(power / 2), Factor::Itself, self.entry(power))?,
                _ => {
                    let base = Factor::Numbers(self.entry(1).numbers());
                    multiply(self.entry(power - 1), base, self.entry(power))?;
                }
            }
        }
        let mut places = (0..exponents.digits()).rev();
        // The first digit's entry is where squares begin; that of no digit is 1.
        let first = places.next().unwrap_or(0);
        self.choose(work, digits, first, output)?;
        let chosen = Output::all(&self.chosen, self.words);
        for place in places {
            for _ in 0..self.window {
                multiply(output, Factor::Itself, output)?;
            }
            if !exponents.is_zero_vartime(place) {
                self.choose(work, digits, place, chosen)?;
                multiply(output, Factor::Numbers(chosen.numbers()), output)?;
            }
        }
        Ok(())
    }

    /// The entries that the digits at a place name.
    fn choose(&self, work: &Work<'_>, exponents: Input<'_>, place: usize, to: Output<'_>) -> Result<()> {
        let row_quads = self.words / 4;
        let call = ChooseCall {
            exponents: exponents.numbers,
            table: self.table.address(),
            results: to.address(),
            entry_quads: self.entry_bytes as u64 / 16,
            row_quads,
            from: word(place * self.window as usize)?,
            bits: self.window,
            count: word(row_quads as usize * work.items)?,
        };
        let mut used = exponents.buffers.to_vec();
        used.extend([&self.table, to.buffer]);
        work.transforms.choose(work.stream, self.reads, &call, &used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only public exponents skip the products of their zero digits.
    #[test]
    fn a_secret_exponent_decides_nothing() {
        let operand = Operand::Shared { bits: 8, value: &[0b0101_0000] };
        let zeros = |reads: Reads| {
            let exponents = Exponents { operand, bits: 8, window: 4, reads };
            [0, 1].map(|place| exponents.is_zero_vartime(place))
        };
        assert_eq!(zeros(Reads::Vartime), [true, false]);
        assert_eq!(zeros(Reads::Direct), [false, false]);
        assert_eq!(zeros(Reads::Whole), [false, false]);
    }
}
