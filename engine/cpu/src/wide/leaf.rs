//! The inner loops, generic over the vector. They are inlined into functions that are compiled for the
//! vector's instruction set and check the lengths (see [`super::leaves`]).
#![allow(unsafe_code)]

use super::samples::{MANTISSA, Samples, UNIT, bias, make_initial};

/// Runs `$step` for each literal below `ROWS`, unrolled, with the literal as a constant.
macro_rules! below {
    ($rows:ident, $k:ident => $step:expr) => {
        below!(@ $rows, $k => $step; 1 2 3 4 5 6 7)
    };
    (@ $rows:ident, $k:ident => $step:expr; $($value:literal)+) => {
        $({
            const $k: usize = $value;
            if $k < $rows {
                $step;
            }
        })+
    };
}

/// The low and high sums of one column: the totals of earlier chains, and the current chain.
#[derive(Clone, Copy)]
struct Sums<S> {
    low: S,
    high: S,
    chain_low: S,
    chain_high: S,
}

impl<S: Samples> Sums<S> {
    /// # Safety
    /// The processor has the instruction set. The same holds for all functions below.
    #[inline(always)]
    unsafe fn new() -> Self {
        // SAFETY: required of the caller.
        let zero = unsafe { S::splat(0) };
        Self { low: zero, high: zero, chain_low: zero, chain_high: zero }
    }

    /// Adds `a b`, the product number `index` of the column.
    ///
    /// The first product of a chain is split as in [Emmart-wide], figure 3. Each further product is added to
    /// the high sum in floating point. The growth of the high sum is the product's high half; the rest of the
    /// product is its low half (see docs/algorithms/wide.md).
    ///
    /// # Safety
    /// The processor has the instruction set.
    #[inline(always)]
    unsafe fn take(&mut self, index: usize, a: S, b: S) {
        // SAFETY: required of the caller.
        unsafe {
            if index.is_multiple_of(S::CHAIN) {
                if index > 0 {
                    (self.low, self.high) = self.bits();
                }
                self.chain_high = a.fma(b, S::splat(S::HIGH.to_bits()));
                self.chain_low = a.fma(b, S::splat(S::BOTH.to_bits()).minus(self.chain_high));
            } else {
                let next = a.fma(b, self.chain_high);
                self.chain_low = self.chain_low.plus(a.fma(b, self.chain_high.minus(next)));
                self.chain_high = next;
            }
        }
    }

    /// The bits of the low and high sums, exponents included.
    ///
    /// # Safety
    /// The processor has the instruction set.
    #[inline(always)]
    unsafe fn bits(self) -> (S, S) {
        // SAFETY: required of the caller.
        unsafe { (self.low.add(self.chain_low), self.high.add(self.chain_high)) }
    }
}

/// The products of one column: `held[i] * stream[c - i]` for `i` in `FROM..TO`. `newest` points to
/// `stream[c]`.
///
/// # Safety
/// The processor has the instruction set, and the samples are within the allocation of `newest`.
#[inline(always)]
unsafe fn column<S: Samples, const ROWS: usize, const FROM: usize, const TO: usize>(
    held: &[S; ROWS],
    newest: *const u64,
) -> (S, S) {
    // SAFETY: required of the caller.
    unsafe {
        let mut sums = Sums::new();
        let mut i = FROM;
        while i < TO {
            sums.take(i - FROM, held[i], S::load(newest.wrapping_sub(i * S::LANES)));
            i += 1;
        }
        sums.bits()
    }
}

/// Adds the full columns `from..to` to memory.
///
/// # Safety
/// The processor has the instruction set, and `stream` holds samples `from - ROWS + 1..to`.
#[inline(always)]
unsafe fn interior<S: Samples, const ROWS: usize>(
    columns: *mut u64,
    held: &[S; ROWS],
    stream: *const u64,
    from: usize,
    to: usize,
    pending: &mut S,
) {
    // SAFETY: required of the caller.
    unsafe {
        let mut c = from;
        // Two columns are interleaved, because the products within one column depend on each other.
        while c + 2 <= to {
            let newest = stream.add(c * S::LANES);
            let (mut first, mut second) = (Sums::new(), Sums::new());
            let mut b = S::load(newest.add(S::LANES));
            let mut i = 0;
            while i < ROWS {
                let older = S::load(newest.wrapping_sub(i * S::LANES));
                second.take(i, held[i], b);
                first.take(i, held[i], older);
                b = older;
                i += 1;
            }
            settle(columns.add(c * S::LANES), first.bits(), pending);
            settle(columns.add((c + 1) * S::LANES), second.bits(), pending);
            c += 2;
        }
        if c < to {
            let c = c * S::LANES;
            settle(columns.add(c), column::<S, ROWS, 0, ROWS>(held, stream.add(c)), pending);
        }
    }
}

/// Adds a column to memory, together with the high halves of the column below.
///
/// # Safety
/// The processor has the instruction set, and `to` is valid.
#[inline(always)]
unsafe fn settle<S: Samples>(to: *mut u64, (low, high): (S, S), pending: &mut S) {
    // SAFETY: required of the caller.
    unsafe { S::load(to).add(*pending).add(low).store(to) };
    *pending = high;
}

