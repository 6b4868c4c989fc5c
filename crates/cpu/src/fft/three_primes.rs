//! Transforms over three primes in vector registers: everything but the arithmetic modulo a prime, which each
//! instruction set has its own of ([`Arithmetic`]).

pub(crate) mod arithmetic;
mod butterfly;
mod columns;
mod crt;
mod pointwise;
mod road;
mod weights;

use super::primes::{Factor, PRIMES};
use super::roots::{Roots, roots};
use arithmetic::Arithmetic;
pub(crate) use crt::OFFSET;
pub(crate) use road::ThreePrimes;
use std::sync::Arc;
pub(crate) use weights::{RootsOfTwo, Weights};

/// One of the fields, with the roots of transforms up to a length.
pub(crate) struct Field<A: Arithmetic> {
    index: usize,
    roots: Roots,
    /// What node 0 has instead of a mirrored one.
    first_mirrored: [Factor; 15],
    /// What digits are multiplied by, where blocks have weights.
    weights: Option<Arc<Weights>>,
    token: A::Token,
}

impl<A: Arithmetic> Field<A> {
    /// The field, for transforms whose blocks have nodes up to `nodes`.
    fn new(token: A::Token, index: usize, nodes: usize) -> Self {
        let roots = roots(A::FORM, index, nodes);
        let first_mirrored = butterfly::first_mirrored::<A>(PRIMES[index], &roots);
        Self { index, first_mirrored, roots, weights: None, token }
    }

    /// Runs work that was compiled for the instruction set, with the field's arithmetic.
    #[inline(always)]
    fn run(&self, work: impl FnOnce(A)) {
        A::run(
            self.token,
            #[inline(always)]
            || work(A::new(self.token, PRIMES[self.index])),
        );
    }
}

#[cfg(test)]
mod tests;
