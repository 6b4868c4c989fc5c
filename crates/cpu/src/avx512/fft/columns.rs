//! Short transforms of odd length across the rows of a block.
//!
//! A block of `o M` points with o odd is o rows of M columns: by the Chinese remainder theorem,
//! point v stands in row `v mod o` and column `v mod M`, and a transform of length `o M` is one of
//! length o down every column and then one of length M along every row, without factors in between
//! (Good and Thomas).

use super::{Constants, Field, V, load, store};
use crate::fft::frame::Frame;
use crate::fft::point::Point;
use crate::fft::primes::{self, Factor, PRIMES};
use modmill_core::transform::{Digits, Shape};
use std::arch::x86_64::*;

/// Longest column.
const MOST: usize = 5;

/// Powers of a root of unity of odd order.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    order: usize,
    powers: [Factor; MOST],
}

/// Those of order 3, and 5 where there are any, of every field, forward and inverse.
static TURNS: [[[Turns; 2]; 2]; PRIMES.len()] = {
    let mut turns = [[[Turns { order: 1, powers: [Factor::new(1, PRIMES[0]); MOST] }; 2]; 2]; PRIMES.len()];
    let mut field = 0;
    while field < PRIMES.len() {
        turns[field][0] = [Turns::compute(field, 3, false), Turns::compute(field, 3, true)];
        if (PRIMES[field] - 1).is_multiple_of(5) {
            turns[field][1] = [Turns::compute(field, 5, false), Turns::compute(field, 5, true)];
        }
        field += 1;
    }
    turns
};

impl Turns {
    fn of(field: &Field, order: usize, is_inverse: bool) -> &'static Self {
        &TURNS[field.index][usize::from(order == 5)][usize::from(is_inverse)]
    }

    const fn compute(field: usize, order: usize, is_inverse: bool) -> Self {
        let p = PRIMES[field];
        let mut root = primes::root_of_unity(field, order as u64);
        if is_inverse {
            root = primes::inverse(root, p);
        }
        let mut powers = [Factor::new(1, p); MOST];
        let mut k = 0;
        while k < MOST {
            powers[k] = Factor::new(primes::pow(root, k as u64, p), p);
            k += 1;
        }
        Self { order, powers }
    }

    /// The transform of a column, whose elements are below 2p, into numbers below 4p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn transform(&self, c: &Constants, x: &[V; MOST]) -> [V; MOST] {
        let mut out = [c.zero; MOST];
        for (k, out) in out[..self.order].iter_mut().enumerate() {
            let mut sum = c.reduce(x[0]);
            for (j, &x) in x[..self.order].iter().enumerate().skip(1) {
                // Products are below 7/5 p, so that two on top of (1 + e) p stay below 4p.
                sum = match k * j % self.order {
                    0 => _mm512_add_epi64(sum, c.reduce(x)),
                    power => c.mul_add(sum, x, &self.powers[power]),
                };
                if j % 2 == 0 && j + 1 < self.order {
                    sum = c.reduce(sum);
                }
            }
            *out = sum;
        }
        out
    }
}

impl Field {
    /// Fills rows with the residues of digits, columns transformed.
    pub(super) fn fill_block(&self, block: &mut [Point], digits: &Digits<'_>, frame: Frame) {
        // SAFETY: the token proved AVX-512 IFMA.
        unsafe {
            match frame.shape.rows {
                1 => self.fill_row(block, digits),
                _ => self.fill_rows(block, digits, frame),
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fill_row(&self, block: &mut [Point], digits: &Digits<'_>) {
        let (c, high) = (&Constants::new(self.prime()), &self.high_factor());
        let points = if self.weights.is_some() { block.len() } else { digits.points().min(block.len()) };
        let (filled, zeros) = block.split_at_mut(points);
        for (index, point) in filled.iter_mut().enumerate() {
            store(point, self.residues(c, high, digits, index));
        }
        zeros.fill(Point::ZERO);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fill_rows(&self, block: &mut [Point], digits: &Digits<'_>, frame: Frame) {
        let Shape { rows, columns } = frame.shape;
        let (c, high) = (&Constants::new(self.prime()), &self.high_factor());
        let turns = Turns::of(self, rows, false);
        let points = if self.weights.is_some() { rows * columns } else { digits.points() };
        for column in 0..columns {
            let mut x = [c.zero; MOST];
            for point in (column..points).step_by(columns) {
                let residues = self.residues(c, high, digits, point);
                // At most 2p either way.
                x[point % rows] = if frame.is_negated(point) {
                    _mm512_sub_epi64(_mm512_add_epi64(c.prime, c.prime), residues)
                } else {
                    residues
                };
            }
            let x = turns.transform(c, &x);
            for row in 0..rows {
                store(&mut block[row * columns + column], x[row]);
            }
        }
    }

    /// Undoes the transforms of columns, but for a factor of their length; all below 2p again.
    pub(super) fn inverse_block(&self, block: &mut [Point], shape: Shape) {
        if shape.rows > 1 {
            // SAFETY: the token proved AVX-512 IFMA.
            unsafe { self.inverse_rows(block, shape) }
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn inverse_rows(&self, block: &mut [Point], Shape { rows, columns }: Shape) {
        let c = &Constants::new(self.prime());
        let turns = Turns::of(self, rows, true);
        for column in 0..columns {
            let mut x = [c.zero; MOST];
            for row in 0..rows {
                x[row] = load(&block[row * columns + column]);
            }
            let x = turns.transform(c, &x);
            for row in 0..rows {
                store(&mut block[row * columns + column], c.reduce(x[row]));
            }
        }
    }

    /// The root by which row `row` of the transformed block is turned against the first.
    pub(super) fn turn(&self, row: usize, rows: usize) -> Option<Factor> {
        (row > 0).then(|| Turns::of(self, rows, false).powers[row])
    }
}
