//! Digits and lengths of products by transforms, for all backends.

use crate::limbs::bits_at;

/// The number of digits of a point: the coefficients of `x^0 .. x^7`. Transforms are in `y = x^8`.
pub const LANES: usize = 8;

/// The shape of a block of points: an odd number of rows, and a power of two of columns.
///
/// By the Chinese remainder theorem, point v stands in row `v mod rows` and column `v mod columns`. A
/// transform of all points is one transform down every column and then one along every row, without
/// twiddle factors in between (Good and Thomas).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointShape {
    /// The number of rows: 1, 3 or 5.
    pub rows: usize,
    /// The number of columns, a power of two.
    pub columns: usize,
}

impl PointShape {
    /// The shape of the smallest block with at least `points` points.
    #[must_use]
    pub fn at_least(points: usize) -> Self {
        let fitting = |rows: usize| Self { rows, columns: points.div_ceil(rows).next_power_of_two() };
        // A row of fewer than 16 points does not fill a pass of the transform.
        let shapes =
            [1, 3, 5].map(fitting).into_iter().filter(|shape| shape.rows == 1 || shape.columns >= 16);
        shapes.min_by_key(|shape| shape.points()).expect("one row is always there")
    }

    /// The number of points of the block.
    #[must_use]
    pub fn points(self) -> usize {
        self.rows * self.columns
    }

    /// The place of `point` in the block.
    #[must_use]
    pub fn place(self, point: usize) -> Place {
        Place { shape: self, row: point % self.rows, column: point % self.columns }
    }
}

/// The place of a point in a block. It can advance from one point to the next.
#[derive(Clone, Copy)]
pub struct Place {
    shape: PointShape,
    row: usize,
    column: usize,
}

impl Place {
    /// The index of the place in a block that is stored row after row.
    #[must_use]
    #[inline(always)]
    pub fn index(self) -> usize {
        self.row * self.shape.columns + self.column
    }

    /// Moves to the place of the next point.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.row = if self.row + 1 == self.shape.rows { 0 } else { self.row + 1 };
        self.column = (self.column + 1) & (self.shape.columns - 1);
    }
}

/// A number as digits, [`LANES`] digits to a point.
#[derive(Clone, Copy)]
pub struct Digits<'a> {
    /// The number.
    pub limbs: &'a [u64],
    /// The width of a digit in bits, at most 64.
    pub bits: u32,
}

impl Digits<'_> {
    /// The number of points that the limbs reach. All points beyond are zero.
    #[must_use]
    pub fn points(&self) -> usize {
        (64 * self.limbs.len()).div_ceil(LANES * self.bits as usize)
    }

    /// The digits of point `index`.
    #[must_use]
    #[inline(always)]
    pub fn point(&self, index: usize) -> [u64; LANES] {
        let whole = self.limbs.get(LANES * index..).and_then(|limbs| limbs.first_chunk());
        match whole {
            Some(limbs) if self.bits == 64 => *limbs,
            _ => std::array::from_fn(|lane| {
                bits_at(self.limbs, (LANES * index + lane) * self.bits as usize, self.bits)
            }),
        }
    }
}

/// The width of digits and the shape of blocks for a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigitPlan {
    /// The width of a digit in bits.
    pub digit_bits: u32,
    /// The shape of the blocks.
    pub shape: PointShape,
}

impl DigitPlan {
    /// The plan for a product of `limbs` limbs with digits of `digit_bits` bits.
    #[must_use]
    pub fn new(limbs: usize, digit_bits: u32) -> Self {
        let points = (64 * limbs).div_ceil(LANES * digit_bits as usize);
        Self { digit_bits, shape: PointShape::at_least(points) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_place_of_its_own() {
        for points in [1, 2, 15, 16, 17, 33, 48, 65, 80, 81, 97, 1000] {
            let shape = PointShape::at_least(points);
            assert!(shape.points() >= points && shape.columns.is_power_of_two());
            assert!(3 * shape.points() < 4 * points.max(48) + 4, "{points}: {shape:?}");
            let mut place = shape.place(0);
            let mut seen = vec![false; shape.points()];
            for point in 0..shape.points() {
                assert_eq!(place.index(), shape.place(point).index());
                assert!(!std::mem::replace(&mut seen[place.index()], true));
                place.advance();
            }
        }
    }

    #[test]
    fn digits_are_the_number() {
        let limbs = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x0f1e_2d3c_4b5a_6978];
        for bits in [5, 19, 24, 62, 64] {
            let digits = Digits { limbs: &limbs, bits };
            for index in 0..=digits.points() {
                for (lane, digit) in digits.point(index).into_iter().enumerate() {
                    assert_eq!(digit, bits_at(&limbs, (8 * index + lane) * bits as usize, bits));
                }
            }
            assert!(digits.points() * 8 * bits as usize >= 192);
        }
    }
}
