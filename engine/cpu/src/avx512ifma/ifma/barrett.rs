//! Remainders of plain numbers by a reciprocal of the modulus (Barrett 1986). The derivation is in
//! `docs/algorithms/ifma.md`.
//!
//! ```text
//! q = floor(floor(t / 2^(52 (n - 3))) m / 2^(52 (n + 4)))      m = 2^52 floor(R^2 / N), R = 2^(52 n)
//! r = t - q N mod R
//! ```
//!
//! Of the first product only the upper columns are needed, and of the second only the lower ones. Either half
//! of a product is the full product of half the length, by Karatsuba's method, and two such halves of the
//! products across. For long moduli [`cyclic`] finds r with fewer products of digits.
#![allow(unsafe_code)]

use super::columns::{BLOCK, block};
use super::cyclic::{self, CYCLIC};
use super::karatsuba::{CARRY, PRODUCT, multiply_part, scratch as product_scratch};
use super::tile::{self, Columns, V, carry, for_rows, load, minus, plus, rectangle, store, zero};
use crate::kernel::RECIPROCAL;
use std::arch::x86_64::*;

/// Columns above those of a dividend, for [`remainder`].
pub(super) const ABOVE: usize = cyclic::ABOVE;

/// Columns of working memory that [`remainder`] needs besides the dividend, for a modulus of `n` digits.
pub(super) fn scratch(n: usize) -> usize {
    // The upper product, and what its parts need: at most as much as a full product. Then the lower product,
    // which needs as much, or the remainder in a ring.
    let m = n + RECIPROCAL;
    2 * m + ABOVE + (n + BLOCK + product_scratch(m)).max(cyclic::scratch(n))
}

/// Lines of the constants of [`remainder`]: the reciprocal, and the images of the modulus in a ring if it is
/// long.
pub(super) fn constants(n: usize) -> usize {
    n + RECIPROCAL + cyclic::lines(n)
}

/// Completes the constants of [`remainder`], which begin with the reciprocal.
///
/// # Safety
/// `modulus` has `n` plain digits, and `constants` has `constants(n)` lines.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn complete(modulus: *const V, n: usize, constants: *mut V) {
    if n >= CYCLIC {
        // SAFETY: required of the caller.
        unsafe { cyclic::make_images(modulus, n, constants.add(n + RECIPROCAL)) }
    }
}

/// Writes `t mod N`, below `1.07 N`, to `out`.
///
/// # Safety
/// N has `n >= 3` digits and more than `52 (n - 1) - 4` bits. `t` has the `2 n` columns of a number below
/// `R^2 / 16`, and [`ABOVE`] columns above them. `constants` are the `n + RECIPROCAL` digits of
/// `2^52 floor(R^2 / N)`, and the images of N. `out` has `n` digits, and `space` has `scratch(n)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn remainder(
    t: *mut V,
    modulus: *const V,
    constants: *const V,
    n: usize,
    out: *mut V,
    space: *mut V,
) {
    let m = n + RECIPROCAL;
    let mask = _mm512_set1_epi64((1 << 52) - 1);
    // SAFETY: required of the caller. The n + 1 digits of the quotient are columns m + 1 to m + n + 1 of the
    // upper product, which has 2 m.
    unsafe {
        let (upper, rest) = (space, space.add(2 * m + ABOVE));
        tile::normalize(t, 2 * n);
        multiply_upper(t.add(n - RECIPROCAL), constants, m, upper, rest);
        let guard = guard(m);
        tile::normalize(upper.add(m - guard), guard + 2 + n);
        let quotient = upper.add(m + 1);
        if n >= CYCLIC {
            return cyclic::remainder(t, quotient, constants.add(m), n, out, rest);
        }
        let lower = rest;
        multiply_lower(quotient, modulus, n, lower, lower.add(n + BLOCK));
        let mut passed = zero();
        for j in 0..n {
            let digit = plus(minus(load(t.add(j)), load(lower.add(j))), passed);
            store(out.add(j), _mm512_and_si512(digit, mask));
            passed = carry(digit);
        }
    }
}

/// Columns below the upper half of a product that [`multiply_upper`] computes in part.
fn guard(n: usize) -> usize {
    n.min(BLOCK)
}

