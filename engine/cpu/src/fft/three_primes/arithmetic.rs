//! The interface between transforms over the three primes and an instruction set.

use super::odd_roots::{OddRootTable, odd_roots};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{COUNT, FactorForm, ShoupFactor};
use std::fmt::Debug;

/// Arithmetic modulo one of the primes on the words of a vector, which is a point or a part of a point.
///
/// Each instruction set states bounds for three kinds of numbers: *any* number, *reduced* numbers, and
/// *products*, which inverse transforms take and return. A value is created with the token that proves the
/// instruction set.
///
/// All functions are inlined into closures that [`Self::run`] calls.
pub(crate) trait Arithmetic: Copy + Send + Sync + 'static {
    /// Proof that the processor has the instruction set.
    type Token: Copy + Debug + Send + Sync;
    /// Words side by side.
    type Vector: Copy;
    /// Vectors per point.
    const VECTORS: usize;
    /// The representation of Shoup factors.
    const FORM: FactorForm;
    /// The divisor of [`Self::multiply_point`]: its products are divided by this number.
    const DIVIDED_BY: u64;
    /// The roots of odd order and their powers.
    const ODD_ROOTS: &'static OddRootTable = &odd_roots(Self::FORM);

    /// Calls a function with the instruction set enabled.
    fn run<T>(token: Self::Token, work: impl FnOnce() -> T) -> T;
    /// The constants of a prime.
    fn new(token: Self::Token, prime: u64) -> Self;

    fn load(&self, point: &Point, vector: usize) -> Self::Vector;
    fn store(&self, point: &mut Point, vector: usize, x: Self::Vector);
    fn zero(&self) -> Self::Vector;
    /// `a + b`.
    fn add(&self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `-x`, for a product or the residues of digits.
    fn negate(&self, x: Self::Vector) -> Self::Vector;
    /// A reduced number congruent to x.
    fn reduce(&self, x: Self::Vector) -> Self::Vector;
    /// A factor in every word.
    fn splat(&self, factor: &ShoupFactor) -> [Self::Vector; 2];
    /// `sum + x w` for any x, with one factor w per word.
    fn mul_add_by(&self, sum: Self::Vector, x: Self::Vector, factors: [Self::Vector; 2]) -> Self::Vector;
    /// `sum + x w` for any x.
    #[inline(always)]
    fn mul_add(&self, sum: Self::Vector, x: Self::Vector, factor: &ShoupFactor) -> Self::Vector {
        self.mul_add_by(sum, x, self.splat(factor))
    }
    /// The residues of digits of up to 64 bits.
    fn residues(&self, digits: &[u64; LANES], vector: usize) -> Self::Vector;

    /// Splits a block in two: `(a + w x, a - w x)`. Inputs and outputs are any numbers.
    fn forward2(&self, x: [Self::Vector; 2], root: &ShoupFactor) -> [Self::Vector; 2];
    /// Splits a block modulo `y^(4 len) - r` into four, with the roots of its node j and of nodes 2j and 2j +
    /// 1.
    fn forward4(&self, x: [Self::Vector; 4], roots: [&ShoupFactor; 3]) -> [Self::Vector; 4];
    /// Splits a block as [`Self::forward4`] does, if its numbers are outputs of `forward4`.
    #[inline(always)]
    fn forward4_again(&self, x: [Self::Vector; 4], roots: [&ShoupFactor; 3]) -> [Self::Vector; 4] {
        self.forward4(x, roots)
    }
    /// Joins two blocks. Inputs and outputs are products. The factor is minus the inverse of the root of
    /// [`Self::forward2`]. All values are multiplied by two.
    fn inverse2(&self, x: [Self::Vector; 2], root: &ShoupFactor) -> [Self::Vector; 2];
    /// Joins four blocks. All values are multiplied by four.
    fn inverse4(&self, x: [Self::Vector; 4], roots: [&ShoupFactor; 3]) -> [Self::Vector; 4];

    /// A transform of length 3 with a root w, from products or residues of digits to any numbers. With
    /// `t = w (x_1 - x_2)` and `w^2 = -1 - w` it is `x_0 + x_1 + x_2`, `x_0 - x_2 + t`, `x_0 - x_1 - t`.
    fn transform3(&self, x: [Self::Vector; 3], root: &ShoupFactor) -> [Self::Vector; 3];
    /// A transform of length 5 with a root w, from products or residues of digits to any numbers. Let
    /// `s = x_1 + x_4`, `s' = x_2 + x_3`, `d = x_1 - x_4`, `d' = x_2 - x_3`, and f the factors of
    /// `OddRoots::fifths`. Elements 1 and 4 are `x_0 + f_1 (s + s') + f_0 (s - s')`, plus and minus
    /// `f_2 d + f_3 d'`. Elements 2 and 3 are `x_0 + f_1 (s + s') - f_0 (s - s')`, plus and minus
    /// `f_3 d - f_2 d'`.
    fn transform5(&self, x: [Self::Vector; 5], fifths: &[ShoupFactor; 4]) -> [Self::Vector; 5];

    /// `a <- a b` as polynomials modulo `x^8 - y`, divided by [`Self::DIVIDED_BY`]. y is the product of the
    /// `twiddles`, or minus that product if `is_negated`.
    fn multiply_point(
        &self,
        a: &mut Point,
        b: &Point,
        twiddles: (&ShoupFactor, Option<&ShoupFactor>),
        is_negated: bool,
    );

    /// Reconstructs numbers from their residues modulo three primes, starting with prime `first`. Each
    /// residue is multiplied by one factor per word. Writes the three words of each number. `2^OFFSET` is
    /// added to signed numbers.
    fn join(
        token: Self::Token,
        first: usize,
        is_signed: bool,
        residues: [Self::Vector; COUNT],
        factors: [[Self::Vector; 2]; COUNT],
        words: (&mut [Point; 3], usize),
    );
}
