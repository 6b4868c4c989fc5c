//! The vector operations of the wide kernels, and the constants that split products.
#![allow(unsafe_code)]

/// A vector of samples: doubles, or the 64-bit integers with the same bits.
///
/// # Safety
/// A function may be called only if the processor has the vector's instruction set. It compiles to
/// good code only if it is inlined into a function that is compiled for that set. All functions here and in
/// [`super::leaf`] are therefore `#[inline(always)]`.
pub(crate) trait Samples: Copy + Send + Sync + 'static {
    /// Samples per vector.
    const LANES: usize;
    /// Bits per sample, at most 52. Samples are integers from 0 to `2^WIDTH` inclusive.
    const WIDTH: u32;
    /// The offset of low halves. It is `2^52` if [`Samples::fma`] rounds toward zero, so that low halves are
    /// non-negative. It is `1.5 * 2^52` if `fma` rounds to nearest, so that low halves are signed.
    const LOW: f64;
    /// Samples of one factor that a pass holds in registers.
    const BLOCK: usize;

    /// Products that one chain of floating-point additions can take. Each product adds at most `2^(2 WIDTH)`
    /// to a high sum that must stay in the binade above `2^(WIDTH + 52)`. It adds at most half (rounding to
    /// nearest) or all (rounding toward zero) of `2^WIDTH` to a low sum that must stay in its own binade.
    /// Both allow `2^(52 - WIDTH)` products.
    const CHAIN: usize = 1 << (52 - Self::WIDTH);
    /// The offset of high halves: its unit in the last place is `2^WIDTH`.
    const HIGH: f64 = f64::from_bits(((1023 + 52 + Self::WIDTH) as u64) << 52);
    /// The minuend that subtracts a high half from the product and adds `LOW`. It must be exact as a double.
    const BOTH: f64 = {
        let both = Self::HIGH + Self::LOW;
        assert!(both - Self::HIGH == Self::LOW, "HIGH + LOW needs more than 53 bits");
        both
    };
    /// The bias of each column. It makes the sum non-negative, so that a logical shift yields the carry. It
    /// is zero if low halves are non-negative.
    const BIAS: u64 = if Self::LOW.to_bits() & MANTISSA == 0 { 0 } else { 1 << 62 };
    /// The carry of one column's bias into the next column.
    const CARRIED_BIAS: u64 = Self::BIAS >> Self::WIDTH;

    /// Loads a vector.
    ///
    /// # Safety
    /// `from` is valid for reading `LANES` words, and the processor has the instruction set.
    unsafe fn load(from: *const u64) -> Self;
    /// Stores a vector.
    ///
    /// # Safety
    /// `to` is valid for writing `LANES` words, and the processor has the instruction set.
    unsafe fn store(self, to: *mut u64);
    /// A vector with `word` in every lane.
    ///
    /// # Safety
    /// The processor has the instruction set. The same holds for all functions below.
    unsafe fn splat(word: u64) -> Self;
    /// `self * b + c`, rounded once, in the direction that `LOW` implies.
    ///
    /// # Safety
    /// As above.
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// The sum of doubles. It is used only where it is exact.
    ///
    /// # Safety
    /// As above.
    unsafe fn plus(self, b: Self) -> Self;
    /// The difference of doubles. It is used only where it is exact.
    ///
    /// # Safety
    /// As above.
    unsafe fn minus(self, b: Self) -> Self;
    /// The sum of integers modulo `2^64`.
    ///
    /// # Safety
    /// As above.
    unsafe fn add(self, b: Self) -> Self;
    /// Bitwise and.
    ///
    /// # Safety
    /// As above.
    unsafe fn and(self, b: Self) -> Self;
    /// Bitwise or.
    ///
    /// # Safety
    /// As above.
    unsafe fn or(self, b: Self) -> Self;
    /// Logical shift right by `WIDTH`.
    ///
    /// # Safety
    /// As above.
    unsafe fn carry(self) -> Self;
}

/// The explicit bits of a double.
pub(crate) const MANTISSA: u64 = (1 << 52) - 1;

/// `2^52`, whose unit in the last place is one.
pub(crate) const UNIT: f64 = (1u64 << 52) as f64;

/// The value that cancels the exponents of `high` high chains and `low` low chains ([Emmart-wide], figure 6;
/// here low halves may also carry a mantissa bit).
pub(crate) const fn make_initial<S: Samples>(high: u64, low: u64) -> u64 {
    let value = high.wrapping_mul(S::HIGH.to_bits()).wrapping_add(low.wrapping_mul(S::LOW.to_bits()));
    value.wrapping_neg()
}

/// The initial bias of column `index` of a carry chain.
pub(crate) const fn bias<S: Samples>(index: usize) -> u64 {
    if index == 0 { S::BIAS } else { S::BIAS - S::CARRIED_BIAS }
}
