//! f and g after a batch of division steps.

use super::batch::{Entry, Matrix};
use super::vector::Vector;

/// Two digits next to each other, the higher one first.
pub(super) type Digits<V> = [V; 2];

/// The sum of the products of a row's entries and two digits of each of two numbers, at the place of the
/// higher digits. Each of the four products is at most 2^60 in magnitude.
#[inline(always)]
pub(super) fn column<V: Vector>(a: Entry<V>, x: Digits<V>, b: Entry<V>, y: Digits<V>) -> V {
    let (first, second) = (a[0].times(x[0]).add(a[1].times(x[1])), b[0].times(y[0]).add(b[1].times(y[1])));
    first.add(second)
}

/// `(f, g) <- (u f + v g, q f + r g) / 2^60`; the division is exact. There are at least two digits.
///
/// A digit is below 2^30, and the last one at most 2^30 in magnitude. A sum of four products and a carry
/// below 2^34 is below `2^62 + 2^34` in magnitude and fits a signed word.
#[inline(always)]
pub(super) fn update<V: Vector>(f: &mut [V], g: &mut [V], m: Matrix<Entry<V>>) {
    let len = f.len();
    let g = &mut g[..len];
    let zero = f[0].with(0);
    let bias = f[0].with(V::BIAS);
    let (mut x, mut y) = ([f[0], zero], [g[0], zero]);
    // The lowest two digits of both sums are zero and are dropped.
    let mut in_f = bias.add(m.u[0].times(x[0])).add(m.v[0].times(y[0])).carry();
    let mut in_g = bias.add(m.q[0].times(x[0])).add(m.r[0].times(y[0])).carry();
    (x, y) = ([f[1], x[0]], [g[1], y[0]]);
    in_f = in_f.add(column(m.u, x, m.v, y)).carry();
    in_g = in_g.add(column(m.q, x, m.r, y)).carry();
    for index in 2..len {
        (x, y) = ([f[index], x[0]], [g[index], y[0]]);
        in_f = in_f.add(column(m.u, x, m.v, y));
        in_g = in_g.add(column(m.q, x, m.r, y));
        (f[index - 2], g[index - 2]) = (in_f.digit(), in_g.digit());
        (in_f, in_g) = (in_f.carry(), in_g.carry());
    }
    in_f = in_f.add(m.u[1].times(x[0])).add(m.v[1].times(y[0]));
    in_g = in_g.add(m.q[1].times(x[0])).add(m.r[1].times(y[0]));
    (f[len - 2], g[len - 2]) = (in_f.digit(), in_g.digit());
    (f[len - 1], g[len - 1]) = (in_f.carry().unbiased(), in_g.carry().unbiased());
}
