//! Half-gcd: reduces numbers of n limbs to about half the length and returns the matrix of the reduction.

use super::lehmer;
use super::matrix::Matrix;
use super::natural::{Natural, add, product, subtract, trim, trimmed};
use crate::fft::shape::Ring;
use crate::long::cyclic::CyclicRings;
use crate::long::multiplier::Multiplier;
use modmill_core::limbs::add_assign;

/// The number of limbs from which the recursion is faster than Lehmer's steps; measured.
pub(super) const THRESHOLD: usize = 260;

/// Reduces both numbers as long as they keep more than `n / 2 + 1` limbs, where n is the length of the longer
/// one.
fn half(multiplier: &Multiplier, a: &mut Natural, b: &mut Natural) -> Matrix {
    let n = a.len().max(b.len());
    let floor = n / 2 + 1;
    let mut matrix = Matrix::identity(2);
    if a.len().min(b.len()) <= floor {
        return matrix;
    }
    if n < THRESHOLD {
        lehmer::reduce(multiplier, a, b, floor, &mut matrix);
        return matrix;
    }
    reduce_top(multiplier, a, b, n / 2, &mut matrix);
    while a.len().max(b.len()) > 3 * n / 4 + 1 {
        if !lehmer::round(multiplier, a, b, floor, &mut matrix) {
            return matrix;
        }
    }
    // The second half. The cut is chosen such that halving the upper part leaves just more than `floor`
    // limbs.
    let rest = a.len().max(b.len());
    if rest > floor + 2 {
        reduce_top(multiplier, a, b, 2 * floor + 1 - rest, &mut matrix);
    }
    lehmer::reduce(multiplier, a, b, floor, &mut matrix);
    matrix
}

/// Reduces numbers by the matrix of their limbs from `cut` up. Returns whether there was a reduction.
///
/// With n' limbs above the cut and `s' = n' / 2 + 1`, the reduced upper parts are at least `B^s'`, and the
/// entries of M are less than `B^(n' - s')`. So the products of the lower parts and these entries never make
/// a number negative.
pub(super) fn reduce_top(
    multiplier: &Multiplier,
    a: &mut Natural,
    b: &mut Natural,
    cut: usize,
    matrix: &mut Matrix,
) -> bool {
    if a.len().min(b.len()) <= cut {
        return false;
    }
    let split = |x: &mut Natural| {
        let upper = x.split_off(cut);
        trim(x);
        upper
    };
    let (mut upper_a, mut upper_b) = (split(a), split(b));
    let found = half(multiplier, &mut upper_a, &mut upper_b);
    if found.is_identity() {
        *a = joined(&upper_a, cut, a);
        *b = joined(&upper_b, cut, b);
        return false;
    }
    let [[m00, m01], [m10, m11]] = found.entries();
    let shortest = [a.len(), b.len(), m00.len(), m11.len()].into_iter().min().unwrap_or(0);
    if shortest >= multiplier.threshold() {
        // Both results are below B^len.
        let len = cut + upper_a.len().max(upper_b.len()) + 1;
        if let Some(rings) = CyclicRings::at_least(*multiplier, 64 * len) {
            (*a, *b) = apply_transformed(&rings, &found, [a, b], [upper_a, upper_b], cut);
            matrix.times(multiplier, found);
            return true;
        }
    }
    let reduced = |upper: &[u64], plus: (&[u64], &[u64]), minus: (&[u64], &[u64])| {
        let mut sum = joined(upper, cut, &product(multiplier, plus.0, plus.1));
        subtract(&mut sum, &product(multiplier, minus.0, minus.1));
        sum
    };
    (*a, *b) = (reduced(&upper_a, (m11, a), (m01, b)), reduced(&upper_b, (m00, b), (m10, a)));
    matrix.times(multiplier, found);
    true
}

/// `upper B^cut + M^-1 lower` for both numbers, modulo `2^n - 1`, which exceeds both results. Every number is
/// transformed once. The negative of a number is its complement.
fn apply_transformed(
    rings: &CyclicRings,
    matrix: &Matrix,
    lower: [&Natural; 2],
    upper: [Natural; 2],
    cut: usize,
) -> (Natural, Natural) {
    let transform = |number: &[u64]| rings.transform(number, Ring::Cyclic);
    let negative = |number: &[u64]| {
        let mut complement = number.to_vec();
        complement.resize(rings.limbs(), 0);
        complement.iter_mut().for_each(|limb| *limb = !*limb);
        transform(&complement)
    };
    let [[m00, m01], [m10, m11]] = matrix.entries();
    let [a, b] = lower.map(|number| transform(number));
    let sums = [
        rings.cyclic_of_transformed(&[(&transform(m11), &a), (&negative(m01), &b)]),
        rings.cyclic_of_transformed(&[(&negative(m10), &a), (&transform(m00), &b)]),
    ];
    let [a, b] = [0, 1].map(|index: usize| {
        let mut sum = sums[index].to_vec();
        let carry = add_assign(&mut sum[cut..], &upper[index]);
        add_assign(&mut sum, &[carry]);
        CyclicRings::normalize_zero(&mut sum);
        trim(&mut sum);
        sum
    });
    (a, b)
}

/// `upper B^cut + lower`.
fn joined(upper: &[u64], cut: usize, lower: &[u64]) -> Natural {
    let mut sum = vec![0; cut];
    sum.extend_from_slice(upper);
    add(&mut sum, lower);
    trimmed(&sum)
}
