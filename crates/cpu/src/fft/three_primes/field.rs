//! One of the three fields, with its tables of roots.

use super::arithmetic::Arithmetic;
use super::weights::Weights;
use crate::fft::primes::{PRIMES, ShoupFactor};
use crate::fft::roots::{Roots, negative_inverse, roots};
use std::sync::Arc;

/// One of the fields, with the roots of transforms up to a length.
pub(crate) struct VectorField<A: Arithmetic> {
    pub(super) index: usize,
    pub(super) roots: Roots,
    /// What node 0 has instead of a mirrored one.
    pub(super) first_mirrored: [ShoupFactor; 15],
    /// What digits are multiplied by, where blocks have weights.
    pub(super) weights: Option<Arc<Weights>>,
    pub(super) token: A::Token,
}

impl<A: Arithmetic> VectorField<A> {
    /// The field, for transforms whose blocks have nodes up to `nodes`.
    pub(super) fn new(token: A::Token, index: usize, nodes: usize) -> Self {
        let roots = roots(A::FORM, index, nodes);
        let first_mirrored = first_mirrored::<A>(PRIMES[index], &roots);
        Self { index, first_mirrored, roots, weights: None, token }
    }

    /// Runs work that was compiled for the instruction set, with the field's arithmetic.
    #[inline(always)]
    pub(super) fn run(&self, work: impl FnOnce(A)) {
        A::run(
            self.token,
            #[inline(always)]
            || work(A::new(self.token, PRIMES[self.index])),
        );
    }
}

/// Minus the inverses of the roots below node 0, the last of each level first: 1, 2, 4 and 8.
fn first_mirrored<A: Arithmetic>(p: u64, roots: &[ShoupFactor]) -> [ShoupFactor; 15] {
    std::array::from_fn(|index| {
        let level = (index + 1).ilog2();
        match (2 << level) - 2 - index {
            0 => ShoupFactor::new(A::FORM, p - 1, p),
            node => roots[negative_inverse(node)],
        }
    })
}
