//! Quotients and remainders of numbers, or of products, by divisors of as many limbs each.

use super::estimate::{leading, nearest, negated_reciprocal, signed};
use super::rows::{add_row, add_two_rows, add_where, carry, pass_carries};
use super::{GROUPS, ROWS, shift};
use crate::divsteps::conversion::{gather, join, scatter, split};
use crate::divsteps::vector::Vector;
use crate::divsteps::{DIGIT, Space};
use modmill_core::limbs::bit_length;
use std::ops::Range;

/// Numbers of a declared width.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a> {
    pub(crate) limbs: &'a [&'a [u64]],
    pub(crate) bits: usize,
}

impl Numbers<'_> {
    fn some(self, items: Range<usize>) -> Self {
        Self { limbs: &self.limbs[items], bits: self.bits }
    }
}

/// The dividend, which is the number a or the product a b, and the divisors.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) a: Numbers<'a>,
    pub(crate) b: Option<Numbers<'a>>,
    pub(crate) divisors: &'a [&'a [u64]],
    /// The [`common_limbs`] of the divisors.
    pub(crate) limbs: usize,
}

impl Inputs<'_> {
    /// Some of the items.
    fn some(&self, items: Range<usize>) -> Self {
        Self {
            a: self.a.some(items.clone()),
            b: self.b.map(|b| b.some(items.clone())),
            divisors: &self.divisors[items],
            limbs: self.limbs,
        }
    }
}

/// Rows of answers.
pub(crate) struct Rows<'a> {
    pub(crate) limbs: &'a mut [u64],
    /// The limbs of a row; zero if the answers are not wanted.
    pub(crate) stride: usize,
}

impl<'a> Rows<'a> {
    /// Takes the first rows, as many as there are, up to `count`.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: usize) -> Self {
        let rest = std::mem::take(&mut self.limbs);
        let size = (count * self.stride).min(rest.len());
        let limbs;
        (limbs, self.limbs) = rest.split_at_mut(size);
        Self { limbs, stride: self.stride }
    }
}

/// The quotients and the remainders.
pub(crate) type Outputs<'a> = [Rows<'a>; 2];

/// The number of limbs of all divisors without leading zeros, if they have as many and none is zero.
pub(crate) fn common_limbs(divisors: &[&[u64]]) -> Option<usize> {
    let limbs =
        divisors.first().map(|divisor| bit_length(divisor).div_ceil(64)).filter(|&limbs| limbs > 0)?;
    let has_as_many = |n: &&[u64]| {
        let (low, above) = n.split_at_checked(limbs).unwrap_or_default();
        low.last().is_some_and(|&top| top > 0) && above.iter().all(|&limb| limb == 0)
    };
    divisors.iter().all(has_as_many).then_some(limbs)
}

/// The lengths of a division. All numbers are shifted up by `offset` bits, and by the bits that the divisor
/// of a lane lacks, so that the highest digit of a divisor has its top bit set.
#[derive(Clone, Copy)]
struct Lengths {
    /// Limbs of the divisors.
    limbs: usize,
    /// Digits of the divisors.
    divisor: usize,
    offset: usize,
    /// Digits of the dividend.
    dividend: usize,
    /// Digits of the factors of the dividend.
    factors: [usize; 2],
    /// Limbs of the longest number.
    columns: usize,
}

impl Lengths {
    fn new(inputs: &Inputs<'_>) -> Self {
        let width = DIGIT as usize;
        let limbs = inputs.limbs;
        let shifts = inputs.divisors.iter().map(|n| n[limbs - 1].leading_zeros());
        let longest_shift = shifts.max().unwrap_or_default() as usize;
        let divisor = (64 * limbs).div_ceil(width);
        let offset = width * divisor - 64 * limbs;
        let shifted = |bits: usize| (bits + offset + longest_shift).div_ceil(width);
        let (factors, dividend) = match inputs.b {
            // The digits of a are signed.
            Some(b) => {
                let factors = [(inputs.a.bits + 1).div_ceil(width), shifted(b.bits)];
                (factors, factors[0] + factors[1])
            }
            None => ([0; 2], shifted(inputs.a.bits)),
        };
        let longest = inputs.a.bits.max(inputs.b.map_or(0, |b| b.bits)).div_ceil(64);
        Self {
            limbs,
            divisor,
            offset,
            dividend: dividend.max(divisor),
            factors,
            columns: longest.max(limbs) + 1,
        }
    }

    /// The vectors that a group of lanes takes.
    fn vectors(&self) -> usize {
        self.columns + self.factors[0] + self.factors[1] + self.divisor + self.dividend + 1
    }
}

/// The numbers of a group of lanes.
struct Group<'a, V> {
    columns: &'a mut [V],
    factors: &'a mut [V],
    n: &'a mut [V],
    /// The dividend with a digit more. Quotient digits follow the remainder, negated.
    window: &'a mut [V],
}

