//! Bounds of noise, computed before anything else is.
//!
//! The noise of a ciphertext c is the integer `v = [<c, s>]_M`, centred in (-M/2, M/2]; its parity is the
//! message. Decryption is right as long as the integer `v` that the operations make is below M/2 in absolute
//! value. All bounds here are certain, because secrets and errors have bounded values: nothing holds only
//! with high probability.

use super::error::Error;
use super::random::GREATEST;
use modmill::matrix::ResidueModuli;

/// An upper bound of `|v|`, as its logarithm to base 2.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Noise(pub(super) f64);

/// The margin that is added to logarithms, so that their rounding errors only raise a bound.
pub(super) const ROUNDING: f64 = 1e-9;

impl Noise {
    /// The bound `value`, at least 1.
    pub(super) fn of(value: f64) -> Self {
        Self(value.max(1.0).log2() + ROUNDING)
    }

    /// A bound from its logarithm, as it was written down.
    pub(super) fn from_log2(log2: f64) -> Option<Self> {
        (log2.is_finite() && log2 >= 0.0).then_some(Self(log2))
    }

    /// The logarithm.
    pub(super) fn log2(self) -> f64 {
        self.0
    }

    /// `v = m + 2 <e, r>` with r of `samples` = N bits: at most `1 + 2 N e`.
    pub(super) fn fresh(samples: usize) -> Self {
        Self::of(1.0 + 2.0 * samples as f64 * f64::from(GREATEST))
    }

    /// The sum of two.
    pub(super) fn plus(self, other: Self) -> Self {
        let (high, low) = (self.0.max(other.0), self.0.min(other.0));
        Self(high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2 + ROUNDING)
    }

    /// Whether it is below M/2.
    pub(super) fn fits(self, moduli: &ResidueModuli) -> bool {
        let modulus: f64 = moduli.words().iter().map(|modulus| f64::from(modulus.get()).log2()).sum();
        self.0 < modulus - 1.0 - ROUNDING * moduli.len() as f64
    }

    /// An error if it is not below M/2.
    pub(super) fn check(self, moduli: &ResidueModuli) -> Result<(), Error> {
        match self.fits(moduli) {
            true => Ok(()),
            false => Err(Error::TooDeep { noise_bits: self.bits(), modulus_bits: moduli.bits() as u32 }),
        }
    }

    /// Bits of the bound.
    pub(super) fn bits(self) -> u32 {
        self.0.ceil() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_upper_bounds() {
        for (a, b) in [(1.0, 1.0), (3.0, 1e9), (1e300, 1e290), (5.0, 1e15)] {
            let sum = Noise::of(a).plus(Noise::of(b));
            assert!(sum.0 >= (a + b).log2() && sum.0 <= (a + b).log2() + 1e-8, "{a} + {b}");
        }
    }

    #[test]
    fn half_of_the_modulus_is_too_much() {
        let moduli = ResidueModuli::new(&[1025]).unwrap();
        assert!(Noise::of(511.0).fits(&moduli) && !Noise::of(513.0).fits(&moduli));
    }
}
