//! Numbers without leading zeros, and their operations for the half-gcd.

use crate::long::barrett::BarrettDivisor;
use crate::long::multiplier::Multiplier;
use modmill_core::limbs::{add_assign, bit_length, bits_at, shift_left, shift_right, sub_assign};
use std::cmp::Ordering;

/// Little-endian limbs. The last limb is not zero.
pub(super) type Natural = Vec<u64>;

pub(super) fn trim(x: &mut Natural) {
    x.truncate(used(x).len());
}

/// The limbs without leading zeros.
pub(super) fn used(x: &[u64]) -> &[u64] {
    &x[..x.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)]
}

pub(super) fn trimmed(x: &[u64]) -> Natural {
    used(x).to_vec()
}

pub(super) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// `a += b`.
pub(super) fn add(a: &mut Natural, b: &[u64]) {
    if a.len() < b.len() {
        a.resize(b.len(), 0);
    }
    let carry = add_assign(a, b);
    if carry > 0 {
        a.push(carry);
    }
}

/// `a -= b`, for a b of at most a.
pub(super) fn subtract(a: &mut Natural, b: &[u64]) {
    let borrow = sub_assign(a, b);
    debug_assert_eq!(borrow, 0, "a difference is not negative");
    trim(a);
}

pub(super) fn product(multiplier: &Multiplier, a: &[u64], b: &[u64]) -> Natural {
    let mut out = vec![0; a.len() + b.len()];
    multiplier.multiply(a, b, &mut out);
    trim(&mut out);
    out
}

/// Limbs of quotients and divisors from which a reciprocal is faster than rows.
const LONG: usize = 600;

/// `(floor(a / b), a mod b)`, for a non-zero b.
pub(super) fn divide(multiplier: &Multiplier, a: Natural, b: &[u64]) -> (Natural, Natural) {
    if compare(&a, b) == Ordering::Less {
        return (vec![], a);
    }
    let (mut quotient, mut remainder) = if b.len().min(a.len() - b.len()) >= LONG {
        let (quotient, remainder) = BarrettDivisor::new(*multiplier, b).quotient_and_remainder(&a);
        (quotient.to_vec(), remainder.to_vec())
    } else {
        by_rows(a, b)
    };
    trim(&mut quotient);
    trim(&mut remainder);
    (quotient, remainder)
}

pub(super) fn remainder(multiplier: &Multiplier, a: Natural, b: &[u64]) -> Natural {
    divide(multiplier, a, b).1
}

/// Long division, one limb of the quotient at a time (Knuth's Algorithm D). a is at least as long as b.
fn by_rows(a: Natural, b: &[u64]) -> (Natural, Natural) {
    let n = b.len();
    let shift = 64 * n - bit_length(b);
    let mut divisor = vec![0; n];
    shift_left(b, shift, &mut divisor);
    let mut rest = vec![0; a.len() + 1];
    shift_left(&a, shift, &mut rest);
    let top = divisor[n - 1];
    let mut quotient = vec![0; a.len() - n + 1];
    for place in (0..quotient.len()).rev() {
        let rest = &mut rest[place..=place + n];
        // The top two limbs divided by the top limb: at most two too large.
        let first = u128::from(rest[n]) << 64 | u128::from(rest[n - 1]);
        let mut digit = u64::try_from(first / u128::from(top)).unwrap_or(u64::MAX);
        let mut carry = 0u128;
        let mut borrow = 0;
        for (limb, &d) in rest.iter_mut().zip(divisor.iter().chain([&0])) {
            carry += u128::from(digit) * u128::from(d);
            let (difference, first) = limb.overflowing_sub(carry as u64);
            let (difference, second) = difference.overflowing_sub(borrow);
            (*limb, borrow, carry) = (difference, u64::from(first | second), carry >> 64);
        }
        while borrow == 1 {
            digit -= 1;
            borrow -= add_assign(rest, &divisor);
        }
        quotient[place] = digit;
    }
    let mut remainder = vec![0; n];
    shift_right(&rest[..n], shift, &mut remainder);
    (quotient, remainder)
}

/// The 128 bits of a number from bit `place` up.
pub(super) fn wide_at(x: &[u64], place: usize) -> u128 {
    u128::from(bits_at(x, place, 64)) | u128::from(bits_at(x, place + 64, 64)) << 64
}
