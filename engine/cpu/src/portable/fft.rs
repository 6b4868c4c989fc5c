//! Transforms over `2^64 - 2^32 + 1` in plain Rust. A product takes one multiplication of words and a few
//! additions, on any processor. Elements are always canonical.
//!
//! Roots that are powers of two get no special treatment, since a multiplier is as fast as shifts.

use crate::fft::carry::{DigitWriter, Join};
use crate::fft::point::{LANES, Point};
use crate::fft::roots::negative_inverse;
use crate::fft::scheme;
use crate::fft::shape::{BlockShape, Ring};
use crate::fft::transform::Transform;
use modmill_core::goldilocks::{self, add, mul, sub};
use modmill_core::sync::Mutex;
use modmill_core::transform::{Digits, PointShape};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The roots of at least `len` nodes in the order of `fft::roots`. The table is computed at first use and
/// cached.
fn roots(len: usize) -> Arc<Vec<u64>> {
    static TABLE: Mutex<Option<Arc<Vec<u64>>>> = Mutex::new(None);
    let mut table = TABLE.lock();
    if let Some(roots) = table.as_ref().filter(|roots| roots.len() >= len) {
        return roots.clone();
    }
    let mut roots = vec![1];
    while roots.len() < len {
        let step = goldilocks::root_of_unity(4 * roots.len() as u64);
        roots.extend_from_within(..);
        let half = roots.len() / 2;
        roots[half..].iter_mut().for_each(|root| *root = mul(*root, step));
    }
    let roots = Arc::new(roots);
    *table = Some(roots.clone());
    roots
}

/// The field, with the roots of transforms up to a length.
pub(crate) struct GoldilocksField {
    roots: Arc<Vec<u64>>,
}

impl GoldilocksField {
    /// Halves the block of each column level by level, down to single elements.
    fn forward<const R: usize>(&self, parts: &mut [&mut [Point]; R], node: usize) {
        each_column(parts, |x| {
            for level in 0..R.ilog2() {
                let half = R >> (level + 1);
                for (block, x) in x.chunks_exact_mut(2 * half).enumerate() {
                    let root = self.roots[(node << level) + block];
                    let (low, high) = x.split_at_mut(half);
                    for (a, b) in low.iter_mut().zip(high) {
                        for (a, b) in a.0.iter_mut().zip(&mut b.0) {
                            let product = mul(*b, root);
                            (*a, *b) = (add(*a, product), sub(*a, product));
                        }
                    }
                }
            }
        });
    }

    fn inverse<const R: usize>(&self, parts: &mut [&mut [Point]; R], node: usize) {
        each_column(parts, |x| {
            for level in (0..R.ilog2()).rev() {
                let half = R >> (level + 1);
                for (block, x) in x.chunks_exact_mut(2 * half).enumerate() {
                    let negative = match (node << level) + block {
                        0 => goldilocks::PRIME - 1,
                        node => self.roots[negative_inverse(node)],
                    };
                    let (low, high) = x.split_at_mut(half);
                    for (a, b) in low.iter_mut().zip(high) {
                        for (a, b) in a.0.iter_mut().zip(&mut b.0) {
                            (*a, *b) = (add(*a, *b), mul(sub(*b, *a), negative));
                        }
                    }
                }
            }
        });
    }

    /// A transform of odd length down every column.
    fn columns(rows: &mut [&mut [Point]], root: u64) {
        let powers: Vec<u64> = (0..rows.len() as u64).map(|k| goldilocks::pow(root, k)).collect();
        let mut x = vec![0; rows.len()];
        for index in 0..rows[0].len() {
            for lane in 0..LANES {
                for (row, x) in rows.iter().zip(&mut x) {
                    *x = row[index].0[lane];
                }
                for (j, row) in rows.iter_mut().enumerate() {
                    let term = |(k, &x): (usize, &u64)| mul(x, powers[k * j % powers.len()]);
                    row[index].0[lane] = x.iter().enumerate().map(term).fold(0, add);
                }
            }
        }
    }

    /// `a b` point by point, modulo `x^8 - y`.
    fn multiply_row(&self, a: &mut [Point], b: Option<&[Point]>, leaf: usize, twiddle: u64) {
        for (index, point) in a.iter_mut().enumerate() {
            let node = leaf + index;
            let (a, b) = (point.0, b.map_or(*point, |b| b[index]).0);
            let root = mul(self.roots[node / 2], twiddle);
            let y = if node % 2 == 1 { sub(0, root) } else { root };
            let turned = b.map(|b| mul(b, y));
            point.0 = std::array::from_fn(|k| {
                let (mut sum, mut carries) = (0u128, 0u64);
                for (i, &a) in a.iter().enumerate() {
                    let b = if i <= k { b[k - i] } else { turned[LANES + k - i] };
                    let (next, overflow) = sum.overflowing_add(u128::from(a) * u128::from(b));
                    (sum, carries) = (next, carries + u64::from(overflow));
                }
                // 2^128 = -2^32, and there are at most seven carries.
                sub(goldilocks::reduce_wide(sum), carries << 32)
            });
        }
    }

    fn row_twiddle(row: usize, grid: PointShape) -> u64 {
        goldilocks::pow(goldilocks::root_of_unity(grid.rows as u64), row as u64)
    }
}

/// Applies a function to every column.
#[inline(always)]
fn each_column<const R: usize>(parts: &mut [&mut [Point]; R], work: impl Fn(&mut [Point; R])) {
    for column in 0..parts[0].len() {
        let mut x: [Point; R] = std::array::from_fn(|part| parts[part][column]);
        work(&mut x);
        for (part, x) in parts.iter_mut().zip(x) {
            part[column] = x;
        }
    }
}