/// The values that a group of lanes keeps in registers.
#[derive(Clone, Copy)]
struct Scalars<V> {
    /// The negatives of the reciprocals of the divisors.
    reciprocal: V,
    /// The bits that the divisor of each lane is shifted up by, but for the offset.
    shifts: V,
}

impl<'a, V: Vector> Group<'a, V> {
    #[inline(always)]
    fn of(vectors: &'a mut [V], lengths: &Lengths) -> Self {
        let (columns, rest) = vectors.split_at_mut(lengths.columns);
        let (n, rest) = rest.split_at_mut(lengths.divisor);
        let (window, factors) = rest.split_at_mut(lengths.dividend + 1);
        Self { columns, factors, n, window }
    }

    /// Splits the numbers of the items from `first` on. Missing items repeat the last one.
    #[inline(always)]
    fn start(self, lengths: &Lengths, inputs: &Inputs<'_>, first: usize, zero: V) -> Scalars<V> {
        let Self { columns, factors, n, window } = self;
        let mut shifts = [zero];
        for lane in 0..V::LANES {
            let item = (first + lane).min(inputs.divisors.len() - 1);
            let top = inputs.divisors[item][lengths.limbs - 1];
            V::words_mut(&mut shifts)[lane] = u64::from(top.leading_zeros());
        }
        let shifts = shifts[0];
        let offset = lengths.offset;
        load(&inputs.divisors[first..], lengths.limbs, (shifts, offset), columns, n);
        match inputs.b {
            None => {
                let limbs = inputs.a.bits.div_ceil(64);
                load(&inputs.a.limbs[first..], limbs, (shifts, offset), columns, window);
            }
            Some(b) => {
                let (x, y) = factors.split_at_mut(lengths.factors[0]);
                load(&b.limbs[first..], b.bits.div_ceil(64), (shifts, offset), columns, y);
                load(&inputs.a.limbs[first..], inputs.a.bits.div_ceil(64), (zero, 0), columns, x);
                multiply(x, y, window);
            }
        }
        window[lengths.dividend] = zero;
        Scalars { reciprocal: negated_reciprocal(n[n.len() - 1], n[n.len() - 2]), shifts }
    }

    /// Divides by the shifted divisor at digit j.
    #[inline(always)]
    fn step(self, j: usize, reciprocal: V) {
        let top = j + self.n.len();
        let x = leading([self.window[top], self.window[top - 1], self.window[top - 2]]);
        let quotient = nearest(x, reciprocal);
        add_row(&mut self.window[j..top], self.n, quotient);
        self.window[top - 1] = self.window[top - 1].add(self.window[top].up::<DIGIT>());
        self.window[top] = quotient;
    }

    /// The digits of the quotient at j + 1 and at j, the lower one first. They are subtracted from the three
    /// highest digits of the window alone.
    #[inline(always)]
    fn begin_two(self, j: usize, reciprocal: V) -> [V; 2] {
        let (len, top) = (self.n.len(), j + 1 + self.n.len());
        let [n2, n1, n0] = [self.n[len - 3], self.n[len - 2], self.n[len - 1]];
        let w = &mut self.window[top - 3..=top];
        let high = nearest(leading([w[3], w[2], w[1]]), reciprocal);
        let first = w[2].add(w[3].up::<DIGIT>()).add(high.times(n0));
        let (second, third) = (w[1].add(high.times(n1)), w[0].add(high.times(n2)));
        let low = nearest(leading([first, second, third]), reciprocal);
        w[0] = third.add(low.times(n1));
        w[1] = second.add(low.times(n0)).add(first.up::<DIGIT>());
        (w[2], w[3]) = (low, high);
        [low, high]
    }

    /// Subtracts the digits of [`Self::begin_two`] from the rest of the window.
    #[inline(always)]
    fn finish_two(self, j: usize, quotient: [V; 2]) {
        let rest = self.n.len() - 2;
        add_two_rows(&mut self.window[j..][..rest], &self.n[..rest], quotient);
    }

    /// Passes the carries of the window whose lowest digit is j.
    #[inline(always)]
    fn pass_carries(self, j: usize) {
        pass_carries(&mut self.window[j..][..self.n.len()]);
    }

    /// Completes the digits of quotients and remainders, and writes them to their rows.
    #[inline(always)]
    fn finish(self, lengths: &Lengths, shifts: V, [quotients, remainders]: Outputs<'_>) {
        let Self { columns, n, window, .. } = self;
        let (rest, quotient) = window.split_at_mut(n.len());
        let zero = shifts.with(0);
        // A negative remainder lacks the divisor once.
        let negative = carry(rest, zero);
        add_where(rest, n, negative);
        if quotients.stride > 0 {
            let mut above = negative;
            for digit in quotient.iter_mut() {
                let word = above.sub(signed(*digit));
                (*digit, above) = (word.digit(), word.floor::<DIGIT>());
            }
            let columns = &mut columns[..quotients.stride.min(lengths.columns)];
            join(quotient, 0, columns);
            scatter(columns, quotients.limbs, quotients.stride);
        }
        if remainders.stride > 0 {
            let columns = &mut columns[..lengths.limbs];
            join(rest, lengths.offset, columns);
            shift::down(columns, shifts);
            scatter(columns, remainders.limbs, remainders.stride);
        }
    }
}

