//! The Chinese remainder theorem by Garner's step, for a batch.

use crate::rows::{resized, shared};
use modmill::number::{self, Number};
use modmill::{Batch, Engine, Modulus};

/// Two coprime moduli p and q with the constants of `x = b + q ((a - b) q^-1 mod p)`, the number below `p q` that is a
/// modulo p and b modulo q.
pub(crate) struct Garner {
    p: Modulus,
    q: Number,
    /// `q^-1 mod p`.
    coefficient: Number,
    /// `p 2^s` for the least s >= 1 with `p 2^s >= q`: it is added, so that a difference is positive.
    lift: Number,
    /// The length of `p q` in bits.
    bits: usize,
}

impl Garner {
    /// The constants of two moduli, or `None` if they share a factor.
    pub(crate) fn new(p: &Modulus, q: &Modulus) -> Option<Self> {
        let coefficient = number::inv(q.value(), p.value())?;
        let shift = q.bits().saturating_sub(p.bits()) + 1;
        let mut lift = Number::new(vec![0; (p.bits() + shift).div_ceil(64)]);
        number::shift_left(p.value(), shift, &mut lift);
        let bits = number::bit_length(&number::mul(p.value(), q.value()));
        Some(Self { p: p.clone(), q: Number::new(q.value().to_vec()), coefficient, lift, bits })
    }

    /// Joins residues `a` modulo p and `b` modulo q. The time depends on lengths alone.
    pub(crate) fn join(&self, engine: &Engine, a: &Batch, b: &Batch) -> Result<Batch, modmill::Error> {
        // a < p and b < q <= p 2^s, so that the sum is positive and at most one bit longer than p 2^s.
        let mut difference = Batch::zeros(number::bit_length(&self.lift) + 1, a.len());
        for (index, (a, b)) in a.iter().zip(b.iter()).enumerate() {
            let row = difference.get_mut(index);
            row[..self.lift.len()].copy_from_slice(&self.lift);
            number::add_assign(row, a);
            number::sub_assign(row, b);
        }
        let quotient = engine.mul_mod(&difference, shared(&self.coefficient), &self.p)?;
        let products = engine.mul(&quotient, shared(&self.q))?;
        let mut joined = resized(&products, self.bits);
        for (index, b) in b.iter().enumerate() {
            number::add_assign(joined.get_mut(index), b);
        }
        Ok(joined)
    }
}
