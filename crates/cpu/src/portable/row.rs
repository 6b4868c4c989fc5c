//! Row-oriented Montgomery products on 64-bit limbs, any architecture.

use crate::kernel::Kernel;
use modmill_core::limbs::{
    add_assign, bit_length, inverse_of_odd, shift_left, sub_assign, sub_assign_masked,
};
use modmill_core::{Family, Isa};

/// One modulus at a time, 64-bit limbs, no room above it.
pub struct Row {
    modulus: Vec<u64>,
    /// `-N^-1 mod 2^64`.
    negated_inverse: u64,
    /// `R - N 2^s` for the shift that makes it smallest: R modulo N, below R/2.
    wrap: Vec<u64>,
}

impl Kernel for Row {
    const LANES: usize = 1;
    const WIDTH: u32 = 64;
    const ROOM: usize = 0;
    const FAMILY: Family = Family::Row;
    const ISA: Isa = Isa::Portable;
    type Token = ();

    fn new((): (), moduli: &[u64]) -> Self {
        let mut shifted = vec![0; moduli.len()];
        shift_left(moduli, 64 * moduli.len() - bit_length(moduli), &mut shifted);
        let mut wrap = vec![0; moduli.len()];
        sub_assign(&mut wrap, &shifted);
        Self { modulus: moduli.to_vec(), negated_inverse: inverse_of_odd(moduli[0]).wrapping_neg(), wrap }
    }

    fn digits(&self) -> usize {
        self.modulus.len()
    }

    fn scratch_words(digits: usize) -> usize {
        2 * digits
    }

    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        Self::product((), x, y, scratch);
        self.reduce(scratch, x);
    }

    fn square(&self, x: &mut [u64], scratch: &mut [u64]) {
        Self::product((), x, x, scratch);
        self.reduce(scratch, x);
    }

    fn add(&self, x: &mut [u64], y: &[u64]) {
        // x + y < R + R/32. On a carry, what is left is below R/32, and R is `wrap` below R/2.
        let mask = add_assign(x, y).wrapping_neg();
        let mut carry = 0;
        for (limb, wrap) in x.iter_mut().zip(&self.wrap) {
            let sum = u128::from(*limb) + u128::from(wrap & mask) + u128::from(carry);
            *limb = sum as u64;
            carry = (sum >> 64) as u64;
        }
    }

    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        out.fill(0);
        for (entry, row) in table.chunks_exact(out.len()).enumerate() {
            let mask = equal_mask(entry as u64, indices[0]);
            for (to, from) in out.iter_mut().zip(row) {
                *to |= from & mask;
            }
        }
    }

    fn product((): (), x: &[u64], y: &[u64], out: &mut [u64]) {
        out.fill(0);
        for (i, &a) in x.iter().enumerate() {
            out[i + y.len()] = add_row(&mut out[i..i + y.len()], y, a);
        }
    }
}

impl Row {
    /// Montgomery reduction of `t < R^2` to `t / R mod N` below R.
    fn reduce(&self, t: &mut [u64], out: &mut [u64]) {
        let n = self.modulus.len();
        let mut top = 0u64;
        for i in 0..n {
            let q = t[i].wrapping_mul(self.negated_inverse);
            let carry = add_row(&mut t[i..i + n], &self.modulus, q);
            let (sum, first) = t[i + n].overflowing_add(carry);
            let (sum, second) = sum.overflowing_add(top);
            t[i + n] = sum;
            top = u64::from(first | second);
        }
        out.copy_from_slice(&t[n..]);
        sub_assign_masked(out, &self.modulus, top.wrapping_neg());
    }
}

/// `row += y a`, returning the carry limb: at most `(2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1`.
#[inline]
fn add_row(row: &mut [u64], y: &[u64], a: u64) -> u64 {
    let mut carry = 0u64;
    for (to, &b) in row.iter_mut().zip(y) {
        let sum = u128::from(a) * u128::from(b) + u128::from(*to) + u128::from(carry);
        *to = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// All ones if the two words are equal, else zero, without a branch.
fn equal_mask(a: u64, b: u64) -> u64 {
    let difference = std::hint::black_box(a ^ b);
    ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1)
}