/// The digits of numbers of some limbs, shifted up by the bits of each lane and by an offset.
#[inline(always)]
fn load<V: Vector>(
    numbers: &[&[u64]],
    limbs: usize,
    (shifts, offset): (V, usize),
    columns: &mut [V],
    digits: &mut [V],
) {
    let columns = &mut columns[..limbs + 1];
    gather(numbers, &mut columns[..limbs]);
    columns[limbs] = shifts.with(0);
    shift::up(columns, shifts);
    split(columns, offset, digits);
}

/// `sum <- x y`. The digits of x become signed ones, of at most `2^29` in magnitude.
#[inline(always)]
fn multiply<V: Vector>(x: &mut [V], y: &[V], sum: &mut [V]) {
    let zero = y[0].with(0);
    sum.fill(zero);
    let half = zero.with(1 << (DIGIT - 1));
    let (mut above, last) = (zero, x.len() - 1);
    for digit in &mut x[..last] {
        let word = digit.add(above).add(half);
        (*digit, above) = (word.digit().sub(half), word.floor::<DIGIT>());
    }
    // x has a bit less than its digits, so that the last one is at most 2^29.
    x[last] = x[last].add(above);
    let (pairs, single) = x.as_chunks::<2>();
    for (pair, &factors) in pairs.iter().enumerate() {
        let sum = &mut sum[2 * pair..][..y.len() + 2];
        sum[y.len()] = sum[y.len()].add(factors[1].times(y[y.len() - 1]));
        add_two_rows(sum, y, factors);
        if (pair + 1) % (ROWS / 2) == 0 {
            pass_carries(sum);
        }
    }
    if let &[factor] = single {
        add_row(&mut sum[2 * pairs.len()..][..y.len()], y, factor);
    }
    pass_carries(&mut sum[..x.len() + y.len()]);
}

/// The words of a divisor in all lanes up to which two groups of lanes stay in the first-level cache
/// together, each with its divisor and its window.
const SIDE_BY_SIDE: usize = (32 << 10) / (8 * 4);

/// Writes quotients and remainders of some items, one for each lane of [`GROUPS`] vectors at most.
#[inline(always)]
pub(crate) fn divide<V: Vector>(inputs: Inputs<'_>, space: &mut Space<V>, outputs: Outputs<'_>) {
    let count = inputs.divisors.len();
    let lengths = Lengths::new(&inputs);
    if count > V::LANES && lengths.divisor * V::LANES <= SIDE_BY_SIDE {
        return divide_groups::<V, GROUPS>(&inputs, &lengths, space, outputs);
    }
    let [mut quotients, mut remainders] = outputs;
    for first in (0..count).step_by(V::LANES) {
        let rows = [quotients.take(V::LANES), remainders.take(V::LANES)];
        divide_groups::<V, 1>(&inputs.some(first..(first + V::LANES).min(count)), &lengths, space, rows);
    }
}

#[inline(always)]
fn divide_groups<V: Vector, const G: usize>(
    inputs: &Inputs<'_>,
    lengths: &Lengths,
    space: &mut Space<V>,
    outputs: Outputs<'_>,
) {
    let zero = V::splat(space.token(), 0);
    let size = lengths.vectors();
    let vectors = space.take(G * size);
    let mut scalars = [Scalars { reciprocal: zero, shifts: zero }; G];
    for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
        scalars[k] = Group::of(part, lengths).start(lengths, inputs, k * V::LANES, zero);
    }
    let mut left = lengths.dividend + 1 - lengths.divisor;
    let mut rows = left % 2;
    if left % 2 == 1 {
        left -= 1;
        for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
            Group::of(part, lengths).step(left, scalars[k].reciprocal);
        }
    }
    while left > 0 {
        left -= 2;
        if rows + 2 > ROWS {
            rows = 0;
            for part in vectors.chunks_exact_mut(size) {
                Group::of(part, lengths).pass_carries(left + 2);
            }
        }
        rows += 2;
        let mut quotients = [[zero; 2]; G];
        for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
            quotients[k] = Group::of(part, lengths).begin_two(left, scalars[k].reciprocal);
        }
        for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
            Group::of(part, lengths).finish_two(left, quotients[k]);
        }
    }
    let [mut quotients, mut remainders] = outputs;
    for (k, part) in vectors.chunks_exact_mut(size).enumerate() {
        let rows = [quotients.take(V::LANES), remainders.take(V::LANES)];
        Group::of(part, lengths).finish(lengths, scalars[k].shifts, rows);
    }
}
