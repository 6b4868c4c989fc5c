//! The operations that a homomorphic scheme offers to circuits.

use std::error::Error;
use std::fmt::Debug;

/// A homomorphic scheme with one public key: gates on batches of encrypted bits, and the noise that they
/// make.
///
/// The functions of noise (`after_...`, [`Scheme::is_safe`]) look at nothing but their arguments and the
/// public key, so that a [`Plan`](super::Plan) is made before anything is computed. They must never promise
/// less noise than the gates make, and less noise of an operand must not give more noise of an answer.
pub trait Scheme {
    /// A batch of encrypted bits.
    type Bits;
    /// The noise of one bit, as far as anyone can tell.
    type Noise: Copy + Debug + PartialEq;
    /// Why a gate fails.
    type Error: Error + 'static;

    /// The number of bits.
    fn len(&self, bits: &Self::Bits) -> usize;

    /// The bits at some places, in their order. A place may occur several times.
    fn select(&self, bits: &Self::Bits, places: &[usize]) -> Result<Self::Bits, Self::Error>;

    /// The bits of several batches, one batch after the other.
    fn join(&self, batches: &[&Self::Bits]) -> Result<Self::Bits, Self::Error>;

    /// A bit that everyone knows, `count` times.
    fn constant(&self, bit: bool, count: usize) -> Result<Self::Bits, Self::Error>;

    /// The complement of each bit.
    fn not(&self, bits: &Self::Bits) -> Result<Self::Bits, Self::Error>;

    /// The sums modulo 2 of two batches of the same number of bits.
    fn xor(&self, left: &Self::Bits, right: &Self::Bits) -> Result<Self::Bits, Self::Error>;

    /// The products of two batches of the same number of bits.
    fn and(&self, left: &Self::Bits, right: &Self::Bits) -> Result<Self::Bits, Self::Error>;

    /// These bits with the noise of [`Scheme::after_recrypt`].
    fn recrypt(&self, bits: &Self::Bits) -> Result<Self::Bits, Self::Error>;

    /// The noise of each bit.
    fn noise(&self, bits: &Self::Bits) -> Vec<Self::Noise>;

    /// The noise of a bit that everyone knows.
    fn noise_of_constant(&self) -> Self::Noise;

    /// The noise of a sum.
    fn after_xor(&self, left: Self::Noise, right: Self::Noise) -> Self::Noise;

    /// The noise of a product.
    fn after_and(&self, left: Self::Noise, right: Self::Noise) -> Self::Noise;

    /// The noise of a complement: that of the sum with a constant, unless the scheme knows better.
    fn after_not(&self, noise: Self::Noise) -> Self::Noise {
        self.after_xor(noise, self.noise_of_constant())
    }

    /// The noise of a recrypted bit; `None` if the scheme cannot recrypt.
    fn after_recrypt(&self, noise: Self::Noise) -> Option<Self::Noise>;

    /// Whether a bit with this noise decrypts rightly and, in a scheme that recrypts, can still be recrypted.
    fn is_safe(&self, noise: Self::Noise) -> bool;

    /// The bits of noise that may be added until the bit no longer decrypts: a number for people.
    fn budget(&self, noise: Self::Noise) -> f64;
}
