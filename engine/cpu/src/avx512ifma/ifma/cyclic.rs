//! The remainder `r = t - q N` of Barrett's division, found modulo `M = B^(4k) - 1`, where B is `2^52`. As r
//! is below M, it is the only number in its range with this residue. The derivation is in
//! `docs/algorithms/ifma.md`.
//!
//! With `X = B^k`, M is `(X^2 + 1) (X + 1) (X - 1)`, and by the Chinese remainder theorem `q N` is
//!
//! ```text
//! (e + d) (1 + X^2) + (e - d) (X + X^3) + c (1 - X^2)
//!
//! e = q N/4 mod X - 1,    d = q N/4 mod X + 1,    c = q N/2 mod X^2 + 1
//! ```
//!
//! A residue is represented by its digits and a small number that is added to them. Half of a number modulo M
//! is its rotation by one bit.
#![allow(unsafe_code)]

use super::karatsuba::{multiply_part, scratch as product_scratch};
use super::tile::{V, carry, high, load, low, minus, plus, store, zero};
use std::arch::asm;
use std::arch::x86_64::*;

/// The number of digits of the modulus from which this is faster than the lower half of `q N`; measured.
pub(super) const CYCLIC: usize = 40;

/// Columns above a dividend of `2 n` columns that [`remainder`] uses.
pub(super) const ABOVE: usize = 6;

/// k for a modulus of `n` digits.
fn quarter(n: usize) -> usize {
    n.div_ceil(4)
}

/// Lines of the [`Images`] of a modulus of `n` digits.
pub(super) fn lines(n: usize) -> usize {
    if n < CYCLIC { 0 } else { 4 * quarter(n) + 2 }
}

/// Columns of working memory that [`remainder`] needs.
pub(super) fn scratch(n: usize) -> usize {
    12 * quarter(n) + product_scratch(2 * quarter(n))
}

/// The residues of a modulus: `N/2` modulo `X^2 + 1`, and `N/4` modulo `X + 1` and `X - 1`. The first two are
/// digits, plus one in some lanes.
struct Images {
    c: *const V,
    d: *const V,
    e: *const V,
    c_one: __mmask8,
    d_one: __mmask8,
}

impl Images {
    /// # Safety
    /// `lines` has the `lines(n)` lines that [`make_images`] wrote.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn new(lines: *const V, k: usize) -> Self {
        // SAFETY: required of the caller.
        unsafe {
            let one = |index: usize| _mm512_test_epi64_mask(load(lines.add(index)), load(lines.add(index)));
            let (c, d, e) = (lines, lines.add(2 * k), lines.add(3 * k));
            Self { c, d, e, c_one: one(4 * k), d_one: one(4 * k + 1) }
        }
    }
}

/// Writes the residues of a modulus for [`remainder`].
///
/// # Safety
/// `modulus` has `n >= CYCLIC` plain digits, and `out` has `lines(n)` lines.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn make_images(modulus: *const V, n: usize, out: *mut V) {
    let k = quarter(n);
    let (c, d, e) = (out, out.wrapping_add(2 * k), out.wrapping_add(3 * k));
    // SAFETY: required of the caller; a digit is read before it is replaced.
    unsafe {
        let digit = |j: usize| if j % (4 * k) < n { load(modulus.add(j % (4 * k))) } else { zero() };
        let mask = _mm512_set1_epi64((1 << 52) - 1);
        let rotated = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
        let half = |j| rotated(_mm512_srli_epi64::<1>(digit(j)), _mm512_slli_epi64::<51>(digit(j + 1)));
        let fourth = |j| rotated(_mm512_srli_epi64::<2>(digit(j)), _mm512_slli_epi64::<50>(digit(j + 1)));
        // X^2 is -1, so that a borrow of it is one.
        let borrow = resolve(c, 2 * k, zero(), |j| minus(half(j), half(j + 2 * k)));
        store(out.add(4 * k), minus(zero(), borrow));
        // X is -1. Where the digits reach X, they are at most 2 above it.
        let even = |j| plus(fourth(j), fourth(j + 2 * k));
        let odd = |j| plus(fourth(j + k), fourth(j + 3 * k));
        let first = resolve(d, k, zero(), |j| minus(even(j), odd(j)));
        let second = resolve(d, k, minus(zero(), first), |j| load(d.add(j)));
        let reached = _mm512_max_epi64(second, zero());
        let third = resolve(d, k, minus(zero(), reached), |j| load(d.add(j)));
        let borrow = plus(_mm512_min_epi64(second, zero()), third);
        store(out.add(4 * k + 1), minus(zero(), borrow));
        // X is 1.
        let mut passed = resolve(e, k, zero(), |j| plus(even(j), odd(j)));
        for _ in 0..2 {
            passed = resolve(e, k, passed, |j| load(e.add(j)));
        }
    }
}

