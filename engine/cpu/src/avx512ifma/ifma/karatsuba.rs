//! Karatsuba's method for long products: three products of half the length instead of four.
//!
//! With `x = x1 B + x0` and `y = y1 B + y0`, where B is h digits,
//!
//! ```text
//! x y = x1 y1 B^2 + (x0 y0 + x1 y1 - (x0 - x1) (y0 - y1)) B + x0 y0
//! ```
//!
//! A negative difference is represented modulo B, as `d - B` with the digits d. The product of the
//! differences is then the product of their digits, minus `d_y B` if the difference of x is negative, minus
//! `d_x B` if that of y is negative, plus `B^2` if both are. Columns may become negative on the way; carries
//! keep their sign.
#![allow(unsafe_code)]

use super::columns::{multiply_columns, square_columns};
use super::tile::{self, Columns, V, carry, for_rows, load, minus, plus, rectangle, store, zero};
use std::arch::x86_64::*;

/// The number of digits from which Karatsuba's method is faster for products; measured.
pub(super) const PRODUCT: usize = 30;

/// The number of digits from which Karatsuba's method is faster for squares; measured.
pub(super) const SQUARE: usize = 40;

/// The number of digits from which Karatsuba's method is faster for folding; measured.
pub(super) const FOLD: usize = 70;

/// The number of digits from which carries are resolved before a product becomes part of a longer one, so
/// that columns fit in their words. The tests verify the bound.
pub(super) const CARRY: usize = 120;

/// Columns of scratch space for numbers of `n` digits.
pub(super) fn scratch(n: usize) -> usize {
    if n < PRODUCT { 0 } else { 4 * n.div_ceil(2) + scratch(n.div_ceil(2)) }
}

/// The columns of `x^2`.
///
/// # Safety
/// `x` has `n` digits, `t` has `2 n` columns, `space` has `scratch(n)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn square(x: *const V, n: usize, t: *mut V, space: *mut V) {
    // SAFETY: required of the caller; the scratch space holds a difference, a product and the rest.
    unsafe {
        if n < SQUARE {
            return square_columns(x, n, t);
        }
        let h = n.div_ceil(2);
        let (product, rest) = (space.add(2 * h), space.add(4 * h));
        let part = |x, n, t| {
            square(x, n, t, rest);
            carry_long(t, n);
        };
        part(x, h, t);
        part(x.add(h), n - h, t.add(2 * h));
        let difference = Difference::new::<false>(x, h, n, space);
        part(space, h, product);
        join(t, h, n, product, difference, difference);
    }
}

/// The columns of `x y` for numbers of the same length. If they are `PLAIN`, there is nothing above bit 51 of
/// their words.
///
/// # Safety
/// `x` and `y` have `n` digits, `t` has `2 n` columns, `space` has `scratch(n)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn multiply<const PLAIN: bool>(
    x: *const V,
    y: *const V,
    n: usize,
    t: *mut V,
    space: *mut V,
) {
    // SAFETY: required of the caller; the scratch space holds two differences, a product and the rest.
    unsafe {
        if n < PRODUCT {
            return multiply_columns(x, n, y, n, t);
        }
        let h = n.div_ceil(2);
        let (second, product, rest) = (space.add(h), space.add(2 * h), space.add(4 * h));
        multiply_part::<PLAIN>(x, y, h, t, rest);
        multiply_part::<PLAIN>(x.add(h), y.add(h), n - h, t.add(2 * h), rest);
        let x = Difference::new::<PLAIN>(x, h, n, space);
        let y = Difference::new::<PLAIN>(y, h, n, second);
        multiply_part::<true>(space, second, h, product, rest);
        join(t, h, n, product, x, y);
    }
}

