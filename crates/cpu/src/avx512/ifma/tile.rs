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
            // Literal indices make some of the comparisons in a body trivial.
            #[allow(clippy::absurd_extreme_comparisons)]
            if $i < $end $body
        })*
    };
}

/// Runs an expression with the constant `$R` bound to a block size, 1 to 12 (rows and window
/// of a tile fill 2 R + 2 of the 32 registers).
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

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn minus(a: V, b: V) -> V {
    _mm512_sub_epi64(a, b)
}

/// What a column passes on to the next one, with its sign.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn carry(column: V) -> V {
    _mm512_srai_epi64::<52>(column)
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

/// Columns of a product under way: those from `fresh` on have not been written yet and count as
/// zero.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub(super) at: *mut V,
    pub(super) fresh: usize,
}

impl Columns {
    /// # Safety
    /// There is a column `index`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn get(self, index: usize) -> V {
        // SAFETY: the caller's promise.
        if index < self.fresh { unsafe { load(self.at.add(index)) } } else { zero() }
    }

    /// # Safety
    /// There is a column `index`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn set(self, index: usize, value: V) {
        // SAFETY: the caller's promise.
        unsafe { store(self.at.add(index), value) }
    }
}

/// Steps `from..n` of rows `x` along `y`: the window holds columns `column..column + R` of `t`
/// when digit `from` is due, all columns end up in `t`.
///
/// # Safety
/// `y` has `n` digits; `t` has `column + n - from + R` columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn slide<const R: usize>(
    t: Columns,
    column: usize,
    window: &mut [V; R],
    x: &[V; R],
    y: *const V,
    from: usize,
    n: usize,
) {
    let mut to = column;
    // SAFETY: all offsets are within the caller's promise.
    unsafe {
        let old = (t.fresh.saturating_sub(column + R) + from).clamp(from, n);
        for j in from..old {
            let leaving = step(window, load(t.at.add(to + R)), x, load(y.add(j)));
            t.set(to, leaving);
            to += 1;
        }
        for j in old..n {
            let leaving = step(window, zero(), x, load(y.add(j)));
            t.set(to, leaving);
            to += 1;
        }
        unroll!(I < R, { t.set(to + I, window[I]) });
    }
}

/// `t += x y` for `R` digits `x` and `n` digits `y`.
///
/// # Safety
/// `x` has `R` digits, `y` has `n`, `t` has `n + R` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn rectangle<const R: usize>(t: Columns, x: *const V, y: *const V, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [zero(); R];
        let mut window = [zero(); R];
        unroll!(I < R, {
            rows[I] = load(x.add(I));
            window[I] = t.get(I);
        });
        slide(t, 0, &mut window, &rows, y, 0, n);
    }
}

/// The part of a square that the first `R` of `n` digits take part in: cross products once, and
/// then, because no later digit adds to columns below `2 R`, these doubled with their diagonal.
///
/// # Safety
/// `x` has `n >= R` digits, `t` has `n + R` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn square_rows<const R: usize>(t: Columns, x: *const V, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [zero(); R];
        let mut below = [zero(); R];
        let mut window = [zero(); R];
        unroll!(I < R, {
            rows[I] = load(x.add(I));
            below[I] = t.get(I);
            window[I] = t.get(R + I);
        });
        unroll!(I < R, {
            unroll!(J < R, {
                if I < J && I + J < R {
                    below[I + J] = low(below[I + J], rows[I], rows[J]);
                } else if I < J {
                    window[I + J - R] = low(window[I + J - R], rows[I], rows[J]);
                }
            });
            unroll!(J < R, {
                if I < J && I + J + 1 < R {
                    below[I + J + 1] = high(below[I + J + 1], rows[I], rows[J]);
                } else if I < J {
                    window[I + J + 1 - R] = high(window[I + J + 1 - R], rows[I], rows[J]);
                }
            });
        });
        unroll!(I < R, { t.set(I, double_with_diagonal(I, below[I], rows[I / 2])) });
        if n > R {
            slide(t, R, &mut window, &rows, x, R, n);
            unroll!(I < R, { window[I] = load(t.at.add(R + I)) });
        }
        unroll!(I < R, { t.set(R + I, double_with_diagonal(R + I, window[I], rows[(R + I) / 2])) });
    }
}

/// Twice the cross products of a column, plus its half of a digit's square.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn double_with_diagonal(index: usize, column: V, digit: V) -> V {
    let doubled = plus(column, column);
    if index.is_multiple_of(2) { low(doubled, digit, digit) } else { high(doubled, digit, digit) }
}

/// Where the columns of a fold go, from the lowest up.
pub(super) trait Sink {
    /// Takes the lowest column.
    ///
    /// # Safety
    /// AVX-512 IFMA is there, and the sink has room for every column of the fold.
    unsafe fn first(&mut self, column: V);
    /// Takes a column in between.
    ///
    /// # Safety
    /// As for `first`.
    unsafe fn next(&mut self, column: V);
    /// Takes the highest column.
    ///
    /// # Safety
    /// As for `first`.
    unsafe fn last(&mut self, column: V);
}

