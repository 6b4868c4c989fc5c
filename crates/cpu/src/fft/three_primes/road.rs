//! Products over the three primes.

use super::Field;
use super::arithmetic::Arithmetic;
use super::crt::{Crt, OFFSET};
use crate::fft::frame::Frame;
use crate::fft::point::Point;
use crate::fft::primes::{COUNT, PRIMES};
use crate::fft::road;
use modmill_core::transform::{Digits, Plan};

/// The way through the three primes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreePrimes<A: Arithmetic>(pub(crate) A::Token);

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
const _: () = assert!(most_digits(64) >= 2 << (OFFSET - 128));

impl<A: Arithmetic> road::Road<COUNT> for ThreePrimes<A> {
    type Field = Field<A>;
    type Join = Crt<A>;

    fn fields(&self, frame: Frame) -> [Field<A>; COUNT] {
        std::array::from_fn(|index| Field::new(self.0, index, frame.nodes()))
    }

    fn join(&self, frame: Frame) -> Crt<A> {
        Crt::new(self.0, frame)
    }

    fn plan(&self, a: usize, b: usize) -> Plan {
        let bits = if a.min(b) as u128 <= most_digits(WIDE) { WIDE } else { NARROW };
        Plan::new(a + b, bits)
    }

    fn ring_digit_bits(&self, digits: usize) -> Option<u32> {
        // Two products of so many digits are below 2^OFFSET in size.
        [WIDE, NARROW].into_iter().find(|bits| (digits as u128) < 1 << (OFFSET - 1 - 2 * bits))
    }
}

impl<A: Arithmetic> road::Field for Field<A> {
    fn fill(&self, rows: &mut [&mut [Point]], first: usize, digits: &Digits<'_>, frame: Frame) {
        self.fill_columns(rows, first, digits, frame);
    }

    fn inverse_columns(&self, rows: &mut [&mut [Point]], _: Frame) {
        self.invert_columns(rows);
    }

    fn multiply(&self, a: &mut [Point], b: Option<&[Point]>, row: usize, first: usize, frame: Frame) {
        self.multiply_row(a, b, frame.first_leaf() + first, self.turn(row, frame.shape.rows));
    }

    fn add(&self, a: &mut [Point], b: &[Point]) {
        self.add_points(a, b);
    }
}