/// Writes `t - q N`, which is not negative and below `1.07 N`, to `out`.
///
/// # Safety
/// `lines` are the images of a modulus of `n` digits below `2^(52 n) / 16`. `t` has `2 n` plain digits and
/// [`ABOVE`] columns above them. `q` has `n + 1` plain digits and three columns above them. `out` has `n`
/// digits, `space` has `scratch(n)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn remainder(t: *mut V, q: *mut V, lines: *const V, n: usize, out: *mut V, space: *mut V) {
    let k = quarter(n);
    // SAFETY: required of the caller. 4 k is at most n + 3.
    unsafe {
        (2 * n..8 * k).for_each(|j| store(t.add(j), zero()));
        (n + 1..4 * k).for_each(|j| store(q.add(j), zero()));
        // B^(4k) is 1.
        let wrapped = if 4 * k == n { load(q.add(n)) } else { zero() };
        let images = Images::new(lines, k);
        let (c, d, e, rest) = (space, space.add(6 * k), space.add(9 * k), space.add(12 * k));
        // X^2 + 1 is subtracted once and X + 1 twice: one or two from the digits, and as many from the carry.
        // Then no carry is above zero, and minus the carry is added to the digits.
        let digit = |j: usize| load(q.add(j));
        let (one, two) = (_mm512_set1_epi64(1), _mm512_set1_epi64(2));
        let passed = resolve(c, 2 * k, minus(wrapped, one), |j| minus(digit(j), digit(j + 2 * k)));
        multiply::<true>(c, minus(one, passed), images.c, images.c_one, 2 * k, rest);
        let even = |j| plus(digit(j), digit(j + 2 * k));
        let odd = |j| plus(digit(j + k), digit(j + 3 * k));
        let passed = resolve(d, k, minus(wrapped, two), |j| minus(even(j), odd(j)));
        multiply::<true>(d, minus(two, passed), images.d, images.d_one, k, rest);
        let passed = resolve(e, k, wrapped, |j| plus(even(j), odd(j)));
        multiply::<false>(e, passed, images.e, 0, k, rest);
        let columns = Columns { t, c: c.add(2 * k), d: d.add(k), e: e.add(k), k };
        let mut passed = columns.above();
        passed = columns.write::<0>(n, passed, out);
        passed = columns.write::<1>(n, passed, out);
        passed = columns.write::<2>(n, passed, out);
        columns.write::<3>(n, passed, out);
    }
}

/// Writes the digits of some columns, plus a number that is added to the lowest one. Returns the carry.
///
/// # Safety
/// `out` has `count` digits.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn resolve(out: *mut V, count: usize, mut passed: V, column: impl Fn(usize) -> V) -> V {
    let mask = _mm512_set1_epi64((1 << 52) - 1);
    for j in 0..count {
        let column = plus(opaque(column(j)), passed);
        // SAFETY: required of the caller.
        unsafe { store(out.add(j), _mm512_and_si512(column, mask)) };
        passed = carry(column);
    }
    passed
}

