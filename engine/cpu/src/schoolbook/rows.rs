//! Rows of products, and carries among their sums.

use crate::divsteps::DIGIT;
use crate::divsteps::vector::Vector;

/// Digits of an iteration of the loop of two rows.
const UNROLL: usize = 4;

/// `sum += factor n`, from the highest digit down.
#[inline(always)]
pub(super) fn add_row<V: Vector>(sum: &mut [V], n: &[V], factor: V) {
    let sum = &mut sum[..n.len()];
    for index in (0..n.len()).rev() {
        sum[index] = sum[index].add(factor.times(n[index]));
    }
}

/// `sum += (low + high B) n` but for the highest product, `high n[last]`.
#[inline(always)]
pub(super) fn add_two_rows<V: Vector>(sum: &mut [V], n: &[V], [low, high]: [V; 2]) {
    let sum = &mut sum[..n.len()];
    let mut left = n.len();
    while left > UNROLL {
        let (sum, n) = (&mut sum[left - UNROLL..left], &n[left - UNROLL - 1..left]);
        for index in (0..UNROLL).rev() {
            let products = low.times(n[index + 1]).add(high.times(n[index]));
            sum[index] = sum[index].add(products);
        }
        left -= UNROLL;
    }
    for index in (1..left).rev() {
        let products = low.times(n[index]).add(high.times(n[index - 1]));
        sum[index] = sum[index].add(products);
    }
    if let (Some(sum), Some(&digit)) = (sum.first_mut(), n.first()) {
        *sum = sum.add(low.times(digit));
    }
}

/// Passes the part above a digit of each sum to the next one. All but the highest are below `2^34` in
/// magnitude afterwards.
#[inline(always)]
pub(super) fn pass_carries<V: Vector>(sums: &mut [V]) {
    let last = sums.len() - 1;
    if last == 0 {
        return;
    }
    sums[last] = sums[last].add(sums[last - 1].floor::<DIGIT>());
    for index in (1..last).rev() {
        sums[index] = sums[index].digit().add(sums[index - 1].floor::<DIGIT>());
    }
    sums[0] = sums[0].digit();
}

/// Makes digits of sums. Returns the carry, which has the sign of the number.
#[inline(always)]
pub(super) fn carry<V: Vector>(sums: &mut [V], zero: V) -> V {
    let mut carry = zero;
    for sum in sums {
        let word = sum.add(carry);
        (*sum, carry) = (word.digit(), word.floor::<DIGIT>());
    }
    carry
}

/// `x += y` in the lanes where the mask is set, for digits.
#[inline(always)]
pub(super) fn add_where<V: Vector>(x: &mut [V], y: &[V], mask: V) {
    let mut carry = mask.with(0);
    let x = &mut x[..y.len()];
    for index in 0..y.len() {
        let word = x[index].add(y[index].and(mask)).add(carry);
        (x[index], carry) = (word.digit(), word.floor::<DIGIT>());
    }
}
