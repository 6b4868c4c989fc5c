//! Vectors of signed words, one word a lane.

use super::inverse::Inputs;
use super::{DIGIT, Space};
use modmill_core::{Moduli, Operand};

/// A vector of signed words. A value proves that the processor has its instructions, because one is made from
/// a token or from another one.
pub(crate) trait Vector: Copy + Send + Sync + 'static {
    /// Proof of the instruction set.
    type Token: Copy + Send + Sync;
    /// The number of words.
    const LANES: usize;
    /// A constant that sums of products start with, so that [`Vector::carry`] is short.
    const BIAS: i64;

    /// The same word in all lanes.
    fn splat(token: Self::Token, word: i64) -> Self;

    /// This word in all lanes.
    fn with(self, word: i64) -> Self;

    /// The words of vectors, lane after lane.
    fn words(vectors: &[Self]) -> &[u64];

    /// The words of vectors, to be written.
    fn words_mut(vectors: &mut [Self]) -> &mut [u64];

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;

    /// The product of the low halves of each word, which are signed.
    fn times(self, other: Self) -> Self;

    /// `2^BITS` times each word.
    fn up<const BITS: u32>(self) -> Self;

    /// Each word shifted down; zeros come in.
    fn down<const BITS: u32>(self) -> Self;

    /// Each word shifted down by up to 64 bits.
    fn down_by(self, bits: usize) -> Self;

    /// Each word shifted up by up to 64 bits.
    fn up_by(self, bits: usize) -> Self;

    /// `floor(x / 2^BITS)` for each signed word x.
    fn floor<const BITS: u32>(self) -> Self;

    /// All ones where a word is negative, zero elsewhere.
    fn sign(self) -> Self;

    /// Whether a word of any lane is not zero.
    fn any(self) -> bool;

    /// The part of a sum of products above a digit, with the bias of the next sum.
    fn carry(self) -> Self;

    /// Division step i of half a batch on the words of f and g, as [`super::batch`] has them. zeta is biased
    /// by i.
    fn step(step: u32, f: &mut Self, g: &mut Self, zeta: &mut Self);

    /// Step i of [`Vector::step`] with g + f in the place of g - f. The bit of `flips` at place i + 1 changes
    /// with the sign of the Jacobi symbol.
    fn positive_step(step: u32, f: &mut Self, g: &mut Self, zeta: &mut Self, flips: &mut Self);

    /// The bits of a digit.
    #[inline(always)]
    fn digit(self) -> Self {
        self.and(self.with((1 << DIGIT) - 1))
    }

    /// A sum of products without its bias.
    #[inline(always)]
    fn unbiased(self) -> Self {
        if Self::BIAS == 0 { self } else { self.xor(self.with(Self::BIAS)) }
    }
}

/// The kernels, compiled for the instruction set of a vector.
pub(crate) trait Kernels: Vector {
    /// Writes inverses to rows of `stride` limbs. A row is zero if the item has no inverse.
    fn inverses(inputs: Inputs<'_>, space: &mut Space<Self>, out: &mut [u64], stride: usize);

    /// Writes the greatest common divisors of some items, one for each lane of two vectors at most, to their
    /// rows. No number is zero. The lanes take the steps of the pair that takes most.
    fn divisors(pair: [Operand<'_>; 2], rows: &mut [(usize, &mut [u64])], space: &mut Space<Self>);

    /// Writes the Jacobi symbols of some items, one for each lane at most, as signed words. The moduli n are
    /// odd.
    fn symbols(a: Operand<'_>, n: Moduli<'_>, rows: &mut [(usize, &mut u64)], space: &mut Space<Self>);
}

/// Compiles the kernels for the instruction set of a vector.
macro_rules! implement_kernels {
    ($vector:ty, $features:literal) => {
        impl $crate::divsteps::vector::Kernels for $vector {
            fn inverses(
                inputs: $crate::divsteps::Inputs<'_>,
                space: &mut $crate::divsteps::Space<Self>,
                out: &mut [u64],
                stride: usize,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    inputs: $crate::divsteps::Inputs<'_>,
                    space: &mut $crate::divsteps::Space<$vector>,
                    out: &mut [u64],
                    stride: usize,
                ) {
                    $crate::divsteps::inverse::inverses(inputs, space, out, stride);
                }
                // SAFETY: the space has a token, which proves the instruction set; the same holds below.
                unsafe { run(inputs, space, out, stride) }
            }

            fn divisors(
                pair: [modmill_core::Operand<'_>; 2],
                rows: &mut [(usize, &mut [u64])],
                space: &mut $crate::divsteps::Space<Self>,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    pair: [modmill_core::Operand<'_>; 2],
                    rows: &mut [(usize, &mut [u64])],
                    space: &mut $crate::divsteps::Space<$vector>,
                ) {
                    $crate::divsteps::gcd::divisors(pair, rows, space);
                }
                // SAFETY: see above.
                unsafe { run(pair, rows, space) }
            }

            fn symbols(
                a: modmill_core::Operand<'_>,
                n: modmill_core::Moduli<'_>,
                rows: &mut [(usize, &mut u64)],
                space: &mut $crate::divsteps::Space<Self>,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    a: modmill_core::Operand<'_>,
                    n: modmill_core::Moduli<'_>,
                    rows: &mut [(usize, &mut u64)],
                    space: &mut $crate::divsteps::Space<$vector>,
                ) {
                    $crate::divsteps::jacobi::symbols(a, n, rows, space);
                }
                // SAFETY: see above.
                unsafe { run(a, n, rows, space) }
            }
        }
    };
}

pub(crate) use implement_kernels;