/// Returns `vector` unchanged. The optimiser does not see that, and so does not move the sum with a carry to
/// the front of the sums that make a column, where every digit would wait for all of them.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn opaque(mut vector: V) -> V {
    // SAFETY: there is no instruction.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) vector, options(pure, nomem, nostack, preserves_flags));
    }
    vector
}

/// The columns of the product of two residues modulo `B^count + 1`, if `NEGATIVE`, or `B^count - 1`. One
/// residue is the digits at `x` plus `more`, the other the digits at `y` plus one in some lanes. The columns
/// follow the digits at `x`.
///
/// # Safety
/// `x` has `3 count` columns, of which `count` are plain digits. `y` has `count` plain digits, `space` has
/// `karatsuba::scratch(count)` columns. `more` is below `2^52`, and `one` is empty unless `NEGATIVE`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn multiply<const NEGATIVE: bool>(
    x: *mut V,
    more: V,
    y: *const V,
    one: __mmask8,
    count: usize,
    space: *mut V,
) {
    // SAFETY: required of the caller.
    unsafe {
        let product = x.add(count);
        multiply_part::<true>(x, y, count, product, space);
        let mut below = zero();
        for j in 0..count {
            let (low_half, high_half) = (load(product.add(j)), load(product.add(count + j)));
            let mut column = if NEGATIVE { minus(low_half, high_half) } else { plus(low_half, high_half) };
            let digit = load(y.add(j));
            column = high(low(column, more, digit), more, below);
            if NEGATIVE {
                column = _mm512_mask_add_epi64(column, one, column, load(x.add(j)));
            }
            store(product.add(j), column);
            below = digit;
        }
        let top = high(zero(), more, below);
        let first = load(product);
        let first = if NEGATIVE { minus(first, top) } else { plus(first, top) };
        store(product, _mm512_mask_add_epi64(first, one, first, more));
    }
}

/// The columns of `t - q N` modulo `B^(4k) - 1`.
struct Columns {
    t: *const V,
    c: *const V,
    d: *const V,
    e: *const V,
    k: usize,
}

