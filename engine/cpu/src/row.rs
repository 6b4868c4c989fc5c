//! Row-oriented Montgomery products on 64-bit limbs.

use crate::karatsuba;
use crate::kernel::{BatchKernel, Kernel};
use crate::lanes::Lanes;
use crate::portable::read_shared_table;
use crate::scalar::Scalar;
use modmill_core::limbs::{add_assign, bit_length, inverse_of_odd, shift_left, sub_assign};
use modmill_core::{Family, Isa, mask};
use zeroize::Zeroizing;

/// The scalar kernel: one modulus at a time, 64-bit limbs, no room above the modulus.
pub(crate) struct Row<S> {
    scalar: S,
    modulus: Zeroizing<Vec<u64>>,
    /// `-N^-1 mod 2^64`.
    negated_inverse: u64,
    /// `R - N 2^s` for the largest shift s that keeps it positive. It is congruent to R modulo N and below
    /// R/2.
    wrap: Zeroizing<Vec<u64>>,
}

impl<S: Scalar> Lanes for Row<S> {
    const LANES: usize = 1;
    const WIDTH: u32 = 64;
}

impl<S: Scalar> Kernel for Row<S> {
    const ROOM: usize = 0;
    const FAMILY: Family = Family::Row;
    const ISA: Isa = S::ISA;
    type Token = S;

    fn new(scalar: S, moduli: &[u64]) -> Self {
        let mut shifted = Zeroizing::new(vec![0; moduli.len()]);
        shift_left(moduli, 64 * moduli.len() - bit_length(moduli), &mut shifted);
        let mut wrap = Zeroizing::new(vec![0; moduli.len()]);
        sub_assign(&mut wrap, &shifted);
        Self {
            scalar,
            modulus: Zeroizing::new(moduli.to_vec()),
            negated_inverse: inverse_of_odd(moduli[0]).wrapping_neg(),
            wrap,
        }
    }

    fn blank(scalar: S, digits: usize) -> Self {
        let limbs = || Zeroizing::new(vec![0; digits]);
        Self { scalar, modulus: limbs(), negated_inverse: 0, wrap: limbs() }
    }

    fn digits(&self) -> usize {
        self.modulus.len()
    }

    fn constants(&mut self) -> Vec<&mut [u64]> {
        let inverse = std::slice::from_mut(&mut self.negated_inverse);
        vec![&mut self.modulus[..], inverse, &mut self.wrap[..]]
    }

    fn scratch_words(digits: usize) -> usize {
        2 * digits
    }

    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        self.scalar.montgomery_multiply(x, y, scratch, &self.modulus, self.negated_inverse);
    }

    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]) {
        for _ in 0..times {
            self.scalar.montgomery_square(x, scratch, &self.modulus, self.negated_inverse);
        }
    }

    fn add(&self, x: &mut [u64], y: &[u64]) {
        // x + y < R + R/32. After a carry the low limbs are below R/32, and `wrap` replaces R by a number
        // below R/2.
        let mask = mask::from_bit(add_assign(x, y));
        let mut carry = 0;
        for (limb, wrap) in x.iter_mut().zip(self.wrap.iter()) {
            let sum = u128::from(*limb) + u128::from(wrap & mask) + u128::from(carry);
            *limb = sum as u64;
            carry = (sum >> 64) as u64;
        }
    }

    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        self.scalar.select(table, indices[0], out);
    }
}

impl<S: Scalar> BatchKernel for Row<S> {
    fn select_shared(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        read_shared_table(table, indices, out);
    }

    fn product(scalar: S, x: &[u64], y: &[u64], out: &mut [u64]) {
        karatsuba::product(scalar, x, y, out);
    }
}

#[cfg(test)]
mod tests;
