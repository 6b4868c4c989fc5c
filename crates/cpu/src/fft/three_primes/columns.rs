//! Short transforms of odd length across the rows of a block.
//!
//! A block of `o M` points with o odd is o rows of M columns: by the Chinese remainder theorem,
//! point v stands in row `v mod o` and column `v mod M`, and a transform of length `o M` is one of
//! length o down every column and then one of length M along every row, without factors in between
//! (Good and Thomas).

use super::Field;
use super::arithmetic::Arithmetic;
use crate::fft::frame::Frame;
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, Factor, Form, PRIMES};
use modmill_core::transform::Digits;

/// Longest column.
const MOST: usize = 5;

/// What a root of unity w of order 3 or 5 turns columns by.
#[derive(Clone, Copy)]
pub(crate) struct Turns {
    order: usize,
    /// The powers of w.
    powers: [Factor; MOST],
    /// Of order 5: `(w + w^4 - w^2 - w^3) / 4`, `-1/4`, `(w - w^4) / 2` and `(w^2 - w^3) / 2`.
    fifths: [Factor; 4],
}

/// Those of order 3, and 5 where there are any, of every field, forward and inverse.
pub(crate) type TurnTable = [[[Turns; 2]; 2]; PRIMES.len()];

pub(super) const fn turns(form: Form) -> TurnTable {
    let mut turns = [[[Turns::compute(form, 0, 3, false); 2]; 2]; PRIMES.len()];
    let mut field = 0;
    while field < PRIMES.len() {
        turns[field][0] = [Turns::compute(form, field, 3, false), Turns::compute(form, field, 3, true)];
        if (PRIMES[field] - 1).is_multiple_of(5) {
            turns[field][1] = [Turns::compute(form, field, 5, false), Turns::compute(form, field, 5, true)];
        }
        field += 1;
    }
    turns
}

impl Turns {
    fn of<A: Arithmetic>(field: &Field<A>, order: usize, is_inverse: bool) -> &'static Self {
        &A::TURNS[field.index][usize::from(order == 5)][usize::from(is_inverse)]
    }

    const fn compute(form: Form, field: usize, order: usize, is_inverse: bool) -> Self {
        let p = PRIMES[field];
        let mut root = primes::root_of_unity(field, order as u64);
        if is_inverse {
            root = primes::inverse(root, p);
        }
        let mut values = [1; MOST];
        let mut powers = [Factor::new(form, 1, p); MOST];
        let mut k = 1;
        while k < MOST {
            values[k] = primes::mul(values[k - 1], root, p);
            powers[k] = Factor::new(form, values[k], p);
            k += 1;
        }
        let [_, first, second, third, fourth] = values;
        let half = p.div_ceil(2);
        let quarter = primes::mul(half, half, p);
        let fifths = [
            Factor::new(form, primes::mul(first + fourth + 2 * p - second - third, quarter, p), p),
            Factor::new(form, p - quarter, p),
            Factor::new(form, primes::mul(first + p - fourth, half, p), p),
            Factor::new(form, primes::mul(second + p - third, half, p), p),
        ];
        Self { order, powers, fifths }
    }

    /// The transform of a column, whose elements are products or residues of digits, into any numbers.
    #[inline(always)]
    pub(super) fn transform<A: Arithmetic>(&self, c: &A, x: &[A::Vector; MOST]) -> [A::Vector; MOST] {
        match self.order {
            3 => {
                let [x0, x1, x2] = c.transform3([x[0], x[1], x[2]], &self.powers[1]);
                [x0, x1, x2, c.zero(), c.zero()]
            }
            _ => c.transform5(*x, &self.fifths),
        }
    }
}

impl<A: Arithmetic> Field<A> {
    /// Fills columns from the `first` on with the residues of digits, transformed down each.
    pub(super) fn fill_columns(
        &self,
        rows: &mut [&mut [Point]],
        first: usize,
        digits: &Digits<'_>,
        frame: Frame,
    ) {
        let points = digits.points();
        self.run(
            #[inline(always)]
            |c| match rows {
                [row] => self.fill_row(&c, row, first, digits, points),
                _ => self.fill_rows(&c, rows, first, digits, points, frame),
            },
        );
    }

    #[inline(always)]
    fn fill_row(&self, c: &A, row: &mut [Point], first: usize, digits: &Digits<'_>, points: usize) {
        let (filled, zeros) = row.split_at_mut(points.saturating_sub(first).min(row.len()));
        for (index, point) in filled.iter_mut().enumerate() {
            let eight = digits.point(first + index);
            for vector in 0..A::VECTORS {
                c.store(point, vector, self.residues(c, &eight, first + index, vector));
            }
        }
        zeros.fill(Point::ZERO);
    }

    #[inline(always)]
    fn fill_rows(
        &self,
        c: &A,
        rows: &mut [&mut [Point]],
        first: usize,
        digits: &Digits<'_>,
        points: usize,
        frame: Frame,
    ) {
        let turns = Turns::of(self, rows.len(), false);
        for index in 0..rows[0].len() {
            for vector in 0..A::VECTORS {
                let mut x = [c.zero(); MOST];
                for point in (first + index..points).step_by(frame.shape.columns) {
                    let residues = self.residues(c, &digits.point(point), point, vector);
                    x[point % rows.len()] =
                        if frame.is_negated(point) { c.negate(residues) } else { residues };
                }
                let x = turns.transform(c, &x);
                for (row, x) in rows.iter_mut().zip(x) {
                    c.store(&mut row[index], vector, x);
                }
            }
        }
    }

    /// The residues of the digits of a point, times their weights if they have any.
    #[inline(always)]
    fn residues(&self, c: &A, digits: &[u64; LANES], point: usize, vector: usize) -> A::Vector {
        let residues = c.residues(digits, vector);
        match &self.weights {
            None => residues,
            Some(weights) => c.mul_add_by(c.zero(), residues, weights.forward(c, self.index, point, vector)),
        }
    }

    /// Undoes the transforms of columns, but for a factor of their length; all reduced.
    pub(super) fn invert_columns(&self, rows: &mut [&mut [Point]]) {
        let turns = Turns::of(self, rows.len(), true);
        self.run(
            #[inline(always)]
            |c| {
                for index in 0..rows[0].len() {
                    for vector in 0..A::VECTORS {
                        let mut x = [c.zero(); MOST];
                        for (row, x) in rows.iter().zip(&mut x) {
                            *x = c.load(&row[index], vector);
                        }
                        let x = turns.transform(&c, &x);
                        for (row, x) in rows.iter_mut().zip(x) {
                            c.store(&mut row[index], vector, c.reduce(x));
                        }
                    }
                }
            },
        );
    }

    /// The root by which row `row` of the transformed block is turned against the first.
    pub(super) fn turn(&self, row: usize, rows: usize) -> Option<&'static Factor> {
        (row > 0).then(|| &Turns::of(self, rows, false).powers[row])
    }
}