impl Columns {
    /// Column j of quarter `Q`.
    ///
    /// # Safety
    /// j is below k.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn get<const Q: usize>(&self, j: usize) -> V {
        let k = self.k;
        // SAFETY: required of the caller; t has 8 k columns.
        unsafe {
            let t = plus(load(self.t.add(Q * k + j)), load(self.t.add((Q + 4) * k + j)));
            let (c, d, e) = (load(self.c.add(Q % 2 * k + j)), load(self.d.add(j)), load(self.e.add(j)));
            let rest = if Q.is_multiple_of(2) { minus(minus(t, e), d) } else { plus(minus(t, e), d) };
            if Q < 2 { minus(rest, c) } else { plus(rest, c) }
        }
    }

    /// How often M must be subtracted. The remainder is below `M / 14`, so that the two highest columns say
    /// it exactly.
    ///
    /// # Safety
    /// There are 2 columns in a quarter at least.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn above(&self) -> V {
        // SAFETY: required of the caller.
        let top = unsafe { plus(self.get::<3>(self.k - 1), carry(self.get::<3>(self.k - 2))) };
        carry(plus(top, _mm512_set1_epi64(1 << 51)))
    }

    /// Writes the digits of quarter `Q` of a number of `n` digits. Takes a carry and returns the next one.
    ///
    /// # Safety
    /// `out` has `n` digits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn write<const Q: usize>(&self, n: usize, passed: V, out: *mut V) -> V {
        let count = n.saturating_sub(Q * self.k).min(self.k);
        // SAFETY: required of the caller, and `count` leaves out what is beyond n.
        unsafe { resolve(out.wrapping_add(Q * self.k), count, passed, |j| self.get::<Q>(j)) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::karatsuba::PRODUCT;
    use super::super::karatsuba::tests::{Bounds, part};
    use super::super::tests::{moduli, number, rows};
    use super::super::{LANES, WIDTH, row, row_mut};
    use super::*;
    use crate::isa::detect_ifma;
    use crate::working_memory::Rows;
    use modmill_core::KERNEL_MAX_BITS;
    use num_bigint::BigUint;

    /// `X^2 + 1`, `X + 1` and `X - 1` for moduli of `n` digits.
    pub(in super::super) fn factors(n: usize) -> [BigUint; 3] {
        let one = || BigUint::from(1u8);
        let x = one() << (quarter(n) * WIDTH as usize);
        [&x * &x + 1u8, &x + 1u8, &x - 1u8]
    }

    /// Odd numbers of `n` digits whose halves or fourths are 0 or -1 modulo one of the factors.
    pub(in super::super) fn hard_moduli(n: usize) -> Vec<BigUint> {
        let bits = n * WIDTH as usize - 5;
        let near = |factor: &BigUint, below: u8| {
            let multiple = (BigUint::from(1u8) << bits) / factor * factor;
            [&multiple + factor - below, multiple - below].into_iter().find(|modulus| modulus.bit(0))
        };
        let [square, plus, minus] = factors(n);
        let found = [(&square, 0), (&square, 2), (&plus, 0), (&plus, 4), (&minus, 0), (&minus, 4)];
        found.into_iter().filter_map(|(factor, below)| near(factor, below)).cycle().take(LANES).collect()
    }

    #[test]
    fn images_are_residues() {
        let Some(_token) = detect_ifma() else { return };
        for n in CYCLIC..CYCLIC + 9 {
            let k = quarter(n);
            for moduli in [moduli(n), hard_moduli(n)] {
                let mut images = Rows::zeros(lines(n) * LANES);
                // SAFETY: the processor has the instructions, and the sizes are those that are asked for.
                unsafe { make_images(row(&rows(&moduli, n)), n, row_mut(&mut images)) };
                let image = |from: usize, count: usize, lane| {
                    number(&images[from * LANES..(from + count) * LANES], lane)
                };
                let [square, plus, minus] = factors(n);
                for (lane, modulus) in moduli.iter().enumerate() {
                    let c = image(0, 2 * k, lane) + image(4 * k, 1, lane);
                    assert_eq!((c * 2u8) % &square, modulus % &square, "n {n}, lane {lane}");
                    let d = image(2 * k, k, lane) + image(4 * k + 1, 1, lane);
                    assert_eq!((d * 4u8) % &plus, modulus % &plus, "n {n}, lane {lane}");
                    let e = image(3 * k, k, lane);
                    assert_eq!((e * 4u8) % &minus, modulus % &minus, "n {n}, lane {lane}");
                    assert!(images[4 * k * LANES..].iter().all(|&one| one <= 1));
                }
            }
        }
    }

    /// The columns that `multiply` leaves.
    fn product(count: usize, negative: bool) -> Bounds {
        let product = part(count, PRODUCT);
        let mut bounds = product.part(0, count);
        let above = product.part(count, count);
        if negative {
            bounds.subtract(&above, 0)
        } else {
            bounds.add(&above, 0)
        };
        // Two halves of the product with a small number, the digits of the other factor, and what is added to
        // the lowest column.
        bounds.add(&Bounds::new(count, 4), 0);
        bounds.subtract(&Bounds::new(count, 1), 0);
        bounds
    }

    #[test]
    fn columns_fit_in_signed_words() {
        for n in CYCLIC..=KERNEL_MAX_BITS / 52 + 2 {
            let k = quarter(n);
            let (c, d, e) = (product(2 * k, true), product(k, true), product(k, false));
            // Two digits of the dividend, and a carry.
            let largest = 3 + c.largest() + d.largest() + e.largest();
            assert!(largest < 1 << 11, "{n} digits: {largest}");
        }
    }
}
