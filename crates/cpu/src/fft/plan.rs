//! How a product is cut into digits, and how long its transforms are.

use super::point::LANES;
use modmill_core::limbs::bits_at;

/// Rows of odd number, and columns that are a power of two: the shape of a block of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Shape {
    /// The smallest block of at least `points` points.
    pub(crate) fn at_least(points: usize) -> Self {
        let fitting = |rows: usize| Self { rows, columns: points.div_ceil(rows).next_power_of_two() };
        // A row of less than 16 points does not fill a pass.
        let shapes = [1, 3, 5].map(fitting).into_iter().filter(|shape| shape.rows == 1 || shape.columns >= 16);
        shapes.min_by_key(|shape| shape.points()).expect("one row is always there")
    }

    pub(crate) fn points(self) -> usize {
        self.rows * self.columns
    }

    /// Where a point stands.
    pub(crate) fn place(self, point: usize) -> Place {
        Place { shape: self, row: point % self.rows, column: point % self.columns }
    }
}

/// The place of a point, which moves from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    shape: Shape,
    row: usize,
    column: usize,
}

impl Place {
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.row * self.shape.columns + self.column
    }

    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.row = if self.row + 1 == self.shape.rows { 0 } else { self.row + 1 };
        self.column = (self.column + 1) & (self.shape.columns - 1);
    }
}

/// A number as digits, eight to a point.
#[derive(Clone, Copy)]
pub(crate) struct Digits<'a> {
    pub(crate) limbs: &'a [u64],
    pub(crate) bits: u32,
}

impl Digits<'_> {
    /// Points that are not all zero for want of limbs.
    pub(crate) fn points(&self) -> usize {
        (64 * self.limbs.len()).div_ceil(LANES * self.bits as usize)
    }

    /// The digits of one point.
    #[inline(always)]
    pub(crate) fn point(&self, index: usize) -> [u64; LANES] {
        let whole = self.limbs.get(LANES * index..).and_then(|limbs| limbs.first_chunk());
        match whole {
            Some(limbs) if self.bits == 64 => *limbs,
            _ => std::array::from_fn(|lane| {
                bits_at(self.limbs, (LANES * index + lane) * self.bits as usize, self.bits)
            }),
        }
    }
}

/// How numbers are multiplied: digits of so many bits, blocks of such a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    pub(crate) digit_bits: u32,
    pub(crate) shape: Shape,
}

impl Plan {
    /// The plan for a product of `limbs` limbs with digits of `digit_bits` bits.
    pub(crate) fn new(limbs: usize, digit_bits: u32) -> Self {
        let points = (64 * limbs).div_ceil(LANES * digit_bits as usize);
        Self { digit_bits, shape: Shape::at_least(points) }
    }
}