/// [`multiply`], with carries resolved if the product is long.
///
/// # Safety
/// As for [`multiply`].
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn multiply_part<const PLAIN: bool>(
    x: *const V,
    y: *const V,
    n: usize,
    t: *mut V,
    space: *mut V,
) {
    // SAFETY: required of the caller.
    unsafe {
        multiply::<PLAIN>(x, y, n, t, space);
        carry_long(t, n);
    }
}

/// Resolves the carries of a product of `n` digits if it is long.
///
/// # Safety
/// `t` has `2 n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn carry_long(t: *mut V, n: usize) {
    if n >= CARRY {
        // SAFETY: required of the caller.
        unsafe { tile::normalize(t, 2 * n) }
    }
}

/// Folds the `h` low digits of `t` away at once: `t <- floor(t / B) + (t mod B) m` with `m = 1 / B mod N`.
/// The result starts at column `h`. It is `h` digits longer than N, so more than `h` digits must be left to
/// fold afterwards.
///
/// # Safety
/// `m` has `n > 2 h` digits, `t` has `2 h + n` columns, `space` has `2 h + scratch(h)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn fold(t: *mut V, m: *const V, h: usize, n: usize, space: *mut V) {
    // SAFETY: required of the caller.
    unsafe {
        let mut passed = zero();
        for j in 0..h {
            let digit = plus(load(t.add(j)), passed);
            store(t.add(j), digit);
            passed = carry(digit);
        }
        store(t.add(h), plus(load(t.add(h)), passed));
        for part in [0, h] {
            multiply_part::<false>(t, m.add(part), h, space, space.add(2 * h));
            for k in 0..2 * h {
                let column = t.add(h + part + k);
                store(column, plus(load(column), load(space.add(k))));
            }
        }
        let rest = Columns { at: t.add(3 * h), fresh: usize::MAX };
        for_rows!(n - 2 * h, R => rectangle::<R>(rest, m.add(2 * h), t, h));
    }
}

/// `x0 - x1` for the low and the high digits of a number, modulo B.
#[derive(Clone, Copy)]
struct Difference {
    digits: *const V,
    /// The lanes in which B must be subtracted.
    negative: __mmask8,
}

impl Difference {
    /// # Safety
    /// `x` has `n` digits, of which `h >= n - h` are low; `out` has `h` digits.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn new<const PLAIN: bool>(x: *const V, h: usize, n: usize, out: *mut V) -> Self {
        let mask = _mm512_set1_epi64((1 << 52) - 1);
        let mut borrow = zero();
        // SAFETY: required of the caller.
        unsafe {
            let digit = |j| if PLAIN { load(x.add(j)) } else { _mm512_and_si512(load(x.add(j)), mask) };
            for j in 0..h {
                let high = if h + j < n { digit(h + j) } else { zero() };
                let difference = plus(minus(digit(j), high), borrow);
                store(out.add(j), _mm512_and_si512(difference, mask));
                borrow = carry(difference);
            }
        }
        Self { digits: out, negative: _mm512_test_epi64_mask(borrow, borrow) }
    }
}

