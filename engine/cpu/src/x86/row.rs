//! Rows of 64-bit limbs with `mulx`, `adcx` and `adox`.

use super::{limbs, table};
use crate::isa::Adx;
use crate::portable::Portable;
use crate::scalar::Scalar;
use modmill_core::Isa;

/// The kernel.
pub(crate) type Row = crate::row::Row<Adx>;

impl Scalar for Adx {
    const ISA: Isa = Isa::X86;
    const KARATSUBA: usize = 48;
    const KARATSUBA_SQUARE: usize = 80;
    const LONG_BLOCKS: usize = 36;

    #[inline(always)]
    fn multiply(self, x: &[u64], y: &[u64], out: &mut [u64]) {
        if x.len().min(y.len()) < limbs::LEAST {
            return Portable.multiply(x, y, out);
        }
        limbs::multiply(self, x, y, out);
    }

    #[inline(always)]
    fn square(self, x: &[u64], out: &mut [u64]) {
        match x.len() {
            0..limbs::LEAST => Portable.square(x, out),
            4 => limbs::square_4(self, x, out),
            // A product of up to eight limbs has no loops, and is faster.
            5..=8 => limbs::multiply(self, x, x, out),
            9.. => limbs::square(self, x, out),
        }
    }

    fn reduce(self, t: &mut [u64], modulus: &[u64], negated_inverse: u64, out: &mut [u64]) {
        if modulus.len() < limbs::LEAST {
            return Portable.reduce(t, modulus, negated_inverse, out);
        }
        let carry = limbs::reduce(self, t, modulus, negated_inverse);
        limbs::difference(self, &t[modulus.len()..], modulus, carry, out);
    }

    fn montgomery_multiply(
        self,
        x: &mut [u64],
        y: &[u64],
        space: &mut [u64],
        modulus: &[u64],
        negated_inverse: u64,
    ) {
        if limbs::is_usual(modulus.len()) {
            return limbs::montgomery_multiply(self, x, y, space, modulus, negated_inverse);
        }
        self.multiply(x, y, space);
        self.reduce(space, modulus, negated_inverse, x);
    }

    fn montgomery_square(self, x: &mut [u64], space: &mut [u64], modulus: &[u64], negated_inverse: u64) {
        if limbs::is_usual(modulus.len()) {
            return limbs::montgomery_square(self, x, space, modulus, negated_inverse);
        }
        self.square(x, space);
        self.reduce(space, modulus, negated_inverse, x);
    }

    #[inline(always)]
    fn add_block(self, sum: &mut [u64], block: &[u64; 4], b: &[u64]) {
        match b.len() {
            0..8 => Portable.add_block(sum, block, b),
            8.. => _ = limbs::add(self, sum, b, block, 0),
        }
    }

    fn add_long_block(self, sum: &mut [u64], block: &[u64; 8], b: &[u64]) {
        limbs::add(self, sum, b, block, 0);
    }

    fn select(self, table: &[u64], index: u64, out: &mut [u64]) {
        table::read(self, table, index, out);
    }

    fn add_assign(self, sum: &mut [u64], b: &[u64]) -> u64 {
        limbs::add_assign(self, sum, b)
    }

    fn sub_assign(self, from: &mut [u64], b: &[u64]) -> u64 {
        limbs::sub_assign(self, from, b)
    }

    fn add_bit(self, sum: &mut [u64], b: &[u64], bit: u64) -> u64 {
        limbs::add_bit(self, sum, b, bit)
    }
}
