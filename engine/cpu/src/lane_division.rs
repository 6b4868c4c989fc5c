//! Divisions of some items side by side, or one by one if their divisors differ in length.

use crate::divsteps::Space;
use crate::remainder::{Scratch, div_rem, multiply, reduce};
use crate::scalar::Scalar;
use crate::schoolbook::divide::{Inputs, Numbers, Outputs, common_limbs};
use crate::schoolbook::kernels::Kernels;
use modmill_core::limbs::bit_length;

/// Working memory of one thread.
pub(crate) struct LaneDivision<V: Kernels> {
    space: Space<V>,
    scratch: Scratch,
}

impl<V: Kernels> LaneDivision<V> {
    /// Empty memory.
    pub(crate) fn new(token: V::Token) -> Self {
        Self { space: Space::new(token), scratch: Scratch::new(0, 0) }
    }

    /// Writes the quotients and the remainders of a, or of products a b, for as many items as
    /// [`Kernels::divide`] takes. The rows of an item whose divisor is zero stay as they are.
    pub(crate) fn divide<S: Scalar>(
        &mut self,
        scalar: S,
        (a, b): (Numbers<'_>, Option<Numbers<'_>>),
        divisors: &[&[u64]],
        outputs: Outputs<'_>,
    ) {
        let has_digits = a.bits > 0 && b.is_none_or(|b| b.bits > 0);
        if let Some(limbs) = common_limbs(divisors).filter(|_| has_digits) {
            return V::divide(Inputs { a, b, divisors, limbs }, &mut self.space, outputs);
        }
        let [quotients, remainders] = outputs;
        let rest = remainders.limbs.chunks_exact_mut(remainders.stride);
        for (item, (n, rest)) in divisors.iter().zip(rest).enumerate() {
            if bit_length(n) == 0 {
                continue;
            }
            let (number, scratch) = (a.limbs[item], &mut self.scratch);
            match b {
                Some(b) => multiply(scalar, number, b.limbs[item], n, rest, scratch),
                None if quotients.stride == 0 => reduce(scalar, (number, a.bits), 1, n, rest, scratch),
                None => {
                    let quotient = &mut quotients.limbs[item * quotients.stride..][..number.len()];
                    div_rem(scalar, number, n, (quotient, rest), scratch);
                }
            }
        }
    }
}
