//! Products over the three primes.

use super::{Crt, Field};
use crate::fft::point::Point;
use crate::fft::primes::{COUNT, PRIMES};
use crate::fft::product;
use crate::isa::Ifma as Token;
use modmill_core::transform::{Digits, Plan, Shape};

/// The way through the three primes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreePrimes(pub(crate) Token);

/// Digits of the shorter factor, at most, if they have these many bits: their number times
/// `(2^bits - 1)^2` is below P, and its fraction of P below 1 by more than the join is short.
const fn most_digits(bits: u32) -> u128 {
    let two = (PRIMES[0] as u128 * PRIMES[1] as u128) >> (2 * bits - 64);
    ((two * PRIMES[2] as u128) >> 64) / 64 * 63
}

/// Digits of 64 bits serve factors up to 2^21 limbs, and of 62 bits beyond.
const WIDE: u32 = 64;
const NARROW: u32 = 62;

const _: () = assert!(most_digits(WIDE) >= 1 << 21 && most_digits(NARROW) >= 1 << 25);

impl product::Road<COUNT> for ThreePrimes {
    type Field = Field;
    type Join = Crt;

    fn fields(&self, shape: Shape) -> [Field; COUNT] {
        std::array::from_fn(|index| Field::new(self.0, index, shape.columns.div_ceil(2)))
    }

    fn join(&self, shape: Shape) -> Crt {
        Crt::new(self.0, shape)
    }

    fn plan(&self, a: usize, b: usize) -> Plan {
        let bits = if a.min(b) as u128 <= most_digits(WIDE) { WIDE } else { NARROW };
        Plan::new(a + b, bits)
    }
}

impl product::Field for Field {
    fn fill(&self, block: &mut [Point], digits: &Digits<'_>, shape: Shape) {
        self.fill_block(block, digits, shape);
    }

    fn inverse_columns(&self, block: &mut [Point], shape: Shape) {
        self.inverse_block(block, shape);
    }

    fn multiply(&self, a: &mut [Point], b: &[Point], row: usize, shape: Shape) {
        self.multiply_row(a, b, self.turn(row, shape.rows).as_ref());
    }

    fn square(&self, a: &mut [Point], row: usize, shape: Shape) {
        self.square_row(a, self.turn(row, shape.rows).as_ref());
    }
}
