//! Matrices with a modulus merged into them, for many products modulo one number.
//!
//! Primes of B are 3 modulo 4, so that of `c_i 2^-32` and its negative exactly one is a square modulo
//! b_i: `s_i^2 = sign_i c_i 2^-32`. With column i of the first matrix times s_i, base B holds `x' = s_i x`, and
//! `redc(x' x')` is `sign_i xi_i` at once: the product with c_i and its reduction are gone. The sign goes into
//! the rows of the second matrix.
//!
//! A prepared factor is `yB_i = y'_i` brought below its prime, as `redc(x' y')` is what a square gives for
//! x = y.
//!
//! `sum_i sign_i xi_i B_i` may be negative, and so may values: |z| < c N. Rounding to the nearest integer gives the
//! right quotient for negative x too.

#[cfg(test)]
mod tests;

use super::{Bases, Bounds, Matrix, ModulusConstants};
use crate::limbs::bit_length;
use zeroize::Zeroizing;

/// The matrices of a pair of bases and a modulus, with bounds of their own.
#[derive(Debug)]
pub struct Merged {
    roots: Zeroizing<Vec<u32>>,
    a_to_b: Matrix,
    b_to_a: Matrix,
    bounds: Bounds,
}

impl Merged {
    /// The matrices for a modulus and its constants in some bases. `None` if the bounds do not hold
    /// with them, which depends on how entries fall, or leave no room for this modulus.
    ///
    /// Time depends on the modulus: the bounds of its matrices are compared and iterated.
    #[must_use]
    pub fn new(bases: &Bases, modulus: &[u64], constants: &ModulusConstants) -> Option<Self> {
        let roots = bases.b().iter().zip(constants.quotient.iter()).map(|(channel, &constant)| {
            let square = channel.redc(u64::from(constant));
            let root = channel.power(square, (channel.p >> 2) + 1);
            (root, channel.multiply(root, root) != channel.canonical(square))
        });
        let (roots, negative): (Vec<u32>, Vec<bool>) = roots.unzip();
        let (roots, negative) = (Zeroizing::new(roots), Zeroizing::new(negative));
        let a_to_b = bases.a_to_b().with_columns_times(bases.b(), &roots);
        let b_to_a = bases.b_to_a().with_words_negated(bases.a(), &negative);
        let bounds = Bounds::like(bases.bounds(), bases.a(), bases.b(), &a_to_b, &b_to_a)
            .unwrap_or_else(|| Bounds::new(bases.a(), bases.b(), &a_to_b, &b_to_a));
        let merged = Self { roots, a_to_b, b_to_a, bounds };
        let fits = merged.bounds.holds() && bases.capacity_within(&merged.bounds)? >= bit_length(modulus);
        fits.then_some(merged)
    }

    /// `s_i`, canonical: the factor of table entries in B.
    #[must_use]
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// The first extension: words of A and the quotient to `s_i x` in B.
    #[must_use]
    pub fn a_to_b(&self) -> &Matrix {
        &self.a_to_b
    }

    /// The second extension: `sign_i xi_i` to q in A.
    #[must_use]
    pub fn b_to_a(&self) -> &Matrix {
        &self.b_to_a
    }

    /// The bounds with these matrices, and the approximation of the quotient that goes with them.
    #[must_use]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

/// The modulus may be a secret, and the matrices tell it.
impl Drop for Merged {
    fn drop(&mut self) {
        self.a_to_b.zeroize();
        self.b_to_a.zeroize();
    }
}
