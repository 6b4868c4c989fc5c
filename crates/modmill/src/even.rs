//! Even moduli: N = m 2^k with m odd. The answer modulo m comes from the fast path, the answer
//! modulo 2^k from truncated arithmetic, and Garner's step joins them.

use modmill_core::{Batch, Moduli, Modulus, limbs};
use modmill_cpu::power_of_two as two;

/// The odd parts of some items' moduli, in the shape the moduli came in.
pub(crate) enum OddParts {
    Each(Batch),
    Shared(Modulus),
}

impl OddParts {
    /// Splits the power of two off the moduli of `items`; other items of a batch stay zero.
    pub(crate) fn of(moduli: Moduli<'_>, items: &[usize]) -> Self {
        match moduli {
            Moduli::Shared(modulus) => {
                let shared = modulus.constants(|modulus| SharedOddPart(odd_part(modulus.value())));
                Self::Shared(shared.0.clone())
            }
            Moduli::Each(view) => {
                let mut odd = Batch::zeros(view.bits(), view.len());
                for &item in items {
                    let value = view.get(item);
                    let shift = limbs::trailing_zeros(value).unwrap_or(0);
                    limbs::shift_right(value, shift, odd.get_mut(item));
                }
                Self::Each(odd)
            }
        }
    }

    pub(crate) fn moduli(&self) -> Moduli<'_> {
        match self {
            Self::Each(batch) => batch.into(),
            Self::Shared(modulus) => modulus.into(),
        }
    }
}

/// Kept with the even modulus it belongs to, so that its own constants live as long.
struct SharedOddPart(Modulus);

fn odd_part(value: &[u64]) -> Modulus {
    let mut odd = vec![0; value.len()];
    limbs::shift_right(value, limbs::trailing_zeros(value).unwrap_or(0), &mut odd);
    Modulus::new(&odd).expect("the odd part of a modulus is a modulus")
}

/// The number below `m 2^k` that is `odd_answer` modulo m and `two_answer` modulo 2^k:
/// `odd_answer + m ((two_answer - odd_answer) / m mod 2^k)`. Constant-time in the answers.
pub(crate) fn join(odd_answer: &[u64], odd: &[u64], two_answer: &[u64], k: usize, out: &mut [u64]) {
    let inverse = two::inverse_of_odd_residue(&two::reduce(odd, k), k);
    let difference = two::sub(two_answer, &two::reduce(odd_answer, k), k);
    let multiple = two::mul(&difference, &inverse, k);
    out.copy_from_slice(&two::reduce(odd_answer, 64 * out.len()));
    for (i, &x) in multiple.iter().enumerate() {
        let mut carry = 0u64;
        for (to, &y) in out[i..].iter_mut().zip(odd.iter().chain(std::iter::repeat(&0))) {
            let sum = u128::from(x) * u128::from(y) + u128::from(*to) + u128::from(carry);
            *to = sum as u64;
            carry = (sum >> 64) as u64;
        }
    }
}
