//! Roots of unity in the order in which transforms use them.
//!
//! A block of a transform is a polynomial modulo `y^len - r`; node 0 of the tree has r = 1. Its two halves
//! are the polynomial modulo `y^(len/2) - w` and modulo `y^(len/2) + w` with `w^2 = r`. They are nodes 2j and
//! 2j + 1 below node j. The root w of a node depends on its number only, not on the level, so one table
//! serves all levels and all lengths.

use super::primes::{self, FACTOR_FORMS, FactorForm, PRIMES, ShoupFactor};
use modmill_core::sync::Mutex;
use std::sync::Arc;

/// The roots of nodes `0..len` of one field.
pub(crate) type Roots = Arc<Vec<ShoupFactor>>;

/// The tables of each field, in each representation.
type Tables = [[Mutex<Option<Roots>>; PRIMES.len()]; FACTOR_FORMS];

static TABLES: Tables = [const { [const { Mutex::new(None) }; PRIMES.len()] }; FACTOR_FORMS];

/// The roots of at least `len` nodes. The table is computed at first use and cached.
pub(crate) fn roots(form: FactorForm, field: usize, len: usize) -> Roots {
    let mut table = TABLES[form as usize][field].lock();
    match &*table {
        Some(roots) if roots.len() >= len => roots.clone(),
        _ => {
            let p = PRIMES[field];
            let values = compute(field, len.next_power_of_two().max(16));
            let roots = Arc::new(values.into_iter().map(|root| ShoupFactor::new(form, root, p)).collect());
            *table = Some(Arc::clone(&roots));
            roots
        }
    }
}

/// Node `2^d + j` has the root of node j, times a root of order `2^(d + 2)`.
fn compute(field: usize, len: usize) -> Vec<u64> {
    let mut roots = Vec::with_capacity(len);
    roots.push(1);
    while roots.len() < len {
        let step = primes::root_of_unity(field, 4 * roots.len() as u64);
        for node in 0..roots.len() {
            roots.push(primes::mul(roots[node], step, PRIMES[field]));
        }
    }
    roots
}

/// The node whose root is minus the inverse of the root of `node`. Node 0 has none.
#[inline(always)]
pub(crate) fn negative_inverse(node: usize) -> usize {
    // Within 2^d..2^(d+1), the exponents of mirrored nodes add up to half the order.
    (3 << node.ilog2()) - 1 - node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_hold_square_roots_of_their_parents() {
        for (field, &p) in PRIMES.iter().enumerate() {
            let roots = compute(field, 64);
            let square = |node: usize| primes::mul(roots[node], roots[node], p);
            for node in 1..32 {
                assert_eq!(square(2 * node), roots[node]);
                assert_eq!(square(2 * node + 1), p - roots[node]);
                let mirrored = roots[negative_inverse(node)];
                assert_eq!(primes::mul(roots[node], mirrored, p), p - 1);
            }
            assert_eq!((roots[0], square(1)), (1, p - 1));
        }
    }
}
