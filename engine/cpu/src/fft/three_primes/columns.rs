//! Short transforms of odd length across the rows of a block.
//!
//! A block of `o M` points with o odd has o rows of M columns. By the Chinese remainder theorem, point v is
//! in row `v mod o` and column `v mod M`. A transform of length `o M` is then a transform of length o down
//! every column, followed by a transform of length M along every row, without twiddle factors in between
//! (Good and Thomas).

use super::arithmetic::Arithmetic;
use super::field::VectorField;
use super::odd_roots::{MOST, OddRoots};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::ShoupFactor;
use crate::fft::shape::BlockShape;
use modmill_core::transform::Digits;

impl OddRoots {
    fn of<A: Arithmetic>(field: &VectorField<A>, order: usize, is_inverse: bool) -> &'static Self {
        &A::ODD_ROOTS[field.index][usize::from(order == 5)][usize::from(is_inverse)]
    }

    /// Transforms a column. Its elements are products or residues of digits; the results are any numbers.
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

impl<A: Arithmetic> VectorField<A> {
    /// Fills the columns from `first` on with the residues of digits and transforms each column.
    pub(super) fn fill_columns(
        &self,
        rows: &mut [&mut [Point]],
        first: usize,
        digits: &Digits<'_>,
        shape: BlockShape,
    ) {
        let points = digits.points();
        self.run(
            #[inline(always)]
            |c| match rows {
                [row] => self.fill_row(&c, row, first, digits, points),
                _ => self.fill_rows(&c, rows, first, digits, points, shape),
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
        shape: BlockShape,
    ) {
        let roots = OddRoots::of(self, rows.len(), false);
        for index in 0..rows[0].len() {
            for vector in 0..A::VECTORS {
                let mut x = [c.zero(); MOST];
                for point in (first + index..points).step_by(shape.grid.columns) {
                    let residues = self.residues(c, &digits.point(point), point, vector);
                    x[point % rows.len()] =
                        if shape.is_negated(point) { c.negate(residues) } else { residues };
                }
                let x = roots.transform(c, &x);
                for (row, x) in rows.iter_mut().zip(x) {
                    c.store(&mut row[index], vector, x);
                }
            }
        }
    }

    /// The residues of the digits of a point, multiplied by their weights if there are any.
    #[inline(always)]
    fn residues(&self, c: &A, digits: &[u64; LANES], point: usize, vector: usize) -> A::Vector {
        let residues = c.residues(digits, vector);
        match &self.weights {
            None => residues,
            Some(weights) => c.mul_add_by(c.zero(), residues, weights.forward(c, self.index, point, vector)),
        }
    }

    /// Inverts the transforms of columns, up to a factor of their length. The results are reduced.
    pub(super) fn invert_columns(&self, rows: &mut [&mut [Point]]) {
        let roots = OddRoots::of(self, rows.len(), true);
        self.run(
            #[inline(always)]
            |c| {
                for index in 0..rows[0].len() {
                    for vector in 0..A::VECTORS {
                        let mut x = [c.zero(); MOST];
                        for (row, x) in rows.iter().zip(&mut x) {
                            *x = c.load(&row[index], vector);
                        }
                        let x = roots.transform(&c, &x);
                        for (row, x) in rows.iter_mut().zip(x) {
                            c.store(&mut row[index], vector, c.reduce(x));
                        }
                    }
                }
            },
        );
    }

    /// The twiddle factor of row `row` of the transformed block, relative to the first row.
    pub(super) fn row_twiddle(&self, row: usize, rows: usize) -> Option<&'static ShoupFactor> {
        (row > 0).then(|| &OddRoots::of(self, rows, false).powers[row])
    }
}
