//! The ranges of every stage of a product, and the inequalities that make it exact.
//!
//! Values are lazy: the largest value of a stage follows from the largest values of the stage before.
//! The result of a product is the input of the next, so the largest values of the state are the
//! smallest fixed point of that recurrence. The fixed point is found channel by channel from the actual
//! entries of the matrices.

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
    /// The residues of Montgomery's quotient in base A.
    pub q: Vec<u64>,
    /// `xi xi` in base A.
    pub square_a: Vec<u64>,
    /// The largest sum of two products that is reduced in base A.
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
        // The input of a power is a reduced product of canonical residues, which is below 2p.
        let mut state: Vec<u64> = a.iter().map(|channel| 2 * u64::from(channel.p) - 1).collect();
        loop {
            let mut step = Self::step(a, b, a_to_b, b_to_a, &state);
            for (new, &old) in step.ranges.xi_a.iter_mut().zip(&state) {
                *new = old.max(*new);
            }
            if step.ranges.xi_a == state || !step.holds() {
                return step;
            }
            state = step.ranges.xi_a;
        }
    }

    /// The bounds with other matrices of the same bases, from the bounds `other` of the first matrices in one step.
    /// The step starts from words a little above those of `other`, and the product must not exceed them. `None` if
    /// it does, if an inequality fails, or if the quotient has another precision.
    #[must_use]
    pub fn like(
        other: &Self,
        a: &[Channel],
        b: &[Channel],
        a_to_b: &Matrix,
        b_to_a: &Matrix,
    ) -> Option<Self> {
        let state: Vec<u64> = other.ranges.xi_a.iter().map(|&xi| xi + xi / 40).collect();
        let mut step = Self::step(a, b, a_to_b, b_to_a, &state);
        let stays = step.ranges.xi_a.iter().zip(&state).all(|(new, old)| new <= old);
        step.ranges.xi_a = state;
        (stays && step.holds() && step.quotient.precision == other.quotient.precision).then_some(step)
    }

    /// The bounds of one product whose input words are at most `state`.
    fn step(a: &[Channel], b: &[Channel], a_to_b: &Matrix, b_to_a: &Matrix, state: &[u64]) -> Self {
        let quotient = Quotient::new(a, state);
        let (mut low_sum, mut high_sum) = (0, 0);
        let mut extend = |matrix: &Matrix, words: &[u64], k: u64, to: &[Channel]| -> Vec<u64> {
            let fold = |(index, channel): (usize, &Channel)| {
                let sums = matrix.sums(index, words, k);
                low_sum = low_sum.max(sums.low);
                high_sum = high_sum.max(sums.high);
                (sums.low >> 16) + sums.high + 0xffff * u64::from(channel.h)
            };
            to.iter().enumerate().map(fold).collect()
        };
        let x = extend(a_to_b, state, quotient.largest, b);
        let square_b = each(b, &x, |p, x| redc(x, x, p));
        // A square is multiplied by the constant c < p, x by a table factor below p. Where c is merged into the
        // matrix, the square itself enters the extension.
        let xi_b = each2(b, &square_b, &x, |p, u, x| redc(u.max(x), p - 1, p).max(u));
        let q = extend(b_to_a, &xi_b, 0, a);
        let square_a = each(a, state, |p, xi| redc(xi, xi, p));
        // A square is multiplied by the constant C < p, the state by a table factor below p.
        let factor: Vec<u64> = square_a.iter().zip(state).map(|(&square, &xi)| square.max(xi)).collect();
        let combined: Vec<u128> = a
            .iter()
            .zip(q.iter().zip(&factor))
            .map(|(channel, (&q, &factor))| u128::from(channel.p - 1) * u128::from(q + factor))
            .collect();
        let xi_a = a
            .iter()
            .zip(&combined)
            .map(|(channel, &sum)| (sum >> 32) as u64 + u64::from(channel.p))
            .collect();
        let excess = sum_of_fractions(b, &xi_b);
        let growth = (5 * excess).div_ceil(4) + 1;
        // Values may be negative where a modulus is merged, so both errors need the same room.
        let slack = HALF.saturating_sub(quotient.error_above.max(quotient.error_below)).max(1);
        Self {
            ranges: Ranges { xi_a, x, square_b, xi_b, q, square_a, combined },
            low_sum,
            high_sum,
            quotient,
            excess,
            growth,
            room_a: (u128::from(growth) << 64).div_ceil(slack),
            room_b: u128::from(growth * growth).div_ceil(u128::from(growth - excess)),
            rows: a_to_b.column(0).len().max(b_to_a.column(0).len()),
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