/// Columns `n - guard(n)..2 n` of `x y`, without the products of digits i and j with `i + j < n - 1`, or with
/// some of them. So the value of these columns is less than that of all columns by less than n units of
/// column n.
///
/// # Safety
/// `x` and `y` have `n` digits, `t` has `2 n` columns, `space` has `karatsuba::scratch(n)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn multiply_upper(x: *const V, y: *const V, n: usize, t: *mut V, space: *mut V) {
    // SAFETY: required of the caller. A block of R rows begins at column n - R, and its last column is below
    // 2 n.
    unsafe {
        let guard = guard(n);
        if n < PRODUCT {
            clear(t.add(n - guard), guard);
            let mut row = 0;
            while row < n {
                let rows = block(n - row);
                let columns = Columns { at: t.add(n - rows), fresh: row + rows };
                for_rows!(rows, R => rectangle::<R>(columns, x.add(row), y.add(n - row - rows), row + rows));
                row += rows;
            }
            return;
        }
        // The full product of the upper digits begins at column 2 h, which is n or n - 1.
        let h = n / 2;
        clear(t.add(n - guard), guard);
        multiply_part::<true>(x.add(h), y.add(h), n - h, t.add(2 * h), space);
        // Across, h low digits of one factor meet the h top digits of the other; lower ones belong to columns
        // that are left out.
        let across = self::guard(h);
        for (low, top) in [(x, y.add(n - h)), (y, x.add(n - h))] {
            multiply_upper(low, top, h, space, space.add(2 * h));
            carry_long(space.add(h - across), h + across);
            add(t.add(n - across), space.add(h - across), h + across);
        }
    }
}

/// Columns `0..n` of `x y`, modulo `2^(52 n)`. The columns above them hold anything.
///
/// # Safety
/// `x` and `y` have `n` digits, `t` has `n + BLOCK` columns, `space` has `karatsuba::scratch(n)` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn multiply_lower(x: *const V, y: *const V, n: usize, t: *mut V, space: *mut V) {
    // SAFETY: required of the caller. A block of R rows ends below column n + R.
    unsafe {
        if n < PRODUCT {
            let mut row = 0;
            while row < n {
                let rows = block(n - row);
                let columns = Columns { at: t.add(row), fresh: if row == 0 { 0 } else { n - row } };
                for_rows!(rows, R => rectangle::<R>(columns, x.add(row), y, n - row));
                row += rows;
            }
            return;
        }
        let h = n.div_ceil(2);
        multiply_part::<true>(x, y, h, t, space);
        for (x, y) in [(x, y.add(h)), (x.add(h), y)] {
            multiply_lower(x, y, n - h, space, space.add(n - h + BLOCK));
            carry_long(space, n - h);
            add(t.add(h), space, n - h);
        }
    }
}

/// Resolves the carries of a part of a product if it is long, so that columns fit in their words. The tests
/// verify the bound.
///
/// # Safety
/// `t` has `n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn carry_long(t: *mut V, n: usize) {
    if n >= CARRY {
        // SAFETY: required of the caller.
        unsafe { tile::normalize(t, n) }
    }
}

/// # Safety
/// `t` and `other` have `n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn add(t: *mut V, other: *const V, n: usize) {
    for k in 0..n {
        // SAFETY: required of the caller.
        unsafe { store(t.add(k), plus(load(t.add(k)), load(other.add(k)))) }
    }
}

