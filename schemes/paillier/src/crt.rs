//! The Chinese remainder theorem by Garner's step, for a batch.

use crate::rows::shared;
use modmill::number::{self, Number};
use modmill::{Engine, Holds, Modulus};

/// Two coprime moduli p and q with the constants of `x = b + q ((a - b) q^-1 mod p)`, the number below `p q`
/// that is a modulo p and b modulo q.
pub(crate) struct Garner {
    p: Modulus,
    q: Number,
    /// `q^-1 mod p`.
    coefficient: Number,
    /// `p 2^s` for the least s >= 1 with `p 2^s >= q`: it is added, so that a difference is positive.
    lift: Number,
    /// `p q`.
    product: Modulus,
}

impl Garner {
    /// The constants of two moduli, or `None` if they share a factor.
    pub(crate) fn new(p: &Modulus, q: &Modulus) -> Option<Self> {
        let coefficient = number::inv(q.value(), p.value())?;
        let shift = q.bits().saturating_sub(p.bits()) + 1;
        let mut lift = Number::new(vec![0; (p.bits() + shift).div_ceil(64)]);
        number::shift_left(p.value(), shift, &mut lift);
        let product = Modulus::new(&number::mul(p.value(), q.value())).ok()?;
        Some(Self { p: p.clone(), q: Number::new(q.value().to_vec()), coefficient, lift, product })
    }

    /// Joins residues `a` modulo p and `b` modulo q to numbers below `p q`, whose declared width may be
    /// greater. The time depends on lengths alone.
    pub(crate) fn join<P: Holds>(
        &self,
        at: &Engine<P>,
        a: &P::Numbers,
        b: &P::Numbers,
    ) -> Result<P::Numbers, modmill::Error> {
        // a < p and b < q <= p 2^s, so that the difference is positive.
        let lifted = at.add(P::operand(a), shared(&self.lift))?;
        let difference = at.sub(P::operand(&lifted), P::operand(b))?;
        let quotient = at.mul_mod(P::operand(&difference), shared(&self.coefficient), &self.p)?;
        // The quotient is below p, so that its product with q is below p q.
        let products = at.mul_mod(P::operand(&quotient), shared(&self.q), &self.product)?;
        Ok(P::narrowed(at.add(P::operand(&products), P::operand(b))?, self.product.bits()))
    }
}
