//! Roots of unity of order 3 and 5, for the short transforms of odd length.

use crate::fft::primes::{self, FactorForm, PRIMES, ShoupFactor};

/// The length of the longest column.
pub(super) const MOST: usize = 5;

/// A root of unity w of order 3 or 5, with the factors of the short transform.
#[derive(Clone, Copy)]
pub(crate) struct OddRoots {
    pub(super) order: usize,
    /// The powers of w.
    pub(super) powers: [ShoupFactor; MOST],
    /// For order 5: `(w + w^4 - w^2 - w^3) / 4`, `-1/4`, `(w - w^4) / 2` and `(w^2 - w^3) / 2`.
    pub(super) fifths: [ShoupFactor; 4],
}

/// The roots of order 3 and, if the field has one, of order 5, for every field, forward and inverse.
pub(crate) type OddRootTable = [[[OddRoots; 2]; 2]; PRIMES.len()];

pub(super) const fn odd_roots(form: FactorForm) -> OddRootTable {
    let mut roots = [[[OddRoots::compute(form, 0, 3, false); 2]; 2]; PRIMES.len()];
    let mut field = 0;
    while field < PRIMES.len() {
        roots[field][0] = [OddRoots::compute(form, field, 3, false), OddRoots::compute(form, field, 3, true)];
        if (PRIMES[field] - 1).is_multiple_of(5) {
            roots[field][1] =
                [OddRoots::compute(form, field, 5, false), OddRoots::compute(form, field, 5, true)];
        }
        field += 1;
    }
    roots
}

impl OddRoots {
    const fn compute(form: FactorForm, field: usize, order: usize, is_inverse: bool) -> Self {
        let p = PRIMES[field];
        let mut root = primes::root_of_unity(field, order as u64);
        if is_inverse {
            root = primes::inverse(root, p);
        }
        let mut values = [1; MOST];
        let mut powers = [ShoupFactor::new(form, 1, p); MOST];
        let mut k = 1;
        while k < MOST {
            values[k] = primes::mul(values[k - 1], root, p);
            powers[k] = ShoupFactor::new(form, values[k], p);
            k += 1;
        }
        let [_, first, second, third, fourth] = values;
        let half = p.div_ceil(2);
        let quarter = primes::mul(half, half, p);
        let fifths = [
            ShoupFactor::new(form, primes::mul(first + fourth + 2 * p - second - third, quarter, p), p),
            ShoupFactor::new(form, p - quarter, p),
            ShoupFactor::new(form, primes::mul(first + p - fourth, half, p), p),
            ShoupFactor::new(form, primes::mul(second + p - third, half, p), p),
        ];
        Self { order, powers, fifths }
    }
}
