//! Noise: how much there is, how it is drawn, and a bound that everyone can compute.

use super::{Error, Setting, random};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// The noise of a fresh ciphertext `2 u(r) + b`: which coefficients of u are not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Noise {
    /// A fixed number of coefficients ([`Setting::nonzeros`]) is 1 or -1, and the others are 0, as Gentry and
    /// Halevi had it. The default: a fresh ciphertext has some 4 bits less noise, and with all powers of r at
    /// hand encryption takes some 16 additions. The powers are read at secret places, so that other programs
    /// on the same machine may learn them from its caches.
    #[default]
    Sparse,
    /// Every coefficient is 0 with probability one half, otherwise 1 or -1, as the thesis has it. All powers
    /// of r are read and added, whatever the noise.
    Dense,
}

impl Noise {
    /// A bound on the canonical norm of `2 u + b`, in bits.
    ///
    /// The norm is at most the sum of the coefficients' magnitudes, 2 k + 1 for k coefficients that are not
    /// zero. Many coefficients nearly cancel: at a root the real part of u is a sum of n terms `u_i cos(i x)`
    /// whose squared cosines sum up to n/2, and `E exp(y u_i) = cosh(y/2)^2 <= exp(y^2 / 4)`. So it exceeds t
    /// with a probability of at most `2 exp(-2 t^2 / n)`, the imaginary part as well, and the magnitude
    /// exceeds T at any of n/2 pairs of roots with at most `2 n exp(-T^2 / n)`. That is below `2^-64` for
    /// `T^2 = n (ln(2 n) + 64 ln 2)`.
    #[must_use]
    pub fn bits(self, setting: &Setting) -> f64 {
        let n = setting.dimension() as f64;
        let magnitude = match self {
            Self::Sparse => setting.nonzeros() as f64,
            Self::Dense => n.min((n * ((2.0 * n).ln() + 64.0 * 2f64.ln())).sqrt()),
        };
        (2.0 * magnitude + 1.0).log2()
    }
}

/// Polynomials u of several fresh ciphertexts.
pub(super) enum Polynomials {
    /// The places of the coefficients that are not zero, and whether they are -1.
    Sparse(Vec<Zeroizing<Vec<(u32, bool)>>>),
    /// `u_i + 1` for all coefficients, one polynomial after the other.
    Dense(Zeroizing<Vec<u8>>),
}

impl Polynomials {
    /// Draws `count` polynomials.
    pub(super) fn draw(setting: &Setting, noise: Noise, count: usize) -> Result<Self, Error> {
        let n = setting.dimension();
        Ok(match noise {
            Noise::Sparse => {
                let draw = |_| random::signed_places(n, setting.nonzeros());
                Self::Sparse((0..count).map(draw).collect::<Result<_, _>>()?)
            }
            Noise::Dense => {
                // Two random bits for each coefficient: their sum is 1 with probability one half.
                let words = random::words((2 * n * count).div_ceil(64))?;
                let coefficient = |index: usize| {
                    let bits = words[index / 32] >> (index % 32 * 2);
                    (bits & 1) as u8 + (bits >> 1 & 1) as u8
                };
                let mut weights = Zeroizing::new(vec![0; n * count]);
                weights.par_chunks_mut(n).enumerate().for_each(|(polynomial, weights)| {
                    for (index, weight) in weights.iter_mut().enumerate() {
                        *weight = coefficient(polynomial * n + index);
                    }
                });
                Self::Dense(weights)
            }
        })
    }

    /// The coefficients of polynomial `index` of n.
    pub(super) fn coefficients(&self, index: usize, n: usize) -> Zeroizing<Vec<f64>> {
        match self {
            Self::Sparse(polynomials) => {
                let mut coefficients = Zeroizing::new(vec![0.0; n]);
                for &(place, is_negative) in polynomials[index].iter() {
                    coefficients[place as usize] = if is_negative { -1.0 } else { 1.0 };
                }
                coefficients
            }
            Self::Dense(weights) => Zeroizing::new(
                weights[index * n..][..n].iter().map(|&weight| f64::from(weight) - 1.0).collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::embedding::Embedding;
    use super::*;

    #[test]
    fn bounds_hold_at_every_root() {
        for (n, security) in [(32, 8), (256, 72), (2048, 72)] {
            let setting = Setting::custom(n, 380, security).unwrap();
            let embedding = Embedding::new(n);
            for noise in [Noise::Sparse, Noise::Dense] {
                let bound = noise.bits(&setting);
                let drawn = Polynomials::draw(&setting, noise, 40).unwrap();
                let mut counts = [0usize; 3];
                for index in 0..40 {
                    let coefficients = drawn.coefficients(index, n);
                    coefficients.iter().for_each(|u| counts[(u + 1.0) as usize] += 1);
                    let greatest = embedding
                        .values(&coefficients)
                        .iter()
                        .map(|value| 2.0 * value.magnitude() + 1.0)
                        .fold(0.0, f64::max);
                    assert!(greatest.log2() <= bound, "{n} {noise:?}");
                }
                let total = 40.0 * n as f64;
                let nonzeros = match noise {
                    Noise::Sparse => 40.0 * setting.nonzeros() as f64,
                    Noise::Dense => total / 2.0,
                };
                let minus = counts[0] as f64;
                // Five standard deviations of the dense noise.
                let slack = 2.5 * total.sqrt();
                assert!(
                    ((counts[0] + counts[2]) as f64 - nonzeros).abs() <= slack
                        && (minus - nonzeros / 2.0).abs() <= slack
                );
            }
        }
        assert!((5.0..5.1).contains(&Noise::Sparse.bits(&Setting::small())));
        assert!((9.3..9.4).contains(&Noise::Dense.bits(&Setting::small())));
    }
}
