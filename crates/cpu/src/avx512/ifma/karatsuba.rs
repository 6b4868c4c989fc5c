//! Karatsuba's method for long products: three products of half the length instead of four.
//!
//! With `x = x1 B + x0` and `y = y1 B + y0`, where B is h digits,
//!
//! ```text
//! x y = x1 y1 B^2 + (x0 y0 + x1 y1 - (x0 - x1) (y0 - y1)) B + x0 y0
//! ```
//!
//! The differences are taken as absolute value and sign, lane by lane and without a branch. The
//! middle term is not negative, but its columns may be: they are carried with signed shifts into
//! plain digits before they are added, so that the columns of the product stay sums of at most
//! `2 h + 3` halves, less than without the method.
#![allow(unsafe_code)]

use super::tile::{Columns, V, carry, for_rows, load, plus, rectangle, store, zero};
use super::{blocks, multiply_columns, square_columns};
use std::arch::x86_64::*;

/// Digits from which the method pays for products, as measured.
pub(super) const PRODUCT: usize = 60;

/// Digits from which the method pays for squares and for folding, as measured.
pub(super) const SQUARE: usize = 120;

/// Columns of scratch space for numbers of `n` digits.
pub(super) fn scratch(n: usize) -> usize {
    if n < PRODUCT { 0 } else { 4 * n.div_ceil(2) + 1 + scratch(n.div_ceil(2)) }
}

/// The columns of `x^2`.
///
/// # Safety
/// `x` has `n` digits, `t` has `2 n` columns, `space` has `scratch(n)`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn square(x: *const V, n: usize, t: *mut V, space: *mut V) {
    // SAFETY: the caller's promise; scratch holds two differences, a product and the rest.
    unsafe {
        if n < SQUARE {
            return square_columns(x, &blocks(n), n, t);
        }
        let h = n.div_ceil(2);
        let (product, rest) = (space.add(2 * h), space.add(4 * h + 1));
        square(x, h, t, rest);
        square(x.add(h), n - h, t.add(2 * h), rest);
        distance(x, h, n, space);
        square(space, h, product, rest);
        // A square has no sign: always subtract.
        add_middle(t, h, n, product, _mm512_set1_epi64(-1));
    }
}

/// The columns of `x y` for numbers of one length.
///
/// # Safety
/// `x` and `y` have `n` digits, `t` has `2 n` columns, `space` has `scratch(n)`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn multiply(x: *const V, y: *const V, n: usize, t: *mut V, space: *mut V) {
    // SAFETY: the caller's promise; scratch holds two differences, a product and the rest.
    unsafe {
        if n < PRODUCT {
            return multiply_columns(x, &blocks(n), y, n, t);
        }
        let h = n.div_ceil(2);
        let (second, product, rest) = (space.add(h), space.add(2 * h), space.add(4 * h + 1));
        multiply(x, y, h, t, rest);
        multiply(x.add(h), y.add(h), n - h, t.add(2 * h), rest);
        let x_negative = distance(x, h, n, space);
        let y_negative = distance(y, h, n, second);
        multiply(space, second, h, product, rest);
        // All ones where the signs agree: the product of the differences is subtracted there.
        let agree = _mm512_xor_si512(_mm512_xor_si512(x_negative, y_negative), _mm512_set1_epi64(-1));
        add_middle(t, h, n, product, agree);
    }
}

/// Folds the `h` low digits of `t` away at once, `t <- floor(t / B) + (t mod B) m` with
/// `m = 1 / B mod N`; the result starts at column `h`. More than `h` digits must be left to fold
/// afterwards, because the result is `h` digits longer than N.
///
/// # Safety
/// `m` has `n > 2 h` digits, `t` has `2 h + n` columns, `space` has `2 h + scratch(h)`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn fold(t: *mut V, m: *const V, h: usize, n: usize, space: *mut V) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut passed = zero();
        for j in 0..h {
            let digit = plus(load(t.add(j)), passed);
            store(t.add(j), digit);
            passed = carry(digit);
        }
        store(t.add(h), plus(load(t.add(h)), passed));
        for part in [0, h] {
            multiply(t, m.add(part), h, space, space.add(2 * h));
            for k in 0..2 * h {
                let column = t.add(h + part + k);
                store(column, plus(load(column), load(space.add(k))));
            }
        }
        let rest = Columns { at: t.add(3 * h), fresh: usize::MAX };
        for_rows!(n - 2 * h, R => rectangle::<R>(rest, m.add(2 * h), t, h));
    }
}

/// The digits of `|x0 - x1|` for the low `h` and the high `n - h` digits of a number; returns all
/// ones in the lanes where the difference was negative.
///
/// # Safety
/// `x` has `n` digits, `out` has `h >= n - h`.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn distance(x: *const V, h: usize, n: usize, out: *mut V) -> V {
    let mask = _mm512_set1_epi64((1 << 52) - 1);
    // SAFETY: the caller's promise.
    unsafe {
        let mut borrow = zero();
        for j in 0..h {
            let high = if h + j < n { _mm512_and_si512(load(x.add(h + j)), mask) } else { zero() };
            let low = _mm512_and_si512(load(x.add(j)), mask);
            // Between -2^52 and 2^52: the signed shift is 0 or -1.
            let difference = plus(_mm512_sub_epi64(low, high), borrow);
            store(out.add(j), _mm512_and_si512(difference, mask));
            borrow = _mm512_srai_epi64::<52>(difference);
        }
        // Where it was negative: complement the digits and add one.
        let negative = borrow;
        let flip = _mm512_and_si512(negative, mask);
        let mut passed = _mm512_sub_epi64(zero(), negative);
        for j in 0..h {
            let digit = plus(_mm512_xor_si512(load(out.add(j)), flip), passed);
            store(out.add(j), _mm512_and_si512(digit, mask));
            passed = carry(digit);
        }
        negative
    }
}

/// `t += (low + high -+ product) B`, where low and high are the outer products that `t` holds, and
/// the product is subtracted in the lanes where `subtract` is all ones.
///
/// # Safety
/// `t` has `2 n` columns, `product` has `2 h + 1`, of which the last is free.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn add_middle(t: *mut V, h: usize, n: usize, product: *mut V, subtract: V) {
    let mask = _mm512_set1_epi64((1 << 52) - 1);
    let mut passed = zero();
    // SAFETY: the caller's promise.
    unsafe {
        // Columns are below 2^63, so that their sums and differences fit with a sign.
        for k in 0..2 * h {
            let high = if 2 * h + k < 2 * n { load(t.add(2 * h + k)) } else { zero() };
            let signed = _mm512_sub_epi64(_mm512_xor_si512(load(product.add(k)), subtract), subtract);
            let column = plus(plus(load(t.add(k)), high), plus(signed, passed));
            store(product.add(k), _mm512_and_si512(column, mask));
            passed = _mm512_srai_epi64::<52>(column);
        }
        store(product.add(2 * h), passed);
        // The middle term is below 2 B^2; above the product's end there is nothing to add.
        for k in 0..(2 * h + 1).min(2 * n - h) {
            store(t.add(h + k), plus(load(t.add(h + k)), load(product.add(k))));
        }
    }
}