/// `columns += held * stream` for `ROWS` held samples and `count >= ROWS` streamed samples. `HEAD` computes
/// the columns below `split`, `TAIL` the columns from `split` up, where `ROWS <= split <= count`. A head
/// alone also adds the high halves from below to column `split`.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `count + ROWS` vectors, `held` holds
/// `ROWS` and `stream` holds `count`.
#[inline(always)]
pub(crate) unsafe fn pass<S: Samples, const ROWS: usize, const HEAD: bool, const TAIL: bool>(
    columns: *mut u64,
    held: *const u64,
    stream: *const u64,
    count: usize,
    split: usize,
) {
    // SAFETY: column c reads stream[c - i], which is within 0..count for the rows of that column.
    unsafe {
        let held: [S; ROWS] = load_all(held);
        let mut pending = S::splat(0);
        if HEAD {
            below!(ROWS, K => {
                let c = (K - 1) * S::LANES;
                settle(columns.add(c), column::<S, ROWS, 0, K>(&held, stream.add(c)), &mut pending);
            });
        }
        let from = if HEAD { ROWS - 1 } else { split };
        let to = if TAIL { count } else { split };
        interior(columns, &held, stream, from, to, &mut pending);
        if TAIL {
            below!(ROWS, K => {
                let c = (count - 1 + K) * S::LANES;
                settle(columns.add(c), column::<S, ROWS, K, ROWS>(&held, stream.wrapping_add(c)), &mut pending);
            });
        }
        let top = if TAIL { count - 1 + ROWS } else { split };
        let top = columns.add(top * S::LANES);
        S::load(top).add(pending).store(top);
    }
}

/// Adds the products `x[i] x[j]` with `i < ROWS` and `i < j < count` to the columns, for
/// `count >= 2 ROWS - 1`.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `count + ROWS` vectors and `x` holds
/// `count`.
#[inline(always)]
pub(crate) unsafe fn cross_pass<S: Samples, const ROWS: usize>(
    columns: *mut u64,
    x: *const u64,
    count: usize,
) {
    // SAFETY: column c reads x[c - i], which is within 0..count for the rows of that column.
    unsafe {
        let held: [S; ROWS] = load_all(x);
        let mut pending = S::splat(0);
        // Column c contains the rows i < c / 2.
        below!(ROWS, K => {
            for c in [2 * K - 1, 2 * K] {
                let c = c * S::LANES;
                settle(columns.add(c), column::<S, ROWS, 0, K>(&held, x.add(c)), &mut pending);
            }
        });
        interior(columns, &held, x, 2 * ROWS - 1, count, &mut pending);
        below!(ROWS, K => {
            let c = (count - 1 + K) * S::LANES;
            settle(columns.add(c), column::<S, ROWS, K, ROWS>(&held, x.wrapping_add(c)), &mut pending);
        });
        let top = columns.add((count - 1 + ROWS) * S::LANES);
        S::load(top).add(pending).store(top);
    }
}

/// `columns <- 2 columns + squares of x`.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `2 count` vectors and `x` holds `count`.
#[inline(always)]
pub(crate) unsafe fn double_and_square<S: Samples>(columns: *mut u64, x: *const u64, count: usize) {
    // SAFETY: required of the caller.
    unsafe {
        for i in 0..count {
            let (low, high) = column::<S, 1, 0, 1>(&[S::load(x.add(i * S::LANES))], x.add(i * S::LANES));
            for (half, to) in [(low, 2 * i), (high, 2 * i + 1)] {
                let to = columns.add(to * S::LANES);
                let sum = S::load(to);
                sum.add(sum).add(half).store(to);
            }
        }
    }
}

/// Resolves the carries of `ROWS` columns into samples and adds the carry to the column above. With `again`,
/// the columns are set to their digits plus those words.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `ROWS + 1` vectors and `out` holds `ROWS`.
#[inline(always)]
pub(crate) unsafe fn low_samples<S: Samples, const ROWS: usize>(
    columns: *mut u64,
    out: *mut u64,
    again: Option<&[u64; ROWS]>,
) {
    // SAFETY: required of the caller.
    unsafe {
        let mut carry = S::splat(0);
        for i in 0..ROWS {
            let from = columns.add(i * S::LANES);
            let digit = split(S::load(from), &mut carry);
            to_double(digit).store(out.add(i * S::LANES));
            if let Some(again) = again {
                digit.add(S::splat(again[i])).store(from);
            }
        }
        let above = columns.add(ROWS * S::LANES);
        S::load(above).add(carry).store(above);
    }
}

