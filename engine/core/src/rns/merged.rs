//! Matrices with a modulus merged into them, for many products modulo one number.
//!
//! Primes of B are 3 modulo 4, so exactly one of `c_i 2^-32` and its negative is a square modulo b_i:
//! `s_i^2 = sign_i c_i 2^-32`. Column i of the first matrix is multiplied by s_i, so base B holds
//! `x' = s_i x`, and `redc(x' x')` is `sign_i xi_i` at once. This saves the product with c_i and its
//! reduction. The rows of the second matrix take the sign.
//!
//! Column j of the second matrix is multiplied by `n_j 2^-32`, so the extension is q N / (B A_j) at once. The
//! square of the state, `s_j = redc(xi_j xi_j)`, enters the same column as one more word, with the factor
//! `C_j 2^-16`. So the new state is the folded sum of the column:
//! `xi_j = fold(sum_i sign_i xi_i E_ij + s_j C_j 2^-16)`. This saves two of three wide products and a
//! reduction in base A.
//!
//! A table factor y is kept as `yB_i = y'_i` below its prime, because `redc(x' y')` is to a product what
//! `redc(x' x')` is to a square, and as its state in base A.
//!
//! `sum_i sign_i xi_i B_i` may be negative, and so may values: |z| < c N. Rounding to the nearest integer
//! gives the right quotient for negative x too.

#[cfg(test)]
mod tests;

use super::{Bases, Bounds, Channel, Matrix, ModulusConstants};
use crate::limbs::bit_length;
use zeroize::Zeroizing;

/// The matrices of a pair of bases and one modulus, with their own bounds.
#[derive(Debug)]
pub struct Merged {
    roots: Zeroizing<Vec<u32>>,
    a_to_b: Matrix,
    b_to_a: Matrix,
    bounds: Bounds,
}

impl Merged {
    /// The matrices of `bases` for a modulus and its constants. `None` if the bounds fail with them, which
    /// depends on how entries fall, or leave no room for this modulus.
    ///
    /// The time depends on the modulus, because the bounds of its matrices are compared and iterated.
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
        let base_a = bases.a().iter();
        let reduced =
            |(channel, &factor): (&Channel, &u32)| channel.canonical(channel.redc(u64::from(factor)));
        let factors =
            Zeroizing::new(base_a.clone().zip(constants.modulus.iter()).map(reduced).collect::<Vec<_>>());
        // C_j 2^-16, as the fold of a sum divides by 2^16.
        let own = base_a.zip(bases.combine());
        let own: Vec<u32> =
            own.map(|(channel, factor)| channel.multiply(reduced((channel, factor)), 1 << 16)).collect();
        let mut signed = bases.b_to_a().with_words_negated(bases.a(), &negative);
        let mut scaled = signed.with_columns_times(bases.a(), &factors);
        signed.zeroize();
        let b_to_a = scaled.with_own_words(bases.a(), &own);
        scaled.zeroize();
        let precision = bases.quotient().precision;
        let bounds = Bounds::merged(precision, bases.a(), bases.b(), &a_to_b, &b_to_a);
        let merged = Self { roots, a_to_b, b_to_a, bounds };
        let fits = merged.bounds.holds() && bases.capacity_within(&merged.bounds)? >= bit_length(modulus);
        fits.then_some(merged)
    }

    /// The canonical roots `s_i`, which table entries in base B are multiplied by.
    #[must_use]
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// The matrix of the first extension: from words of A and the quotient k to `s_i x` in base B.
    #[must_use]
    pub fn a_to_b(&self) -> &Matrix {
        &self.a_to_b
    }

    /// The matrix of the second extension: from `sign_i xi_i`, and in each column the square or product in
    /// its channel of base A, to the new state.
    #[must_use]
    pub fn b_to_a(&self) -> &Matrix {
        &self.b_to_a
    }

    /// The bounds of these matrices, with their approximation of the quotient.
    #[must_use]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

/// The matrices reveal the modulus, which may be secret, so they are zeroized.
impl Drop for Merged {
    fn drop(&mut self) {
        self.a_to_b.zeroize();
        self.b_to_a.zeroize();
    }
}
