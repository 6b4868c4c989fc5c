//! Rows of 64-bit limbs in plain Rust.

use super::montgomery::{reduce, subtract_masked};
use super::{Portable, band, square, table};
use crate::scalar::Scalar;
use modmill_core::{Isa, mask};

/// The kernel.
pub(crate) type Row = crate::row::Row<Portable>;

impl Scalar for Portable {
    const ISA: Isa = Isa::Portable;
    const KARATSUBA: usize = 48;
    const KARATSUBA_SQUARE: usize = 96;
    const LONG_BLOCKS: usize = usize::MAX;

    fn multiply(self, x: &[u64], y: &[u64], out: &mut [u64]) {
        match (x.try_into(), y.try_into()) {
            (Ok::<&[u64; 4], _>(x), Ok(y)) => {
                let y: &[u64; 4] = y;
                let out = &mut out[..8];
                out.fill(0);
                self.add_block(out, x, y);
            }
            _ => band::product(out, x, y),
        }
    }

    fn square(self, x: &[u64], out: &mut [u64]) {
        square::square(x, out);
    }

    fn reduce(self, t: &mut [u64], modulus: &[u64], negated_inverse: u64, out: &mut [u64]) {
        let top = reduce(t, modulus, negated_inverse);
        subtract_masked(&t[modulus.len()..], modulus, mask::from_bit(top), out);
    }

    #[inline(always)]
    fn add_block(self, sum: &mut [u64], block: &[u64; 4], b: &[u64]) {
        band::add_band(sum, block, b, 0);
    }

    fn select(self, table: &[u64], index: u64, out: &mut [u64]) {
        table::read(table, index, out);
    }

    #[inline(always)]
    fn add_long_block(self, sum: &mut [u64], block: &[u64; 8], b: &[u64]) {
        band::add_band(sum, block, b, 0);
    }
}
