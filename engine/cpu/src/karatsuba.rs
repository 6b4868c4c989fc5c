//! Karatsuba's product of long numbers, in time that does not depend on their values.

use crate::scalar::Scalar;
use crate::working_memory::Rows;

/// The number of limbs from which factors of equal length are multiplied by halves.
pub(crate) fn threshold<S: Scalar>(_: S) -> usize {
    S::KARATSUBA
}

/// `out <- x y`. The length of `out` is the sum of the lengths of the factors.
pub(crate) fn product<S: Scalar>(scalar: S, x: &[u64], y: &[u64], out: &mut [u64]) {
    multiply(scalar, x, y, out, &mut Rows::default());
}

/// `out <- x y` like [`product`], with working memory that grows on demand.
#[inline(always)]
pub(crate) fn multiply<S: Scalar>(scalar: S, x: &[u64], y: &[u64], out: &mut [u64], scratch: &mut Rows) {
    if x.len() == y.len() && x.len() >= S::KARATSUBA {
        multiply_halves(scalar, x, y, out, reserved(scratch, scratch_limbs(x.len(), S::KARATSUBA)));
    } else {
        scalar.multiply(x, y, out);
    }
}

/// `out <- x^2`, with working memory that grows on demand. `out` is twice as long as x.
#[inline(always)]
pub(crate) fn square<S: Scalar>(scalar: S, x: &[u64], out: &mut [u64], scratch: &mut Rows) {
    if x.len() >= S::KARATSUBA_SQUARE {
        square_halves(scalar, x, out, reserved(scratch, scratch_limbs(x.len(), S::KARATSUBA_SQUARE)));
    } else if !x.is_empty() {
        scalar.square(x, out);
    }
}

fn reserved(scratch: &mut Rows, len: usize) -> &mut [u64] {
    if scratch.len() < len {
        *scratch = Rows::zeros(len);
    }
    scratch
}

/// Scratch limbs for factors of `n` limbs.
fn scratch_limbs(n: usize, threshold: usize) -> usize {
    let half = n.div_ceil(2);
    if n < threshold { 0 } else { 6 * half + 1 + scratch_limbs(half, threshold) }
}

/// With `x = x_h B + x_l` and `y = y_h B + y_l`, the product is `x y = h B^2 + (h + l - d) B + l`, where
/// `h = x_h y_h`, `l = x_l y_l` and `d = (x_h - x_l)(y_h - y_l)`.
fn multiply_halves<S: Scalar>(scalar: S, x: &[u64], y: &[u64], out: &mut [u64], scratch: &mut [u64]) {
    if x.len() < S::KARATSUBA {
        return scalar.multiply(x, y, out);
    }
    let half = x.len().div_ceil(2);
    let ((x_low, x_high), (y_low, y_high)) = (x.split_at(half), y.split_at(half));
    let [x_limbs, y_limbs, product, middle, scratch] = parts(scratch, half);
    let x_borrow = difference(scalar, x_high, x_low, x_limbs);
    let y_borrow = difference(scalar, y_high, y_low, y_limbs);
    multiply_halves(scalar, x_limbs, y_limbs, product, scratch);
    let (low, high) = out.split_at_mut(2 * half);
    multiply_halves(scalar, x_low, y_low, low, scratch);
    multiply_halves(scalar, x_high, y_high, high, scratch);
    join(scalar, out, product, [(x_borrow, y_limbs), (y_borrow, x_limbs)], middle);
}

/// The square of `x_h B + x_l`: [`multiply_halves`] with equal factors.
fn square_halves<S: Scalar>(scalar: S, x: &[u64], out: &mut [u64], scratch: &mut [u64]) {
    if x.len() < S::KARATSUBA_SQUARE {
        return scalar.square(x, out);
    }
    let half = x.len().div_ceil(2);
    let (x_low, x_high) = x.split_at(half);
    let [limbs, _, product, middle, scratch] = parts(scratch, half);
    let borrow = difference(scalar, x_high, x_low, limbs);
    square_halves(scalar, limbs, product, scratch);
    let (low, high) = out.split_at_mut(2 * half);
    square_halves(scalar, x_low, low, scratch);
    square_halves(scalar, x_high, high, scratch);
    join(scalar, out, product, [(borrow, limbs), (borrow, limbs)], middle);
}

