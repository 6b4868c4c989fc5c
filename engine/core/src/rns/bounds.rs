//! The ranges of every stage of a product, and the inequalities that make it exact.
//!
//! Values are lazy: the largest value of a stage follows from the largest values of the stage before.
//! The result of a product is the input of the next, so the largest values of the state are the
//! smallest fixed point of that recurrence. The fixed point is found channel by channel from the actual
//! entries of the matrices.

use super::matrix::Sums;
use super::quotient::HALF;
use super::{Channel, Matrix, Quotient};

/// One inequality: `value < limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// The name of the bounded value.
    pub what: &'static str,
    /// The largest value, or a bound on it.
    pub value: u128,
    /// The limit that the value must stay below.
    pub limit: u128,
}

impl Evidence {
    /// Whether the inequality holds.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.value < self.limit
    }

    /// The unused fraction of the limit.
    #[must_use]
    pub fn margin(&self) -> f64 {
        1.0 - self.value as f64 / self.limit as f64
    }
}

/// The largest values of a product's stages, channel by channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges {
    /// The state: `xi_j = x / A_j` modulo the primes of A.
    pub xi_a: Vec<u64>,
    /// The residues of x in base B, after the first extension.
    pub x: Vec<u64>,
    /// `x x` in base B.
    pub square_b: Vec<u64>,
    /// The words that enter the second extension.
    pub xi_b: Vec<u64>,
    /// The residues of Montgomery's quotient in base A; empty where a modulus is merged into the matrices.
    pub q: Vec<u64>,
    /// `xi xi` in base A.
    pub square_a: Vec<u64>,
    /// The largest sum of two products that is reduced in base A; empty where a modulus is merged into the
    /// matrices.
    pub combined: Vec<u128>,
}

/// Every bound of a pair of bases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Ranges of the stages.
    pub ranges: Ranges,
    /// The largest low sum of a column, `c0 + 2^8 c1`, of either matrix.
    pub low_sum: u64,
    /// The largest high sum, `c2 + 2^8 c3`.
    pub high_sum: u64,
    /// The approximation of the first extension's quotient.
    pub quotient: Quotient,
    /// How far the unreduced Montgomery quotient may exceed B: the largest `sum_i xi_i / b_i`,
    /// rounded up.
    pub excess: u64,
    /// The factor c such that values stay below c N: `c >= excess + c^2 N / B`.
    pub growth: u64,
    /// The least ratio `A / 2^bits` for moduli of `bits` bits.
    pub room_a: u128,
    /// The least ratio `B / 2^bits` for moduli of `bits` bits.
    pub room_b: u128,
    rows: usize,
}

const WORD: u64 = 1 << 32;

impl Bounds {
    /// The bounds of two bases with their matrices.
    #[must_use]
    pub fn new(a: &[Channel], b: &[Channel], a_to_b: &Matrix, b_to_a: &Matrix) -> Self {
        Self::fixed_point(a, |state| {
            let quotient = Quotient::new(a, state);
            let mut sums = Sums { low: 0, high: 0 };
            let x = extend(a_to_b, state, |_| quotient.largest, b, &mut sums);
            let square_b = each(b, &x, |p, x| redc(x, x, p));
            // A square is multiplied by the constant c < p, x by a table factor below p.
            let xi_b = each2(b, &square_b, &x, |p, u, x| redc(u.max(x), p - 1, p));
            let q = extend(b_to_a, &xi_b, |_| 0, a, &mut sums);
            let square_a = each(a, state, |p, xi| redc(xi, xi, p));
            // A square is multiplied by the constant C < p, the state by a table factor below p.
            let factor = each2(a, &square_a, state, |_, square, xi| square.max(xi));
            let products = a.iter().zip(q.iter().zip(&factor));
            let combined: Vec<u128> = products
                .map(|(channel, (&q, &factor))| u128::from(channel.p - 1) * u128::from(q + factor))
                .collect();
            let reduced = a.iter().zip(&combined);
            let xi_a = reduced.map(|(channel, &sum)| (sum >> 32) as u64 + u64::from(channel.p)).collect();
            let ranges = Ranges { xi_a, x, square_b, xi_b, q, square_a, combined };
            Self::of(ranges, sums, quotient, b, [a_to_b, b_to_a])
        })
    }

    /// The bounds with matrices that a modulus is merged into ([`super::Merged`]). The approximate quotient
    /// keeps its `precision`, which is compiled into kernels.
    #[must_use]
    pub fn merged(precision: u32, a: &[Channel], b: &[Channel], a_to_b: &Matrix, b_to_a: &Matrix) -> Self {
        Self::fixed_point(a, |state| {
            let quotient = Quotient::with_precision(a, state, precision);
            let mut sums = Sums { low: 0, high: 0 };
            let x = extend(a_to_b, state, |_| quotient.largest, b, &mut sums);
            let square_b = each(b, &x, |p, x| redc(x, x, p));
            // x is multiplied by itself, or by a table factor below p.
            let xi_b = each(b, &x, |p, x| redc(x, x.max(p - 1), p));
            // The state is multiplied by itself, or by a table factor that was a state.
            let square_a = each(a, state, |p, xi| redc(xi, xi, p));
            let xi_a = extend(b_to_a, &xi_b, |place| square_a[place], a, &mut sums);
            let (q, combined) = (Vec::new(), Vec::new());
            let ranges = Ranges { xi_a, x, square_b, xi_b, q, square_a, combined };
            Self::of(ranges, sums, quotient, b, [a_to_b, b_to_a])
        })
    }

