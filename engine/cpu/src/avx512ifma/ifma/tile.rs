//! Register-blocked parts of products. A block of digits of one factor stays in registers, the other factor
//! is streamed, and a sliding window of column sums moves along with it.
//!
//! One step of a tile of `R` rows loads one digit and one column, executes `2 R` multiply-adds and stores one
//! column. The two multiply ports (0 and 5) are then the only bottleneck. The window has `R + 1` columns in
//! flight, enough to hide the four-cycle latency of a multiply-add.
//!
//! Columns are 64-bit sums of 52-bit halves of products. The multiplier reads digits and ignores everything
//! above bit 51, so a digit whose carry has been passed on needs no masking.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// One digit or column of eight numbers.
pub(super) type V = __m512i;

/// Repeats a block with the constant `$i` counting from 0 below `$end`, unrolled before the optimiser sees
/// it. Array indices are then literals, and arrays live in registers. (The optimiser unrolls loops too late
/// for that, and the arrays end up in memory.) Blocks that do not count are gone before the optimiser sees
/// them, too.
macro_rules! unroll {
    ($i:ident < $end:expr, $body:block) => {
        unroll!(@ $i, $end, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    (@ $i:ident, $end:expr, $body:block, $($k:literal)*) => {
        $({
            const $i: usize = $k;
            // Literal indices make some of the comparisons in a body trivial.
            #[allow(clippy::absurd_extreme_comparisons)]
            if const { $i < $end } $body
        })*
    };
}

/// Runs an expression with the constant `$R` bound to a block size of 1 to 12. The rows and the window of a
/// tile fill 2 R + 2 of the 32 registers.
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
pub(super) use {for_rows, unroll};

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

/// The signed carry of a column into the next one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn carry(column: V) -> V {
    _mm512_srai_epi64::<52>(column)
}

/// # Safety
/// `from` is valid for reading one aligned vector.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn load(from: *const V) -> V {
    // SAFETY: required of the caller.
    unsafe { _mm512_load_si512(from) }
}

/// # Safety
/// `to` is valid for writing one aligned vector.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn store(to: *mut V, value: V) {
    // SAFETY: required of the caller.
    unsafe { _mm512_store_si512(to, value) }
}

/// Multiplies one digit `y` by the rows `x`. The products are added to the window, which starts at the column
/// of `x[0] y`. Then the window moves up by one column: `entering` enters, and the lowest column is returned.
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

/// The columns of an unfinished product. The columns from `fresh` on have not been written yet and count as
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
        // SAFETY: required of the caller.
        if index < self.fresh { unsafe { load(self.at.add(index)) } } else { zero() }
    }

    /// # Safety
    /// There is a column `index`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn set(self, index: usize, value: V) {
        // SAFETY: required of the caller.
        unsafe { store(self.at.add(index), value) }
    }
}

/// Steps `from..n` of the rows `x` along `y`. When digit `from` is due, the window holds columns
/// `column..column + R` of `t`. All columns end up in `t`.
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
    // SAFETY: all offsets are within the bounds required of the caller.
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
    // SAFETY: required of the caller.
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

