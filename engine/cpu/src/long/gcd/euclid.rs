//! One step of Euclid's algorithm on long numbers.

use super::matrix::Matrix;
use super::natural::{Natural, add, compare, divide, subtract};
use crate::long::multiplier::Multiplier;
use std::cmp::Ordering;

/// Subtracts a multiple of the smaller number from the larger one, such that both keep more than `floor`
/// limbs. Returns whether it subtracted anything.
pub(super) fn step(
    multiplier: &Multiplier,
    a: &mut Natural,
    b: &mut Natural,
    floor: usize,
    matrix: &mut Matrix,
) -> bool {
    let is_second = compare(a, b) == Ordering::Less;
    let (large, small) = if is_second { (b, a) } else { (a, b) };
    if small.len() <= floor {
        return false;
    }
    let (mut quotient, mut rest) = divide(multiplier, large.clone(), small);
    if rest.len() <= floor {
        add(&mut rest, small);
        subtract(&mut quotient, &[1]);
    }
    if quotient.is_empty() {
        return false;
    }
    *large = rest;
    matrix.times_step(multiplier, &quotient, is_second);
    true
}