/// `t += (low + high - x y) B`. `low` and `high` are the outer products that `t` holds. `product` is the
/// product of the digits of the differences x and y.
///
/// # Safety
/// `t` has `2 n` columns, `product` has `2 h`, and the differences have `h` digits.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn join(t: *mut V, h: usize, n: usize, product: *const V, x: Difference, y: Difference) {
    // SAFETY: required of the caller.
    unsafe {
        for k in 0..h {
            let both = plus(load(t.add(h + k)), load(t.add(2 * h + k)));
            let low = minus(load(t.add(k)), load(product.add(k)));
            store(t.add(h + k), plus(both, low));
            let above = if 3 * h + k < 2 * n { load(t.add(3 * h + k)) } else { zero() };
            let mut high = plus(both, minus(above, load(product.add(h + k))));
            high = _mm512_mask_add_epi64(high, x.negative, high, load(y.digits.add(k)));
            high = _mm512_mask_add_epi64(high, y.negative, high, load(x.digits.add(k)));
            store(t.add(2 * h + k), high);
        }
        let top = load(t.add(3 * h));
        let one = _mm512_set1_epi64(1);
        store(t.add(3 * h), _mm512_mask_sub_epi64(top, x.negative & y.negative, top, one));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use modmill_core::KERNEL_MAX_BITS;

    /// Lower and upper bounds of columns, in units of 2^52.
    #[derive(Clone)]
    pub(in super::super) struct Bounds {
        from: Vec<i64>,
        to: Vec<i64>,
    }

    impl Bounds {
        pub(in super::super) fn new(columns: usize, to: i64) -> Self {
            Self { from: vec![0; columns], to: vec![to; columns] }
        }

        pub(in super::super) fn add(&mut self, other: &Self, at: usize) {
            for k in 0..other.to.len() {
                self.from[at + k] += other.from[k];
                self.to[at + k] += other.to[k];
            }
        }

        pub(in super::super) fn subtract(&mut self, other: &Self, at: usize) {
            for k in 0..other.to.len() {
                self.from[at + k] -= other.to[k];
                self.to[at + k] -= other.from[k];
            }
        }

        /// The columns from `at` on, `columns` of them.
        pub(in super::super) fn part(&self, at: usize, columns: usize) -> Self {
            let part = |bounds: &[i64]| bounds[at..at + columns].to_vec();
            Self { from: part(&self.from), to: part(&self.to) }
        }

        /// The low and high halves of `n` rows of `m` products, starting at column `at`.
        fn add_rows(&mut self, n: usize, m: usize, at: usize) {
            for row in at..at + n {
                self.to[row..row + m].iter_mut().for_each(|to| *to += 1);
                self.to[row + 1..row + m + 1].iter_mut().for_each(|to| *to += 1);
            }
        }

        pub(in super::super) fn largest(&self) -> i64 {
            self.from.iter().map(|from| -from).chain(self.to.iter().copied()).max().unwrap()
        }
    }

    /// A product or square of `n` digits, by Karatsuba's method from `threshold` digits on.
    pub(in super::super) fn product(n: usize, threshold: usize) -> Bounds {
        let mut bounds = Bounds::new(2 * n, 0);
        if n < threshold {
            bounds.add_rows(n, n, 0);
            return bounds;
        }
        let h = n.div_ceil(2);
        let (long, short) = (part(h, threshold), part(n - h, threshold));
        bounds.add(&long, 0);
        bounds.add(&short, 2 * h);
        bounds.add(&long, h);
        bounds.add(&short, h);
        bounds.subtract(&long, h);
        // The digits of two differences, and the `B^2` term.
        bounds.add(&Bounds::new(h, 2), 2 * h);
        bounds.subtract(&Bounds::new(1, 1), 3 * h);
        bounds
    }

    pub(in super::super) fn part(n: usize, threshold: usize) -> Bounds {
        if n < CARRY { product(n, threshold) } else { Bounds::new(2 * n, 1) }
    }

    #[test]
    fn columns_fit_in_signed_words() {
        for n in 1..=KERNEL_MAX_BITS / 52 + 2 {
            for threshold in [PRODUCT, SQUARE] {
                let mut bounds = product(n, threshold);
                bounds.add(&Bounds::new(2 * n, 1), 0); // carries
                let mut folded = 0;
                if n >= FOLD {
                    folded = (n - 1) / 2;
                    let half = part(folded, PRODUCT);
                    bounds.add(&half, folded);
                    bounds.add(&half, 2 * folded);
                    bounds.add_rows(n - 2 * folded, folded, 3 * folded);
                }
                // The remaining digits are folded one by one. The last one is removed by a Montgomery step,
                // one column lower.
                bounds.add_rows(n - 1 - folded, n, folded + 1);
                bounds.add_rows(1, n, n - 1);
                assert!(bounds.largest() < 1 << 11, "{n} digits: {}", bounds.largest());
            }
        }
    }
}