/// The part of a square that contains the first `R` of `n` digits. Cross products are computed once. No later
/// digit adds to columns below `2 R`, so these are then doubled, and the squares of the digits are added.
///
/// # Safety
/// `x` has `n >= R` digits, `t` has `n + R` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn square_rows<const R: usize>(t: Columns, x: *const V, n: usize) {
    // SAFETY: required of the caller.
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
                if const { I < J && I + J < R } {
                    below[I + J] = low(below[I + J], rows[I], rows[J]);
                } else if const { I < J } {
                    window[I + J - R] = low(window[I + J - R], rows[I], rows[J]);
                }
            });
            unroll!(J < R, {
                if const { I < J && I + J + 1 < R } {
                    below[I + J + 1] = high(below[I + J + 1], rows[I], rows[J]);
                } else if const { I < J } {
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

/// Twice the cross products of a column, plus its half of the square of a digit.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn double_with_diagonal(index: usize, column: V, digit: V) -> V {
    let doubled = plus(column, column);
    if index.is_multiple_of(2) { low(doubled, digit, digit) } else { high(doubled, digit, digit) }
}

/// The destination of the columns of a fold, from the lowest up.
pub(super) trait Sink {
    /// Takes the lowest column.
    ///
    /// # Safety
    /// The processor has AVX-512 IFMA, and the sink has room for every column of the fold.
    unsafe fn first(&mut self, column: V);
    /// Takes a column between the lowest and the highest.
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

/// Folds `R` low digits of `t` away one by one: `t <- floor(t / 2^52) + (t mod 2^52) m` with
/// `m = 2^-52 mod N`. This divides t by `2^(52 R)` modulo N. Columns `R..R + n + 1` are the result and go to
/// the sink.
///
/// # Safety
/// `m` has `n >= R` digits, `t` has `n + R + 1` columns, and the sink takes `n + 1` of them.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn fold<const R: usize>(t: *const V, m: *const V, n: usize, mut sink: impl Sink) {
    let mut digits = [zero(); R];
    let mut window = [zero(); R];
    // SAFETY: required of the caller.
    unsafe {
        unroll!(I < R, {
            digits[I] = load(t.add(I));
            window[I] = load(t.add(R + I));
        });
        // Digit i times m_j belongs to column i + j + 1, and its high half to column i + j + 2. Each digit,
        // once known, is multiplied by all of m_0 .. m_(R-2). The products above the triangle of columns
        // below R keep the multipliers busy while the next digit waits for its carry.
        unroll!(I < R, {
            let digit = digits[I];
            unroll!(J < R - 1, {
                let m_j = load(m.add(J));
                if const { I + J + 1 < R } {
                    digits[I + J + 1] = low(digits[I + J + 1], digit, m_j);
                } else {
                    window[I + J + 1 - R] = low(window[I + J + 1 - R], digit, m_j);
                }
            });
            if const { I + 1 < R } {
                digits[I + 1] = plus(digits[I + 1], carry(digit));
            } else {
                window[0] = plus(window[0], carry(digit));
            }
            unroll!(J < R - 1, {
                let m_j = load(m.add(J));
                if const { I + J + 2 < R } {
                    digits[I + J + 2] = high(digits[I + J + 2], digit, m_j);
                } else {
                    window[I + J + 2 - R] = high(window[I + J + 2 - R], digit, m_j);
                }
            });
        });
        // The rest is a tile: m_(R-1) and the digits above it are streamed.
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

/// A sink that stores the columns in memory.
pub(super) struct Store(pub(super) *mut V);

impl Sink for Store {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn first(&mut self, column: V) {
        // SAFETY: required of the caller.
        unsafe { self.next(column) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn next(&mut self, column: V) {
        // SAFETY: required of the caller.
        unsafe {
            store(self.0, column);
            self.0 = self.0.add(1);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn last(&mut self, column: V) {
        // SAFETY: required of the caller.
        unsafe { self.next(column) }
    }
}

/// A sink that applies a Montgomery step for the last digit, column by column, and resolves all carries:
/// `(t + q N) / 2^52` for `q = -t / N mod 2^52`. The digits of the result go to `out`; the bits above bit 51
/// of a word have been carried into the next word.
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
        // SAFETY: required of the caller of `new`.
        unsafe {
            store(self.out, digit);
            self.out = self.out.add(1);
        }
        self.passed = carry(digit);
    }

    /// Applies the step to columns in memory.
    ///
    /// # Safety
    /// `t` has `n + 1` columns, where `n` is the number of digits given to `new`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) unsafe fn run(mut self, t: *const V, n: usize) {
        // SAFETY: required of the caller.
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
    /// Column 0, which the quotient cancels.
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
        // SAFETY: required of the caller of `new`.
        unsafe {
            self.modulus = self.modulus.add(1);
            self.digit_of_modulus = load(self.modulus);
            self.put(low(column, self.quotient, self.digit_of_modulus));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn last(&mut self, column: V) {
        // SAFETY: required of the caller of `new`.
        unsafe { self.put(high(column, self.quotient, self.digit_of_modulus)) }
    }
}

/// Resolves the carries of columns into plain digits, in place.
///
/// # Safety
/// `t` has `n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn normalize(t: *mut V, n: usize) {
    let mask = _mm512_set1_epi64((1 << 52) - 1);
    let mut passed = zero();
    // SAFETY: required of the caller.
    unsafe {
        for j in 0..n {
            let column = plus(load(t.add(j)), passed);
            store(t.add(j), _mm512_and_si512(column, mask));
            passed = carry(column);
        }
    }
}
