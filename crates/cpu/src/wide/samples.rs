//! The vector operations that the wide kernels are written in, and the constants of the splitting.
#![allow(unsafe_code)]

/// A vector of samples: doubles, or the 64-bit integers with the same bits.
///
/// # Safety
/// Every function may be called only where the processor has the vector's instruction set, and
/// becomes good code only where it is inlined into a function compiled for that set: hence
/// `#[inline(always)]` on all of them and on all of [`super::leaf`].
pub trait Samples: Copy + Send + Sync + 'static {
    /// Samples per vector.
    const LANES: usize;
    /// Bits per sample, at most 52; samples are integers from 0 to `2^WIDTH` inclusive.
    const WIDTH: u32;
    /// What low halves ride on: `2^52` where [`Samples::fma`] rounds toward zero and low halves
    /// are not negative, `1.5 * 2^52` where it rounds to nearest and they have a sign.
    const LOW: f64;
    /// Samples of one factor that a pass holds in registers.
    const BLOCK: usize;

    /// Products that one chain of additions in floating point can take. Each adds at most
    /// `2^(2 WIDTH)` to a sum that must not leave the binade above `2^(WIDTH + 52)`, and at most
    /// half (rounding to nearest) or all (toward zero) of `2^WIDTH` to the low sum, which must not
    /// leave its own binade; both allow `2^(52 - WIDTH)`.
    const CHAIN: usize = 1 << (52 - Self::WIDTH);
    /// What high halves ride on: its last place is worth `2^WIDTH`.
    const HIGH: f64 = f64::from_bits(((1023 + 52 + Self::WIDTH) as u64) << 52);
    /// Minuend that takes a high half from the product and adds `LOW`. It must be a double.
    const BOTH: f64 = {
        let both = Self::HIGH + Self::LOW;
        assert!(both - Self::HIGH == Self::LOW, "HIGH + LOW needs more than 53 bits");
        both
    };
    /// Added to each column so that its sum is never negative and a logical shift carries; zero
    /// where low halves are not negative.
    const BIAS: u64 = if Self::LOW.to_bits() & MANTISSA == 0 { 0 } else { 1 << 62 };
    /// What the bias of one column carries into the next.
    const CARRIED_BIAS: u64 = Self::BIAS >> Self::WIDTH;

    /// Loads a vector.
    ///
    /// # Safety
    /// `from` is valid for reading `LANES` words; the instruction set is there.
    unsafe fn load(from: *const u64) -> Self;
    /// Stores a vector.
    ///
    /// # Safety
    /// `to` is valid for writing `LANES` words; the instruction set is there.
    unsafe fn store(self, to: *mut u64);
    /// The same word in every lane.
    ///
    /// # Safety
    /// The instruction set is there; likewise below.
    unsafe fn splat(word: u64) -> Self;
    /// `self * b + c`, rounded once, in the direction that `LOW` stands for.
    ///
    /// # Safety
    /// As above.
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// Sum of doubles, only used where it is exact.
    ///
    /// # Safety
    /// As above.
    unsafe fn plus(self, b: Self) -> Self;
    /// Difference of doubles, only used where it is exact.
    ///
    /// # Safety
    /// As above.
    unsafe fn minus(self, b: Self) -> Self;
    /// Sum of integers modulo `2^64`.
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

/// `2^52`, at which one unit is one last place.
pub(crate) const UNIT: f64 = (1u64 << 52) as f64;

/// What cancels the exponents of so many high and low chains (the paper's figure 6; the low halves
/// may carry a mantissa bit besides).
pub(crate) const fn make_initial<S: Samples>(high: u64, low: u64) -> u64 {
    let value = high.wrapping_mul(S::HIGH.to_bits()).wrapping_add(low.wrapping_mul(S::LOW.to_bits()));
    value.wrapping_neg()
}

/// The bias that column `index` of a chain of carries starts with.
pub(crate) const fn bias<S: Samples>(index: usize) -> u64 {
    if index == 0 { S::BIAS } else { S::BIAS - S::CARRIED_BIAS }
}
