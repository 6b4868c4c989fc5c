//! The cofactors d and e after a batch of division steps: first as plain numbers that grow, then modulo n.

use super::DIGIT;
use super::batch::{Entry, Matrix};
use super::update::{Digits, column};
use super::vector::Vector;

/// A modulus, and the negative of its inverse modulo 2^30.
#[derive(Clone, Copy)]
pub(super) struct Modulus<'a, V> {
    pub(super) digits: &'a [V],
    pub(super) negated_inverse: V,
}

impl<V: Vector> Modulus<'_, V> {
    /// The digit t for which a sum plus `t n` ends with a digit of zero.
    #[inline(always)]
    fn quotient(&self, sum: V) -> V {
        sum.digit().times(self.negated_inverse).digit()
    }
}

/// `(d, e) <- (u d + v e, q d + r e)` for numbers of `len` digits, which become longer by two.
///
/// After k batches both are at most `2^(60 k)` in magnitude: the last of 2k digits is at most 2^30.
#[inline(always)]
pub(super) fn grow<V: Vector>(d: &mut [V], e: &mut [V], len: usize, m: Matrix<Entry<V>>) {
    let (d, e) = (&mut d[..len + 2], &mut e[..len + 2]);
    let zero = m.u[0].with(0);
    let (mut x, mut y) = ([zero; 2], [zero; 2]);
    let bias = zero.with(V::BIAS);
    let (mut in_d, mut in_e) = (bias, bias);
    for index in 0..len {
        (x, y) = ([d[index], x[0]], [e[index], y[0]]);
        in_d = in_d.add(column(m.u, x, m.v, y));
        in_e = in_e.add(column(m.q, x, m.r, y));
        (d[index], e[index]) = (in_d.digit(), in_e.digit());
        (in_d, in_e) = (in_d.carry(), in_e.carry());
    }
    in_d = in_d.add(m.u[1].times(x[0])).add(m.v[1].times(y[0]));
    in_e = in_e.add(m.q[1].times(x[0])).add(m.r[1].times(y[0]));
    (d[len], e[len]) = (in_d.digit(), in_e.digit());
    (d[len + 1], e[len + 1]) = (in_d.carry().unbiased(), in_e.carry().unbiased());
}

/// `(d, e) <- (u d + v e, q d + r e) / 2^60` modulo n: multiples `t n` with `0 <= t < 2^60` make the lowest
/// two digits zero. So the magnitude of d and e grows by less than n.
///
/// A sum of six products of at most 2^60 and a carry below 2^34 is below 2^63 in magnitude.
#[inline(always)]
pub(super) fn update_modulo<V: Vector>(
    d: &mut [V],
    e: &mut [V],
    m: Matrix<Entry<V>>,
    modulus: Modulus<'_, V>,
) {
    let len = d.len();
    let (e, n) = (&mut e[..len], &modulus.digits[..len]);
    let zero = d[0].with(0);
    let bias = d[0].with(V::BIAS);
    let (mut x, mut y, mut z) = ([d[0], zero], [e[0], zero], [n[0], zero]);
    let mut in_d = bias.add(m.u[0].times(x[0])).add(m.v[0].times(y[0]));
    let mut in_e = bias.add(m.q[0].times(x[0])).add(m.r[0].times(y[0]));
    let (low_d, low_e) = (modulus.quotient(in_d), modulus.quotient(in_e));
    in_d = in_d.add(low_d.times(n[0])).carry();
    in_e = in_e.add(low_e.times(n[0])).carry();
    (x, y, z) = ([d[1], x[0]], [e[1], y[0]], [n[1], z[0]]);
    in_d = in_d.add(column(m.u, x, m.v, y)).add(low_d.times(z[0]));
    in_e = in_e.add(column(m.q, x, m.r, y)).add(low_e.times(z[0]));
    let (t_d, t_e) = ([low_d, modulus.quotient(in_d)], [low_e, modulus.quotient(in_e)]);
    in_d = in_d.add(t_d[1].times(n[0])).carry();
    in_e = in_e.add(t_e[1].times(n[0])).carry();
    for index in 2..len {
        (x, y, z) = ([d[index], x[0]], [e[index], y[0]], [n[index], z[0]]);
        in_d = in_d.add(column(m.u, x, m.v, y).add(multiple(t_d, z)));
        in_e = in_e.add(column(m.q, x, m.r, y).add(multiple(t_e, z)));
        (d[index - 2], e[index - 2]) = (in_d.digit(), in_e.digit());
        (in_d, in_e) = (in_d.carry(), in_e.carry());
    }
    in_d = in_d.add(m.u[1].times(x[0])).add(m.v[1].times(y[0])).add(t_d[1].times(z[0]));
    in_e = in_e.add(m.q[1].times(x[0])).add(m.r[1].times(y[0])).add(t_e[1].times(z[0]));
    (d[len - 2], e[len - 2]) = (in_d.digit(), in_e.digit());
    (d[len - 1], e[len - 1]) = (in_d.carry().unbiased(), in_e.carry().unbiased());
}