/// `out <- low * inverse mod 2^(WIDTH ROWS)`, with carries resolved.
///
/// # Safety
/// The processor has the instruction set. All three pointers hold `ROWS` vectors.
#[inline(always)]
pub(crate) unsafe fn quotient<S: Samples, const ROWS: usize>(
    low: *const u64,
    inverse: *const u64,
    out: *mut u64,
) {
    // SAFETY: required of the caller.
    unsafe {
        let held: [S; ROWS] = load_all(low);
        let (mut pending, mut carry) = (S::splat(0), S::splat(0));
        let chains = |products: usize| products.div_ceil(S::CHAIN) as u64;
        let start = |k: usize| make_initial::<S>(chains(k - 1), chains(k)).wrapping_add(bias::<S>(k - 1));
        below!(ROWS, K => {
            let c = (K - 1) * S::LANES;
            let (sum, high) = column::<S, ROWS, 0, K>(&held, inverse.add(c));
            let sum = S::splat(start(K)).add(pending).add(sum);
            to_double(split(sum, &mut carry)).store(out.add(c));
            pending = high;
        });
        let c = (ROWS - 1) * S::LANES;
        let (sum, _) = column::<S, ROWS, 0, ROWS>(&held, inverse.add(c));
        let sum = S::splat(start(ROWS)).add(pending).add(sum);
        to_double(split(sum, &mut carry)).store(out.add(c));
    }
}

/// Resolves `skip + count` columns into samples. The first `skip` columns contribute their carries only. The
/// last carry is dropped, since the result is known to fit.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `skip + count` vectors and `out` holds
/// `count`.
#[inline(always)]
pub(crate) unsafe fn finish<S: Samples>(columns: *const u64, skip: usize, out: *mut u64, count: usize) {
    // SAFETY: required of the caller.
    unsafe {
        let mut carry = S::splat(0);
        for i in 0..skip {
            split(S::load(columns.add(i * S::LANES)), &mut carry);
        }
        let columns = columns.add(skip * S::LANES);
        for i in 0..count {
            let digit = split(S::load(columns.add(i * S::LANES)), &mut carry);
            to_double(digit).store(out.add(i * S::LANES));
        }
    }
}

/// Resolves `count` columns into plain digits, in place.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `count` vectors.
#[inline(always)]
pub(crate) unsafe fn finish_plain<S: Samples>(columns: *mut u64, count: usize) {
    // SAFETY: required of the caller.
    unsafe {
        let mut carry = S::splat(0);
        for i in 0..count {
            let to = columns.add(i * S::LANES);
            split(S::load(to), &mut carry).store(to);
        }
    }
}

/// Sets every lane of column i to `words[i]`.
///
/// # Safety
/// The processor has the instruction set. `columns` holds `words.len()` vectors.
#[inline(always)]
pub(crate) unsafe fn fill<S: Samples>(columns: *mut u64, words: &[u64]) {
    for (i, &word) in words.iter().enumerate() {
        // SAFETY: required of the caller.
        unsafe { S::splat(word).store(columns.add(i * S::LANES)) };
    }
}

/// `x <- x + y`, with carries resolved. The last carry is dropped.
///
/// # Safety
/// The processor has the instruction set. `x` and `y` hold `count` vectors.
#[inline(always)]
pub(crate) unsafe fn add<S: Samples>(x: *mut u64, y: *const u64, count: usize) {
    // SAFETY: required of the caller.
    unsafe {
        let mut carry = S::splat(0);
        for i in 0..count {
            let to = x.add(i * S::LANES);
            let sum = to_integer(S::load(to)).add(to_integer(S::load(y.add(i * S::LANES))));
            to_double(split(sum, &mut carry)).store(to);
        }
    }
}

/// Converts plain digits to samples.
///
/// # Safety
/// The processor has the instruction set. Both pointers hold `count` vectors.
#[inline(always)]
pub(crate) unsafe fn convert<S: Samples>(plain: *const u64, out: *mut u64, count: usize) {
    for i in (0..count).map(|i| i * S::LANES) {
        // SAFETY: required of the caller.
        unsafe { to_double(S::load(plain.add(i))).store(out.add(i)) };
    }
}

/// # Safety
/// The processor has the instruction set, and `from` holds `ROWS` vectors.
#[inline(always)]
unsafe fn load_all<S: Samples, const ROWS: usize>(from: *const u64) -> [S; ROWS] {
    // SAFETY: required of the caller.
    unsafe {
        let mut all = [S::splat(0); ROWS];
        for (i, vector) in all.iter_mut().enumerate() {
            *vector = S::load(from.add(i * S::LANES));
        }
        all
    }
}

/// Splits a column plus the incoming carry into its digit and the outgoing carry.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn split<S: Samples>(column: S, carry: &mut S) -> S {
    // SAFETY: required of the caller.
    unsafe {
        let sum = column.add(*carry);
        *carry = sum.carry();
        sum.and(S::splat(MANTISSA >> (52 - S::WIDTH)))
    }
}

/// Converts an integer below `2^52` to a double.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn to_double<S: Samples>(integer: S) -> S {
    // SAFETY: required of the caller.
    unsafe {
        let unit = S::splat(UNIT.to_bits());
        integer.or(unit).minus(unit)
    }
}

/// Converts an integral double of at most `2^52` to an integer.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn to_integer<S: Samples>(double: S) -> S {
    // SAFETY: required of the caller.
    unsafe { double.plus(S::splat(UNIT.to_bits())).add(S::splat(UNIT.to_bits().wrapping_neg())) }
}
