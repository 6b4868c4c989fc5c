//! The vectors of doubles that an instruction set has.

use crate::fft::point::LANES;
use std::fmt::Debug;

/// Doubles side by side. Vectors come from functions that take a token, so that each proves the instruction
/// set.
pub(crate) trait Vector: Copy + Send + Sync + 'static {
    /// Proof that the processor has the instruction set.
    type Token: Copy + Debug + Send + Sync;
    /// Doubles of a vector.
    const WIDTH: usize;
    /// Vectors of a point.
    const PER_POINT: usize = LANES / Self::WIDTH;

    /// Calls a function with the instruction set enabled.
    fn run<T>(token: Self::Token, work: impl FnOnce() -> T) -> T;

    /// x in every lane.
    fn splat(token: Self::Token, x: f64) -> Self;
    /// The bits of [`Self::WIDTH`] words.
    fn load(token: Self::Token, words: &[u64]) -> Self;
    /// Writes the bits to as many words.
    fn store(self, words: &mut [u64]);

    /// `a + b`.
    fn add(self, b: Self) -> Self;
    /// `a - b`.
    fn sub(self, b: Self) -> Self;
    /// `a b`.
    fn mul(self, b: Self) -> Self;
    /// `a b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `a b - c`, rounded once.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// `c - a b`, rounded once.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;

    /// The low and high 32 bits of words, each below the upper bits of one of two doubles whose low 32 bits
    /// are zero.
    fn halves(self, upper: [Self; 2]) -> [Self; 2];
    /// The lanes from lane `from` of `low` on, followed by those of `high`; `from` is below [`Self::WIDTH`].
    fn window(low: Self, high: Self, from: usize) -> Self;
    /// The three words of a number, from three digits of 50 bits. Each digit is the low bits of a double that
    /// has the upper bits of `unit`.
    fn pack(digits: [Self; 3], unit: Self) -> [Self; 3];
}