/// `t n` at the place of the higher digits of n.
#[inline(always)]
fn multiple<V: Vector>(t: Entry<V>, n: Digits<V>) -> V {
    t[0].times(n[0]).add(t[1].times(n[1]))
}

/// `x <- x / 2^60` modulo n, as [`update_modulo`] reduces.
#[inline(always)]
pub(super) fn reduce<V: Vector>(x: &mut [V], modulus: Modulus<'_, V>) {
    let len = x.len();
    let n = &modulus.digits[..len];
    let mut sum = x[0].with(V::BIAS).add(x[0]);
    let low = modulus.quotient(sum);
    sum = sum.add(low.times(n[0])).carry().add(x[1]).add(low.times(n[1]));
    let t = [low, modulus.quotient(sum)];
    sum = sum.add(t[1].times(n[0])).carry();
    for index in 2..len {
        sum = sum.add(x[index].add(multiple(t, [n[index], n[index - 1]])));
        x[index - 2] = sum.digit();
        sum = sum.carry();
    }
    sum = sum.add(t[1].times(n[len - 1]));
    x[len - 2] = sum.digit();
    x[len - 1] = sum.carry().unbiased();
}

/// Negates a number in the lanes where `flip` has all bits.
#[inline(always)]
pub(super) fn negate_where<V: Vector>(x: &mut [V], flip: V) {
    add_up(x, |_, digit| digit.xor(flip).sub(flip));
}

/// Adds n in the lanes where `taken` has all bits.
#[inline(always)]
pub(super) fn add_where<V: Vector>(x: &mut [V], n: &[V], taken: V) {
    add_up(x, |index, digit| digit.add(n[index].and(taken)));
}

/// Brings a number from between -n and 2n to between 0 and n. `space` is as long as the number.
#[inline(always)]
pub(super) fn canonical<V: Vector>(x: &mut [V], n: &[V], space: &mut [V]) {
    let negative = x[x.len() - 1].sign();
    add_where(x, n, negative);
    space.copy_from_slice(x);
    add_up(space, |index, digit| digit.sub(n[index]));
    let is_below = space[x.len() - 1].sign();
    for (x, less) in x.iter_mut().zip(space) {
        *x = less.xor(less.xor(*x).and(is_below));
    }
}

/// Replaces the digits of a number by others of less than 2^32 in magnitude, and carries.
#[inline(always)]
fn add_up<V: Vector>(x: &mut [V], digit: impl Fn(usize, V) -> V) {
    let last = x.len() - 1;
    let mut sum = x[0].with(V::BIAS);
    for (index, x) in x.iter_mut().enumerate().take(last) {
        sum = sum.add(digit(index, *x));
        *x = sum.digit();
        sum = sum.carry();
    }
    x[last] = sum.add(digit(last, x[last])).unbiased();
}

const _: () = assert!(DIGIT == 30, "bounds of the sums are for digits of 30 bits");