impl Transform for GoldilocksField {
    fn forward2(&self, parts: &mut [&mut [Point]; 2], node: usize) {
        self.forward(parts, node);
    }

    fn forward4(&self, parts: &mut [&mut [Point]; 4], node: usize) {
        self.forward(parts, node);
    }

    fn forward8(&self, parts: &mut [&mut [Point]; 8], node: usize) {
        self.forward(parts, node);
    }

    fn forward16(&self, parts: &mut [&mut [Point]; 16], node: usize) {
        self.forward(parts, node);
    }

    fn inverse2(&self, parts: &mut [&mut [Point]; 2], node: usize) {
        self.inverse(parts, node);
    }

    fn inverse4(&self, parts: &mut [&mut [Point]; 4], node: usize) {
        self.inverse(parts, node);
    }

    fn inverse8(&self, parts: &mut [&mut [Point]; 8], node: usize) {
        self.inverse(parts, node);
    }

    fn inverse16(&self, parts: &mut [&mut [Point]; 16], node: usize) {
        self.inverse(parts, node);
    }
}

impl scheme::PrimeField for GoldilocksField {
    fn fill(&self, rows: &mut [&mut [Point]], first: usize, digits: &Digits<'_>, shape: BlockShape) {
        let (grid, count) = (shape.grid, rows.len());
        for index in 0..rows[0].len() {
            for point in (first + index..grid.points()).step_by(grid.columns) {
                // Digits are below 2^32, so they are canonical.
                let is_zero = point >= digits.points();
                let digits = if is_zero { Point::ZERO.0 } else { digits.point(point) };
                rows[point % count][index] =
                    Point(if shape.is_negated(point) { digits.map(|digit| sub(0, digit)) } else { digits });
            }
        }
        if count > 1 {
            Self::columns(rows, goldilocks::root_of_unity(count as u64));
        }
    }

    fn inverse_columns(&self, rows: &mut [&mut [Point]], _: BlockShape) {
        let root = goldilocks::root_of_unity(rows.len() as u64);
        Self::columns(rows, goldilocks::inverse(root));
    }

    fn multiply(&self, a: &mut [Point], b: Option<&[Point]>, row: usize, first: usize, shape: BlockShape) {
        self.multiply_row(a, b, shape.first_leaf() + first, Self::row_twiddle(row, shape.grid));
    }

    fn add(&self, a: &mut [Point], b: &[Point]) {
        for (a, b) in a.iter_mut().zip(b) {
            a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a = add(*a, b));
        }
    }

    fn reduce(&self, _: &mut [Point]) {}

    fn add_up(&self, out: &mut [Point], transforms: &[&[Point]], chosen: &[u32], first: usize) {
        out.fill(Point::ZERO);
        for &index in chosen {
            self.add(out, &transforms[index as usize][first..][..out.len()]);
        }
    }
}

/// `a - b` in two words. The second word is zero or all ones.
fn sub_wide(a: u64, b: u64) -> (u64, u64) {
    let difference = u128::from(a).wrapping_sub(u128::from(b));
    (difference as u64, (difference >> 64) as u64)
}

/// The scheme over the single prime `2^64 - 2^32 + 1`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goldilocks;

/// The reconstruction: residues are scaled by the inverse of the transform length.
pub(crate) struct Scale {
    shape: BlockShape,
    /// The inverse of the transform length, and its negative.
    factors: [u64; 2],
    /// An offset above the magnitude of signed coefficients and at most half of p; zero if coefficients are
    /// unsigned.
    offset: u64,
}

impl scheme::NttScheme<1> for Goldilocks {
    type Field = GoldilocksField;
    type Join = Scale;

    fn fields(&self, shape: BlockShape) -> [GoldilocksField; 1] {
        [GoldilocksField { roots: roots(shape.nodes()) }]
    }

    fn join(&self, shape: BlockShape) -> Scale {
        let factor = goldilocks::inverse(shape.grid.points() as u64);
        let offset = if shape.ring == Ring::Negacyclic { goldilocks::PRIME / 2 } else { 0 };
        Scale { shape, factors: [factor, sub(0, factor)], offset }
    }

    fn digit_lengths(&self) -> RangeInclusive<u32> {
        1..=31
    }

    fn most_terms(&self, digit_bits: u32, ring: Ring) -> u128 {
        let range = match ring {
            Ring::Cyclic => goldilocks::PRIME - 1,
            // Signed sums are at most the offset of `Scale` in magnitude.
            Ring::Negacyclic => goldilocks::PRIME / 2,
        };
        let largest = (1 << digit_bits) - 1;
        u128::from(range) / (largest * largest)
    }
}

impl Join<1> for Scale {
    fn carry(&self, [residues]: [&[Point]; 1], bits: u32, first: usize, out: &mut [u64]) -> i128 {
        let mut out = DigitWriter::<false>::new(out, bits);
        let mut place = self.shape.grid.place(first);
        for point in first.. {
            if out.is_full() {
                break;
            }
            let factor = self.factors[usize::from(self.shape.is_negated(point))];
            for residue in residues[place.index()].0 {
                let (low, sign) = sub_wide(add(mul(residue, factor), self.offset), self.offset);
                out.add(low, sign, sign as i64);
            }
            place.advance();
        }
        out.carry()
    }
}
