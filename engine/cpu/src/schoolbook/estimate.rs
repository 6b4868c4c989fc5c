//! Digits of quotients from doubles.

use crate::divsteps::DIGIT;
use crate::divsteps::vector::Vector;

/// A double to which an integer below `2^51` in magnitude is added without rounding, and stands in the low
/// bits then.
const ROUNDED: f64 = 1.5 * (1u64 << 52) as f64;

/// The bits of the leading digits that doubles leave out.
const DROPPED: u32 = 9;

/// Words below `2^51` in magnitude as doubles.
#[inline(always)]
fn double<V: Vector>(word: V) -> V {
    let sum = word.add(word.double(ROUNDED));
    sum.multiply_add(word.double(1.0), word.double(-ROUNDED))
}

/// The digits at the top of a window, the highest one first, which is at most about `2^29` in magnitude with
/// the carries of the others.
pub(super) type Top<V> = [V; 3];

/// `2^-9` times the two highest digits of a window with carries, below `2^51` in magnitude, as doubles.
#[inline(always)]
pub(super) fn leading<V: Vector>([first, second, third]: Top<V>) -> V {
    let sum = first.up::<DIGIT>().add(second).add(third.floor::<DIGIT>());
    double(sum.floor::<DROPPED>())
}

/// The nearest integer to `x y`, below `2^31` in magnitude, in the low half of each word.
#[inline(always)]
pub(super) fn nearest<V: Vector>(x: V, y: V) -> V {
    x.multiply_add(y, x.double(ROUNDED))
}

/// Signed low halves as words.
#[inline(always)]
pub(super) fn signed<V: Vector>(low: V) -> V {
    low.up::<32>().floor::<32>()
}

/// Two digits of a number as a double.
#[inline(always)]
fn of_two<V: Vector>(high: V, low: V) -> V {
    double(high).multiply_add(high.double((1u64 << DIGIT) as f64), double(low))
}

/// The negative of the factor that makes a quotient's digit of leading digits: `-B 2^9 / (high B + low)` for
/// the highest digits of a divisor, of which the first has its top bit set.
#[inline(always)]
pub(super) fn negated_reciprocal<V: Vector>(high: V, low: V) -> V {
    let zero = high.with(0);
    // d is from 1/2 to 1, and y is 1 / d, by a line and by three steps that cube the relative error of 1/17.
    let negated = of_two(high, low).multiply_add(high.double(-1.0 / (1u64 << 60) as f64), zero);
    let mut y = negated.multiply_add(high.double(32.0 / 17.0), high.double(48.0 / 17.0));
    for _ in 0..3 {
        let error = negated.multiply_add(y, high.double(1.0));
        y = error.multiply_add(error, error).multiply_add(y, y);
    }
    y.multiply_add(high.double(-1.0 / (1u64 << 21) as f64), zero)
}

/// The factor that makes a root's digit of leading digits, `2^9 / (2 sqrt(x))`, and `sqrt(x)`, for the two
/// highest digits x of a number, from `2^56` to `2^58`. `start` has the coefficients of a polynomial that is
/// `1 / sqrt(t)` for t from 1/4 to 1 with a relative error of at most 0.0022.
#[inline(always)]
pub(super) fn root_factors<V: Vector>(high: V, low: V, start: [f64; 5]) -> (V, V) {
    let zero = high.with(0);
    let x = of_two(high, low);
    let t = x.multiply_add(high.double(-1.0 / (1u64 << 58) as f64), zero);
    let mut y = high.double(start[4]);
    for degree in (0..4).rev() {
        y = y.multiply_add(t, high.double(start[degree]));
    }
    for _ in 0..2 {
        // y (1 + e / 2 + 3 e^2 / 8) for e = 1 - t y^2 has the error 5 e^3 / 16.
        let error = t.multiply_add(y.multiply_add(y, zero), high.double(1.0));
        let series = error.multiply_add(high.double(0.375), high.double(0.5));
        y = error.multiply_add(series, zero).multiply_add(y, y);
    }
    let inverse = y.multiply_add(high.double(1.0 / (1u64 << 29) as f64), zero);
    (inverse.multiply_add(high.double(256.0), zero), x.multiply_add(inverse, zero))
}

/// The second digit of a root, nearest to `u + c u^2` for `u = x y`: c is `2^-39 y`.
#[inline(always)]
pub(super) fn second_digit<V: Vector>(x: V, y: V) -> V {
    let zero = x.with(0);
    let u = x.multiply_add(y, zero);
    let c = y.multiply_add(x.double(1.0 / (1u64 << 39) as f64), zero);
    let square = u.multiply_add(c, zero);
    u.multiply_add(square, u).multiply_add(x.double(1.0), x.double(ROUNDED))
}