/// Scratch space for two differences, their product, the middle term, and the levels below.
fn parts(scratch: &mut [u64], half: usize) -> [&mut [u64]; 5] {
    let (first, rest) = scratch.split_at_mut(half);
    let (second, rest) = rest.split_at_mut(half);
    let (product, rest) = rest.split_at_mut(2 * half);
    let (middle, rest) = rest.split_at_mut(2 * half + 1);
    [first, second, product, middle, rest]
}

/// `out <- a - b` modulo the length of `out`, which is that of `b`. Returns the borrow. `a` may be one limb
/// shorter than `b`.
fn difference<S: Scalar>(scalar: S, a: &[u64], b: &[u64], out: &mut [u64]) -> u64 {
    out[..a.len()].copy_from_slice(a);
    out[a.len()..].fill(0);
    scalar.sub_assign(out, b)
}

/// Adds the middle term to `out`, which holds `h B^2 + l`. The differences `x_h - x_l = X - s B` and
/// `y_h - y_l = Y - t B` are given by limbs X and Y below B and borrows s and t, so that the term is
///
/// `h + l - d = h + l - X Y + (s Y + t X) B - s t B^2`.
///
/// It is `x_h y_l + x_l y_h`, which is non-negative and below `2 B^2`, so the sum is right modulo a limb more
/// than `B^2`. `product` is X Y. Each borrow comes with the limbs that it multiplies.
fn join<S: Scalar>(
    scalar: S,
    out: &mut [u64],
    product: &[u64],
    borrows: [(u64, &[u64]); 2],
    middle: &mut [u64],
) {
    let length = product.len();
    let (low, high) = out.split_at(length);
    middle[..length].copy_from_slice(low);
    middle[length] = 0;
    scalar.add_assign(middle, high);
    scalar.sub_assign(middle, product);
    let both = borrows[0].0 & borrows[1].0;
    for (borrow, limbs) in borrows {
        scalar.add_bit(&mut middle[length / 2..], limbs, borrow);
    }
    middle[length] = middle[length].wrapping_sub(both);
    scalar.add_assign(&mut out[length / 2..], middle);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar_choice::{Limbs, with_scalar};
    use crate::test_support::{Random, big};

    #[test]
    fn products_and_squares_on_both_sides_of_every_threshold() {
        let mut random = Random::new(3);
        let mut scratch = Rows::default();
        for n in (0..=50).chain([63, 64, 79, 80, 81, 95, 96, 97, 128, 160, 193, 257]) {
            for round in 0..4 {
                let (mut x, mut y) = (random.limbs(n), random.limbs(n));
                match round {
                    0 => {}
                    1 => x.fill(u64::MAX),
                    2 => y.fill(u64::MAX),
                    // Both differences of halves are negative, and one of the products is zero.
                    _ => {
                        x[n / 2..].fill(0);
                        y[n / 2..].fill(0);
                    }
                }
                for limbs in [Limbs::Portable, Limbs::detect(None)] {
                    let mut out = vec![1; 2 * n];
                    with_scalar!(limbs, scalar => multiply(scalar, &x, &y, &mut out, &mut scratch));
                    assert_eq!(big(&out), big(&x) * big(&y), "{n} limbs, {limbs:?}");
                    with_scalar!(limbs, scalar => square(scalar, &x, &mut out, &mut scratch));
                    assert_eq!(big(&out), big(&x) * big(&x), "{n} limbs, {limbs:?}");
                }
            }
        }
    }
}