/// # Safety
/// `t` has `n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn clear(t: *mut V, n: usize) {
    for k in 0..n {
        // SAFETY: required of the caller.
        unsafe { store(t.add(k), zero()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::karatsuba::tests::{Bounds, part, product};
    use super::super::tests::{moduli, number, numbers, rows};
    use super::super::{Ifma, LANES, WIDTH};
    use super::*;
    use crate::isa::detect_ifma;
    use crate::kernel::{Dividend, Kernel};
    use crate::working_memory::Rows;
    use modmill_core::KERNEL_MAX_BITS;
    use num_bigint::BigUint;

    /// Every dividend of eight, with every modulus: the smallest and the longest ones, products, squares and
    /// numbers.
    #[test]
    fn remainders_are_right_and_in_range() {
        let Some(token) = detect_ifma() else { return };
        for n in
            (3..=45).chain([58, 59, 60, 61, 62, 79, 80, 117, 119, 120, 121, 157, 158, 237, 240, 241, 632])
        {
            let width = n * WIDTH as usize;
            let longest = moduli(n);
            // The shortest moduli for n digits.
            let least = BigUint::from(1u8) << (width - WIDTH as usize - 4);
            let mut shortest: Vec<_> = longest.iter().map(|modulus| &least + modulus % &least).collect();
            shortest[0] = &least + 1u8;
            let longest = longest.iter().map(|modulus| modulus.max(&shortest[1]).clone()).collect();
            let hard = if n < CYCLIC { shortest.clone() } else { cyclic::tests::hard_moduli(n) };
            for moduli in [longest, shortest, hard] {
                let kernel = Ifma::new(token, &rows(&moduli, n));
                let reciprocals: Vec<_> = moduli
                    .iter()
                    .map(|modulus| ((BigUint::from(1u8) << (2 * width)) / modulus) << WIDTH)
                    .collect();
                let mut constants = Rows::zeros(Ifma::division_constants(n));
                constants[..(n + RECIPROCAL) * LANES].copy_from_slice(&rows(&reciprocals, n + RECIPROCAL));
                kernel.complete_division(&mut constants);
                let mut scratch = Rows::zeros(Ifma::division_words(n));
                for seed in 0..3 {
                    let xs = numbers(width - 2, seed);
                    let mut ys = numbers(width - 2, seed + 77);
                    ys.rotate_left(seed as usize);
                    let wide = numbers(2 * width - 4, seed + 5);
                    // Multiples of the modulus and their neighbours, where the quotient jumps.
                    let near: Vec<_> = (0..LANES)
                        .map(|lane| {
                            (&wide[lane] / &moduli[lane] * &moduli[lane] + seed).max(1u8.into()) - 1u8
                        })
                        .collect();
                    // Multiples of what the ring of a long modulus is made of, and their neighbours, as
                    // quotients.
                    let hard: Vec<_> = (0..LANES)
                        .map(|lane| {
                            let longest = (BigUint::from(1u8) << (2 * width - 4)) / &moduli[lane] - 1u8;
                            let factor = &cyclic::tests::factors(n)[lane % 3];
                            let factor = if lane < 3 { factor.clone() } else { &longest / factor * factor };
                            (factor + 1u8 - seed).min(longest) * &moduli[lane] + seed
                        })
                        .collect();
                    let (ys_rows, wide_rows, near_rows, hard_rows) =
                        (rows(&ys, n), rows(&wide, 2 * n), rows(&near, 2 * n), rows(&hard, 2 * n));
                    let exact = |f: &dyn Fn(usize) -> BigUint| (0..LANES).map(f).collect::<Vec<_>>();
                    for (dividend, exact) in [
                        (Dividend::Product(&ys_rows), exact(&|lane| &xs[lane] * &ys[lane])),
                        (Dividend::Square, exact(&|lane| &xs[lane] * &xs[lane])),
                        (Dividend::Number(&wide_rows), wide.clone()),
                        (Dividend::Number(&near_rows), near.clone()),
                        (Dividend::Number(&hard_rows), hard.clone()),
                    ] {
                        let mut x = rows(&xs, n);
                        kernel.remainder(&mut x, dividend, &constants, &mut scratch);
                        for lane in 0..LANES {
                            let (found, modulus) = (number(&x, lane), &moduli[lane]);
                            assert_eq!(&found % modulus, &exact[lane] % modulus, "n {n}, lane {lane}");
                            assert!(found * 100u8 <= modulus * 107u8, "n {n}, lane {lane}");
                        }
                    }
                }
            }
        }
    }

    /// The part of a product that is computed across, with its carries resolved if it is long.
    fn across(bounds: Bounds, columns: usize, length: usize) -> Bounds {
        if length < CARRY { bounds } else { Bounds::new(columns, 1) }
    }

    fn lower(n: usize) -> Bounds {
        if n < PRODUCT {
            return product(n, PRODUCT);
        }
        let h = n.div_ceil(2);
        let mut bounds = Bounds::new(2 * n, 0);
        bounds.add(&part(h, PRODUCT), 0);
        let side = across(lower(n - h), 2 * (n - h), n - h);
        bounds.add(&side, h);
        bounds.add(&side, h);
        bounds
    }

    fn upper(n: usize) -> Bounds {
        if n < PRODUCT {
            return product(n, PRODUCT);
        }
        let h = n / 2;
        let mut bounds = Bounds::new(2 * n, 0);
        bounds.add(&part(n - h, PRODUCT), 2 * h);
        let side = across(upper(h), 2 * h, h + guard(h));
        bounds.add(&side, n - h);
        bounds.add(&side, n - h);
        bounds
    }

    #[test]
    fn columns_fit_in_signed_words() {
        for n in 3..=KERNEL_MAX_BITS / 52 + 2 {
            for mut bounds in [lower(n), upper(n + RECIPROCAL)] {
                // A carry, and for the lower product the digit that it is subtracted from.
                let columns = Bounds::new(2 * n, 2);
                bounds.add(&columns, 0);
                assert!(bounds.largest() < 1 << 11, "{n} digits: {}", bounds.largest());
            }
        }
    }
}
