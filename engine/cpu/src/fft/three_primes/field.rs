//! One of the three fields, with its table of roots.

use super::arithmetic::Arithmetic;
use super::weights::Weights;
use crate::fft::primes::{PRIMES, ShoupFactor};
use crate::fft::roots::{Roots, negative_inverse, roots};
use std::sync::Arc;

/// One of the fields, with the roots of transforms up to a length.
pub(crate) struct VectorField<A: Arithmetic> {
    pub(super) index: usize,
    pub(super) roots: Roots,
    /// The mirrored roots of node 0, which the table of roots does not contain.
    pub(super) first_mirrored: [ShoupFactor; 15],
    /// The weights of digits, if the transform is weighted.
    pub(super) weights: Option<Arc<Weights>>,
    pub(super) token: A::Token,
}

impl<A: Arithmetic> VectorField<A> {
    /// The field with the roots of `nodes` nodes.
    pub(super) fn new(token: A::Token, index: usize, nodes: usize) -> Self {
        let roots = roots(A::FORM, index, nodes);
        let first_mirrored = first_mirrored::<A>(PRIMES[index], &roots);
        Self { index, first_mirrored, roots, weights: None, token }
    }

    /// Runs `work` with the field's arithmetic, compiled for the instruction set.
    #[inline(always)]
    pub(super) fn run(&self, work: impl FnOnce(A)) {
        A::run(
            self.token,
            #[inline(always)]
            || work(A::new(self.token, PRIMES[self.index])),
        );
    }
}

/// Minus the inverses of the roots below node 0, for levels of 1, 2, 4 and 8 nodes, each level in reverse
/// order.
fn first_mirrored<A: Arithmetic>(p: u64, roots: &[ShoupFactor]) -> [ShoupFactor; 15] {
    std::array::from_fn(|index| {
        let level = (index + 1).ilog2();
        match (2 << level) - 2 - index {
            0 => ShoupFactor::new(A::FORM, p - 1, p),
            node => roots[negative_inverse(node)],
        }
    })
}
