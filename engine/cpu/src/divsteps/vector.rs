//! Vectors of signed words, one word a lane.

use super::DIGIT;

/// A vector of signed words. A value proves that the processor has its instructions, because one is made from
/// a token or from another one.
pub(crate) trait Vector: Copy + Send + Sync + 'static {
    /// Proof of the instruction set.
    type Token: Copy + Send + Sync;
    /// The number of words.
    const LANES: usize;
    /// A constant that sums of products start with, so that [`Vector::carry`] is short.
    const BIAS: i64;

    /// A word that stands in all lanes.
    fn splat(token: Self::Token, word: i64) -> Self;

    /// This word in all lanes.
    fn with(self, word: i64) -> Self;

    /// This double in all lanes.
    #[inline(always)]
    fn double(self, number: f64) -> Self {
        self.with(number.to_bits() as i64)
    }

    /// The words of vectors, lane after lane.
    fn words(vectors: &[Self]) -> &[u64];

    /// The words of vectors, to be written.
    fn words_mut(vectors: &mut [Self]) -> &mut [u64];

    /// A vector of some words, zero where there are no more.
    fn load(self, words: &[u64]) -> Self;

    /// Writes the words of the first lanes, as many as there is room for.
    fn store(self, words: &mut [u64]);

    /// Word j of vector i becomes word i of vector j, for as many vectors as there are lanes.
    fn transpose(square: &mut [Self]);

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

    /// Each word shifted down by the bits of its lane, up to 64.
    fn down_each(self, bits: Self) -> Self;

    /// Each word shifted up by the bits of its lane, up to 64.
    fn up_each(self, bits: Self) -> Self;

    /// `x y + z` of words that are doubles, rounded once.
    fn multiply_add(self, y: Self, z: Self) -> Self;

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

    /// Step i of [`Vector::step`] with g + f instead of g - f. The bit of `flips` at place i + 1 changes
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