    /// The bounds of a product whose result does not exceed its input. `product` computes them from bounds on
    /// the input.
    fn fixed_point(a: &[Channel], product: impl Fn(&[u64]) -> Self) -> Self {
        // The input of a power is a reduced product of canonical residues, which is below 2p.
        let mut state: Vec<u64> = a.iter().map(|channel| 2 * u64::from(channel.p) - 1).collect();
        loop {
            let mut bounds = product(&state);
            for (new, &old) in bounds.ranges.xi_a.iter_mut().zip(&state) {
                *new = old.max(*new);
            }
            if bounds.ranges.xi_a == state || !bounds.holds() {
                return bounds;
            }
            state = bounds.ranges.xi_a;
        }
    }

    /// The bounds that follow from the ranges of a product, whose sums and quotient are given.
    fn of(ranges: Ranges, sums: Sums, quotient: Quotient, b: &[Channel], matrices: [&Matrix; 2]) -> Self {
        let excess = sum_of_fractions(b, &ranges.xi_b);
        let growth = (5 * excess).div_ceil(4) + 1;
        // Values may be negative where a modulus is merged, so both errors need the same room.
        let slack = HALF.saturating_sub(quotient.error_above.max(quotient.error_below)).max(1);
        Self {
            ranges,
            low_sum: sums.low,
            high_sum: sums.high,
            quotient,
            excess,
            growth,
            room_a: (u128::from(growth) << 64).div_ceil(slack),
            room_b: u128::from(growth * growth).div_ceil(u128::from(growth - excess)),
            rows: matrices.map(|matrix| matrix.column(0).len()).into_iter().max().unwrap_or(0),
        }
    }

    /// Every inequality that does not depend on the modulus.
    ///
    /// The modulus needs room: `2^bits room_a <= A` and `2^bits room_b <= B` for moduli of at most `bits`
    /// bits. [`super::Bases::capacity_bits`] is the greatest such `bits`.
    #[must_use]
    pub fn evidence(&self) -> Vec<Evidence> {
        let Ranges { xi_a, x, square_b, xi_b, q, square_a, combined } = &self.ranges;
        let below = |what: &'static str, value: u128, limit: u128| Evidence { what, value, limit };
        let word = |what: &'static str, values: &[u64]| {
            below(what, values.iter().copied().max().unwrap_or(0).into(), WORD.into())
        };
        vec![
            below("a column of bytes, in a signed accumulator", self.rows as u128 * 0xff * 0xff, 1 << 31),
            word("the high sum of a column", &[self.high_sum]),
            word("x in base B", x),
            word("the square of x in base B", square_b),
            word("xi in base B", xi_b),
            word("q in base A", q),
            word("the square of xi in base A", square_a),
            below("q n + p C in base A", combined.iter().copied().max().unwrap_or(0), 1 << 64),
            word("xi in base A", xi_a),
            below("the approximate quotient", self.quotient.largest.into(), 1 << 16),
            word("the sum behind it", &[self.quotient.largest_sum]),
            below("its error downwards, 2^-64", self.quotient.error_below, HALF),
            below("its error upwards, 2^-64", self.quotient.error_above, HALF),
        ]
    }

    /// Whether every inequality of [`Bounds::evidence`] holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.evidence().iter().all(Evidence::holds)
    }
}

/// The largest residues in base `to` after an extension of `words`, where the last word of a column is at
/// most `last` of its place. `sums` takes the largest sums of a column.
fn extend(
    matrix: &Matrix,
    words: &[u64],
    last: impl Fn(usize) -> u64,
    to: &[Channel],
    sums: &mut Sums,
) -> Vec<u64> {
    let fold = |(place, channel): (usize, &Channel)| {
        let column = matrix.sums(place, words, last(place));
        *sums = Sums { low: sums.low.max(column.low), high: sums.high.max(column.high) };
        (column.low >> 16) + column.high + 0xffff * u64::from(channel.h)
    };
    to.iter().enumerate().map(fold).collect()
}

/// The largest result of [`Channel::redc`] for a product of words up to `a` and `b`.
fn redc(a: u64, b: u64, p: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 32) as u64 + p
}

fn each(base: &[Channel], values: &[u64], stage: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    base.iter().zip(values).map(|(channel, &value)| stage(channel.p.into(), value)).collect()
}

fn each2(base: &[Channel], a: &[u64], b: &[u64], stage: impl Fn(u64, u64, u64) -> u64) -> Vec<u64> {
    base.iter().zip(a.iter().zip(b)).map(|(channel, (&a, &b))| stage(channel.p.into(), a, b)).collect()
}

/// `sum_i value_i / p_i`, rounded up.
fn sum_of_fractions(base: &[Channel], values: &[u64]) -> u64 {
    let term = |(channel, &value): (&Channel, &u64)| (value << 24).div_ceil(channel.p.into());
    base.iter().zip(values).map(term).sum::<u64>().div_ceil(1 << 24)
}
