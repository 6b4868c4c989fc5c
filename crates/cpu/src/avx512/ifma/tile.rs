//! Register-blocked pieces of products: a block of digits of one factor stays in registers, the
//! other factor streams past, and a sliding window of column sums moves along with it.
//!
//! One step of a tile of `R` rows loads one digit and one column, does `2 R` multiply-adds and
//! stores one column, so that the two multiply ports (0 and 5) are the only bottleneck; the
//! window has `R + 1` columns in flight, enough to hide the four clocks of a multiply-add.
//!
//! Columns are 64-bit sums of 52-bit halves of products. Digits are read by the multiplier, which
//! ignores everything above bit 51: a digit whose carry has been passed on needs no masking.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// One digit or column of eight numbers.
pub(super) type V = __m512i;

/// The most rows of a tile: rows and window fill 2 R + 2 of the 32 registers.
pub(super) const MAX_ROWS: usize = 12;

/// Repeats a block with the constant `$i` counting from 0 below `$end`, unrolled before the
/// optimiser sees it: array indices are then literals and arrays live in registers. (Loops are
/// unrolled too late for that, and the arrays end up in memory.)
macro_rules! unroll {
    ($i:ident < $end:expr, $body:block) => {
        unroll!(@ $i, $end, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    (@ $i:ident, $end:expr, $body:block, $($k:literal)*) => {
        $({
            const $i: usize = $k;
            if $i < $end $body
        })*
    };
}

/// Runs an expression with the constant `$R` bound to a block size, 1 to [`MAX_ROWS`].
macro_rules! for_rows {
    ($rows:expr, $R:ident => $body:expr) => {
        for_rows!(@ $rows, $R, $body, 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    (@ $rows:expr, $R:ident, $body:expr, $($k:literal)*) => {
        match $rows {
            $($k => {
                const $R: usize = $k;
                $body
            })*
            rows => unreachable!("no block has {rows} rows"),
        }
    };
}
pub(super) use for_rows;
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn zero() -> V {
    _mm512_setzero_si512()
}

/// `sum + (x y mod 2^52)`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn low(sum: V, x: V, y: V) -> V {
    _mm512_madd52lo_epu64(sum, x, y)
}

/// `sum + floor(x y / 2^52)`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn high(sum: V, x: V, y: V) -> V {
    _mm512_madd52hi_epu64(sum, x, y)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn plus(a: V, b: V) -> V {
    _mm512_add_epi64(a, b)
}

/// What a column passes on to the next one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn carry(column: V) -> V {
    _mm512_srli_epi64::<52>(column)
}

/// # Safety
/// `from` must be valid for reading one aligned vector.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn load(from: *const V) -> V {
    // SAFETY: the caller's promise.
    unsafe { _mm512_load_si512(from) }
}

/// # Safety
/// `to` must be valid for writing one aligned vector.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn store(to: *mut V, value: V) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_store_si512(to, value) }
}

/// One digit `y` against the rows `x`: adds to the window, which starts at the column of
/// `x[0] y`, and moves it up by one. Takes the column that enters, gives the one that leaves.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn step<const R: usize>(window: &mut [V; R], entering: V, x: &[V; R], y: V) -> V {
    unroll!(I < R, { window[I] = low(window[I], x[I], y) });
    unroll!(I < R - 1, { window[I + 1] = high(window[I + 1], x[I], y) });
    let top = high(entering, x[R - 1], y);
    let leaving = window[0];
    unroll!(I < R - 1, { window[I] = window[I + 1] });
    window[R - 1] = top;
    leaving
}

/// Steps `from..n` of rows `x` along `y`: the window holds columns `column..column + R` of `t`
/// when digit `from` is due, all columns end up in `t`.
///
/// # Safety
/// `y` has `n` digits; `t` has `column + n - from + R` columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn slide<const R: usize>(
    t: *mut V,
    column: usize,
    window: &mut [V; R],
    x: &[V; R],
    y: *const V,
    from: usize,
    n: usize,
) {
    // SAFETY: all offsets are within the caller's promise.
    unsafe {
        let mut to = t.add(column);
        for j in from..n {
            let leaving = step(window, load(to.add(R)), x, load(y.add(j)));
            store(to, leaving);
            to = to.add(1);
        }
        unroll!(I < R, { store(to.add(I), window[I]) });
    }
}

/// `t += x y` for `R` digits `x` and `n` digits `y`.
///
/// # Safety
/// `x` has `R` digits, `y` has `n`, `t` has `n + R` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn rectangle<const R: usize>(t: *mut V, x: *const V, y: *const V, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [zero(); R];
        let mut window = [zero(); R];
        unroll!(I < R, {
            rows[I] = load(x.add(I));
            window[I] = load(t.add(I));
        });
        slide(t, 0, &mut window, &rows, y, 0, n);
    }
}