/// Folds `R` low digits of `t` away one after the other, `t <- floor(t / 2^52) + (t mod 2^52) m`
/// with `m = 2^-52 mod N`, which divides it by `2^(52 R)` modulo N. Columns `R..R + n + 1` are the
/// result and go to the sink.
///
/// # Safety
/// `m` has `n >= R` digits, `t` has `n + R + 1` columns, and the sink takes `n + 1` of them.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn fold<const R: usize>(t: *const V, m: *const V, n: usize, mut sink: impl Sink) {
    let mut digits = [zero(); R];
    let mut window = [zero(); R];
    // SAFETY: the caller's promise.
    unsafe {
        unroll!(I < R, {
            digits[I] = load(t.add(I));
            window[I] = load(t.add(R + I));
        });
        // Digit i times m_j belongs to column i + j + 1 and, its high half, to column i + j + 2.
        // Each digit, once known, meets all of m_0 .. m_(R-2): what lies above the triangle of
        // columns below R keeps the multipliers busy while the next digit waits for its carry.
        unroll!(I < R, {
            let digit = digits[I];
            unroll!(J < R - 1, {
                let m_j = load(m.add(J));
                if I + J + 1 < R {
                    digits[I + J + 1] = low(digits[I + J + 1], digit, m_j);
                } else {
                    window[I + J + 1 - R] = low(window[I + J + 1 - R], digit, m_j);
                }
            });
            if I + 1 < R {
                digits[I + 1] = plus(digits[I + 1], carry(digit));
            } else {
                window[0] = plus(window[0], carry(digit));
            }
            unroll!(J < R - 1, {
                let m_j = load(m.add(J));
                if I + J + 2 < R {
                    digits[I + J + 2] = high(digits[I + J + 2], digit, m_j);
                } else {
                    window[I + J + 2 - R] = high(window[I + J + 2 - R], digit, m_j);
                }
            });
        });
        // The rest is a tile: m_(R-1) and up slide past.
        let mut entering = t.add(2 * R);
        sink.first(step(&mut window, load(entering), &digits, load(m.add(R - 1))));
        for j in R..n {
            entering = entering.add(1);
            sink.next(step(&mut window, load(entering), &digits, load(m.add(j))));
        }
        unroll!(I < R - 1, { sink.next(window[I]) });
        sink.last(window[R - 1]);
    }
}

/// A sink that is memory.
pub(super) struct Store(pub(super) *mut V);

impl Sink for Store {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn first(&mut self, column: V) {
        // SAFETY: the caller's promise.
        unsafe { self.next(column) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn next(&mut self, column: V) {
        // SAFETY: the caller's promise.
        unsafe {
            store(self.0, column);
            self.0 = self.0.add(1);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn last(&mut self, column: V) {
        // SAFETY: the caller's promise.
        unsafe { self.next(column) }
    }
}

/// A sink that does Montgomery's own step for the last digit, column by column, with all carries
/// passed on: `(t + q N) / 2^52` for `q = -t / N mod 2^52`. Digits of the result go to `out`; bits
/// above 51 of a word have been passed on to the next.
pub(super) struct Finish {
    modulus: *const V,
    negated_inverse: V,
    out: *mut V,
    quotient: V,
    digit_of_modulus: V,
    passed: V,
}

impl Finish {
    /// # Safety
    /// `modulus` and `out` have as many digits as there will be calls of `next` and `last`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) unsafe fn new(modulus: *const V, negated_inverse: V, out: *mut V) -> Self {
        // SAFETY: a modulus has at least one digit.
        let digit_of_modulus = unsafe { load(modulus) };
        Self { modulus, negated_inverse, out, quotient: zero(), digit_of_modulus, passed: zero() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn put(&mut self, column: V) {
        let digit = plus(column, self.passed);
        // SAFETY: the promise of `new`.
        unsafe {
            store(self.out, digit);
            self.out = self.out.add(1);
        }
        self.passed = carry(digit);
    }

    /// The step on its own.
    ///
    /// # Safety
    /// `t` has `n + 1` columns, where `n` is the number of digits promised in `new`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) unsafe fn run(mut self, t: *const V, n: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            self.first(load(t));
            for j in 1..n {
                self.next(load(t.add(j)));
            }
            self.last(load(t.add(n)));
        }
    }
}

impl Sink for Finish {
    /// Column 0, which the quotient makes vanish.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn first(&mut self, column: V) {
        self.quotient = low(zero(), column, self.negated_inverse);
        self.passed = carry(low(column, self.quotient, self.digit_of_modulus));
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn next(&mut self, column: V) {
        let column = high(column, self.quotient, self.digit_of_modulus);
        // SAFETY: the promise of `new`.
        unsafe {
            self.modulus = self.modulus.add(1);
            self.digit_of_modulus = load(self.modulus);
            self.put(low(column, self.quotient, self.digit_of_modulus));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn last(&mut self, column: V) {
        // SAFETY: the promise of `new`.
        unsafe { self.put(high(column, self.quotient, self.digit_of_modulus)) }
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
