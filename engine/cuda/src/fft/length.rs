//! How long transforms are, and into which passes they are divided.

use modmill_core::goldilocks;
use modmill_core::transform::PointShape;

/// Digits, the shape of a transform, and its passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Length {
    /// Bits of a digit.
    pub(crate) digit_bits: u32,
    /// Rows of odd number, and columns that are a power of two.
    pub(crate) shape: PointShape,
}

/// The shortest row: a block's 256 points, and a pass of two before them.
const LEAST_COLUMNS: usize = 512;

/// The cost of a point by the number of rows, in short transforms and in long ones, by measurement: sums over
/// rows are a part of cutting, and a pass of their own on the way back, which memory hides the less the
/// shorter transforms are.
const ROW_COSTS: [(usize, [usize; 2]); 3] = [(1, [100, 100]), (3, [150, 112]), (5, [190, 125])];

/// Bytes of points of a chunk: enough to keep all multiprocessors busy several times over, few enough that
/// the next chunk is copied meanwhile.
const CHUNK_BYTES: usize = 128 << 20;

impl Length {
    /// Items of a chunk, whose points lie in two buffers.
    pub(crate) fn chunk_items(&self) -> usize {
        (CHUNK_BYTES / (2 * self.bytes())).max(1)
    }

    /// The length for products of numbers of these many bits, where digits of one of them may be as large as
    /// `sums` digits together.
    pub(crate) fn new(a_bits: usize, b_bits: usize, sums: usize) -> Self {
        Self::for_sums(a_bits, b_bits, sums).expect("the longest numbers fit")
    }

    /// The length for such products; `None` if there are no digits that are short enough.
    pub(crate) fn for_sums(a_bits: usize, b_bits: usize, sums: usize) -> Option<Self> {
        let digit_bits = digit_bits(a_bits.min(b_bits), sums)?;
        Some(Self::of(digit_bits, digits(a_bits, digit_bits) + digits(b_bits, digit_bits) - 1))
    }

    /// The length for products of numbers of `bits` bits modulo `2^s - 1`, where s is `wrapped_bits` and not
    /// less.
    pub(crate) fn wrapped(bits: usize, sums: usize) -> Self {
        let digit_bits = digit_bits(bits, sums).expect("the longest numbers fit");
        Self::of(digit_bits, digits(bits, digit_bits))
    }

    /// A length of at least `points` points.
    fn of(digit_bits: u32, points: usize) -> Self {
        let shape = |rows: usize| PointShape {
            rows,
            columns: points.div_ceil(rows).next_power_of_two().max(LEAST_COLUMNS),
        };
        let shapes = ROW_COSTS.map(|(rows, costs)| {
            let shape = shape(rows);
            (costs[usize::from(shape.columns > 4096)] * shape.points(), shape)
        });
        let (_, shape) = shapes.into_iter().min_by_key(|(cost, _)| *cost).expect("there are three");
        Self { digit_bits, shape }
    }

    /// Bits of all points, after which products begin again; a multiple of 32.
    pub(crate) fn wrapped_bits(&self) -> usize {
        self.shape.points() * self.digit_bits as usize
    }

    /// Whether 4096 points are transformed within a block, or 256.
    pub(crate) fn has_long_rows(&self) -> bool {
        self.shape.columns > 4096
    }

    /// Points of a row that a block transforms.
    pub(crate) fn row(&self) -> usize {
        if self.has_long_rows() { 4096 } else { 256 }
    }

    /// Points of the first pass: 2, 4, 8 or 16.
    pub(crate) fn first(&self) -> usize {
        2 << (((self.shape.columns / self.row()).ilog2() - 1) % 4)
    }

    /// Distances of the points of the passes of sixteen between the first one and the rows, in order.
    pub(crate) fn strides(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let row = self.row();
        let passes = ((self.shape.columns / row / self.first()).ilog2() / 4) as i32;
        (0..passes).rev().map(move |pass| row << (4 * pass))
    }

    /// Digits of a number of `words` words.
    pub(crate) fn digits(&self, words: u32) -> usize {
        (32 * words as usize).div_ceil(self.digit_bits as usize)
    }

    /// Bytes of a block of points.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.shape.points()
    }
}

fn digits(bits: usize, digit_bits: u32) -> usize {
    bits.div_ceil(digit_bits as usize).max(1)
}

/// The longest digits of factors, of which the shorter has `bits` bits, if there are any.
fn digit_bits(bits: usize, sums: usize) -> Option<u32> {
    // Fewer bits make more digits: the first length of digit that is right for its own count.
    let fits = |digit_bits: &u32| {
        goldilocks::digit_bits(sums.saturating_mul(digits(bits, *digit_bits))) >= *digit_bits
    };
    (LEAST_DIGIT_BITS..=MOST_DIGIT_BITS).rev().find(fits)
}

/// The longest digits: two coefficients do not begin at the same bit of a word and the next.
pub(super) const MOST_DIGIT_BITS: u32 = 30;

/// The shortest that there is a use for: those of numbers of `2^34` bits.
pub(super) const LEAST_DIGIT_BITS: u32 = 15;

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::TRANSFORM_MAX_BITS;

    #[test]
    fn passes_make_up_the_transform() {
        for bits in (10..35).flat_map(|k| [1 << k, 3 << (k - 1), (1 << k) + 7]) {
            let bits = TRANSFORM_MAX_BITS.min(bits);
            let length = Length::new(bits, bits, 1);
            let passes: usize = length.strides().map(|_| 16).product();
            assert_eq!(length.first() * passes * length.row(), length.shape.columns, "{length:?}");
            assert!(length.strides().last().is_none_or(|stride| stride == length.row()));
            assert!((2..=16).contains(&length.first()));
            let digits = bits.div_ceil(length.digit_bits as usize);
            assert!(2 * digits - 1 <= length.shape.points());
        }
        let length = Length::new(786_432, 786_432, 2);
        assert_eq!((length.digit_bits, length.shape.points()), (24, 65_536));
    }

    /// The product modulo `2^s - 1` of a reduction takes no more memory than the others, and about half the
    /// points.
    #[test]
    fn wrapped_lengths_are_shorter() {
        for bits in (10..35).flat_map(|k| [1 << k, 3 << (k - 1), (5 << (k - 2)) - 64, (1 << k) + 64]) {
            let bits = TRANSFORM_MAX_BITS.min(bits);
            let (whole, half) = (Length::new(bits, bits, 2), Length::wrapped(bits, 2));
            assert!(half.shape.points() <= whole.shape.points(), "{bits} bits");
            assert!(half.wrapped_bits() >= bits && half.wrapped_bits().is_multiple_of(32));
        }
        let length = Length::wrapped(786_432, 2);
        assert_eq!((length.digit_bits, length.shape.points()), (24, 32_768));
    }
}