/// `t += sum of x_i x_j` over `i < R`, `i < j < n`: the part of a square right of the diagonal
/// that the first `R` digits take part in, once instead of twice.
///
/// # Safety
/// `x` has `n >= R` digits, `t` has `n + R` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn cross<const R: usize>(t: *mut V, x: *const V, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [zero(); R];
        let mut below = [zero(); R];
        let mut window = [zero(); R];
        unroll!(I < R, {
            rows[I] = load(x.add(I));
            below[I] = load(t.add(I));
            window[I] = load(t.add(R + I));
        });
        unroll!(I < R, {
            unroll!(J < R, {
                if I < J {
                    if I + J < R {
                        below[I + J] = low(below[I + J], rows[I], rows[J]);
                    } else {
                        window[I + J - R] = low(window[I + J - R], rows[I], rows[J]);
                    }
                    if I + J + 1 < R {
                        below[I + J + 1] = high(below[I + J + 1], rows[I], rows[J]);
                    } else {
                        window[I + J + 1 - R] = high(window[I + J + 1 - R], rows[I], rows[J]);
                    }
                }
            });
        });
        unroll!(I < R, { store(t.add(I), below[I]) });
        slide(t, R, &mut window, &rows, x, R, n);
    }
}

/// Doubles the cross products of a square and adds the diagonal.
///
/// # Safety
/// `x` has `n` digits, `t` has `2 n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn double_and_add_diagonal(t: *mut V, x: *const V, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        for k in 0..n {
            let digit = load(x.add(k));
            let (even, odd) = (load(t.add(2 * k)), load(t.add(2 * k + 1)));
            store(t.add(2 * k), low(plus(even, even), digit, digit));
            store(t.add(2 * k + 1), high(plus(odd, odd), digit, digit));
        }
    }
}

/// Folds `R` low digits of `t` into the rest: `t <- floor(t / 2^(52 R)) + (t mod 2^(52 R)) m`
/// with `m = 2^(-52 R) mod N`, which divides `t` by `2^(52 R)` modulo N. The result starts at
/// column `R`.
///
/// # Safety
/// `m` has `n` digits, `t` has `n + 2 R` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn fold<const R: usize>(t: *mut V, m: *const V, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut digits = [zero(); R];
        let mut window = [zero(); R];
        let mut passed = zero();
        unroll!(I < R, {
            digits[I] = plus(load(t.add(I)), passed);
            passed = carry(digits[I]);
            window[I] = load(t.add(R + I));
        });
        window[0] = plus(window[0], passed);
        slide(t, R, &mut window, &digits, m, 0, n);
    }
}

/// `R` folds of one digit each, `m = 2^-52 mod N`, the quotient digits found one after the other
/// in a triangle and the rest done as a tile. The result starts at column `R`.
///
/// # Safety
/// `m` has `n >= R` digits, `t` has `n + R + 1` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn fold_one_by_one<const R: usize>(t: *mut V, m: *const V, n: usize) {
    // Digit i times m_j belongs to column i + j + 1 and, its high half, to column i + j + 2.
    // SAFETY: the caller's promise.
    unsafe {
        let mut digits = [zero(); R];
        let mut window = [zero(); R];
        unroll!(I < R, {
            digits[I] = load(t.add(I));
            window[I] = load(t.add(R + I));
        });
        unroll!(I < R, {
            let passed = carry(digits[I]);
            if I + 1 < R {
                digits[I + 1] = plus(digits[I + 1], passed);
            } else {
                window[0] = plus(window[0], passed);
            }
            unroll!(J < R, {
                let m_j = load(m.add(J));
                if I + J + 1 < R {
                    digits[I + J + 1] = low(digits[I + J + 1], digits[I], m_j);
                }
                if I + J + 2 < R {
                    digits[I + J + 2] = high(digits[I + J + 2], digits[I], m_j);
                }
            });
        });
        // What of m_0 .. m_(R-2) lies above the triangle.
        unroll!(J < R - 1, {
            let m_j = load(m.add(J));
            unroll!(I < R, {
                if I + J + 1 >= R {
                    window[I + J + 1 - R] = low(window[I + J + 1 - R], digits[I], m_j);
                }
                if I + J + 2 >= R {
                    window[I + J + 2 - R] = high(window[I + J + 2 - R], digits[I], m_j);
                }
            });
        });
        slide(t, R, &mut window, &digits, m, R - 1, n);
    }
}

/// The last digit the way Montgomery did it, `t <- (t + q N) / 2^52` with `q = -t / N mod 2^52`,
/// and all carries passed on: the digits of the result go to `out`, those above bit 51 of each
/// word already passed on to the next.
///
/// # Safety
/// `modulus` and `out` have `n` digits, `t` has `n + 1` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn finish(t: *const V, modulus: *const V, negated_inverse: V, n: usize, out: *mut V) {
    // SAFETY: the caller's promise.
    unsafe {
        let quotient = low(zero(), load(t), negated_inverse);
        let mut n_j = load(modulus);
        let mut passed = carry(low(load(t), quotient, n_j));
        for j in 1..n {
            let column = high(load(t.add(j)), quotient, n_j);
            n_j = load(modulus.add(j));
            let digit = plus(low(column, quotient, n_j), passed);
            store(out.add(j - 1), digit);
            passed = carry(digit);
        }
        let digit = plus(high(load(t.add(n)), quotient, n_j), passed);
        store(out.add(n - 1), digit);
    }
}

/// Passes carries on and masks: columns to plain digits, in place.
///
/// # Safety
/// `t` has `n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn normalize(t: *mut V, n: usize) {
    let mask = _mm512_set1_epi64((1 << 52) - 1);
    let mut passed = zero();
    // SAFETY: the caller's promise.
    unsafe {
        for j in 0..n {
            let column = plus(load(t.add(j)), passed);
            store(t.add(j), _mm512_and_si512(column, mask));
            passed = carry(column);
        }
    }
}
