//! Values of polynomials modulo `x^n + 1` at the complex roots of `x^n + 1`, in floating point.
//!
//! The canonical norm of a polynomial is its greatest magnitude at a root. It is multiplicative at each root,
//! so that the norm of a product is at most the product of the norms, and the norm of a sum at most the sum.
//! It is at most the sum of the coefficients' magnitudes.

use super::resultant::Coefficients;
use std::f64::consts::PI;
use std::ops::{Add, AddAssign, Mul, Sub};
use zeroize::{DefaultIsZeroes, Zeroizing};

/// A complex number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Complex {
    re: f64,
    im: f64,
}

impl DefaultIsZeroes for Complex {}

impl Complex {
    /// A real number.
    pub(super) fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }

    /// `e^(i angle)`.
    fn unit(angle: f64) -> Self {
        Self { re: angle.cos(), im: angle.sin() }
    }

    pub(super) fn magnitude(self) -> f64 {
        self.re.hypot(self.im)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

/// The transform of a dimension.
pub(super) struct Embedding {
    /// `e^(i pi k / n)` for k below 2n.
    roots: Vec<Complex>,
}

impl Embedding {
    /// The transform of dimension n, a power of two.
    pub(super) fn new(n: usize) -> Self {
        Self { roots: (0..2 * n).map(|k| Complex::unit(PI * k as f64 / n as f64)).collect() }
    }

    /// The values of a polynomial of n real coefficients at `e^(i pi (2k + 1) / n)` for k below n/2. The
    /// other roots are their conjugates.
    pub(super) fn values(&self, coefficients: &[f64]) -> Zeroizing<Vec<Complex>> {
        let n = coefficients.len();
        let shift = usize::BITS - n.ilog2();
        let mut points = Zeroizing::new(vec![Complex::default(); n]);
        for (index, &coefficient) in coefficients.iter().enumerate() {
            // Coefficient i is turned by pi i / n, so that the odd roots become all n-th roots.
            let place = if n == 1 { 0 } else { index.reverse_bits() >> shift };
            points[place] = self.roots[index] * Complex::real(coefficient);
        }
        let mut half = 1;
        while half < n {
            for pair in points.chunks_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                for (k, (low, high)) in low.iter_mut().zip(high).enumerate() {
                    let turned = self.roots[k * (n / half)] * *high;
                    (*low, *high) = (*low + turned, *low - turned);
                }
            }
            half *= 2;
        }
        points.truncate(n.div_ceil(2));
        points
    }
}

/// How many bits the canonical norm of noise may have so that decryption is right.
///
/// Let a be the noise polynomial of a ciphertext (`c = a(r) mod d`), and w the scaled inverse of v, so that
/// `w(z) = d / v(z)` at each root z. Decryption recovers a coefficient of a w if all are below d/2. A
/// coefficient of a polynomial is at most the mean of its magnitudes at the n roots, so those of a w are at
/// most `|a| d mean(1 / |v(z)|)` with the canonical norm |a|. This is below d/2 if
/// `log2 |a| < -log2(2 mean(1 / |v(z)|))`, the capacity.
pub(super) fn capacity(embedding: &Embedding, v: &Coefficients, t: usize) -> f64 {
    // Scaled by 2^-t, so that nothing overflows. Limbs that are too low to count vanish.
    let coefficient = |limbs: &[u64]| {
        let (top, low) = limbs.split_last().expect("a coefficient has limbs");
        let scale = |index: usize| (64.0 * index as f64 - t as f64).exp2();
        let low = low.iter().enumerate().map(|(index, &limb)| limb as f64 * scale(index));
        low.sum::<f64>() + *top as i64 as f64 * scale(limbs.len() - 1)
    };
    let scaled: Zeroizing<Vec<f64>> = Zeroizing::new(v.limbs.chunks(v.stride).map(coefficient).collect());
    let values = embedding.values(&scaled);
    let mean = values.iter().map(|value| value.magnitude().recip()).sum::<f64>() / values.len() as f64;
    rounded_down(t as f64 - 1.0 - mean.log2())
}

/// A number of bits with a resolution of an eighth, which also covers the errors of floating point.
pub(super) fn rounded_down(bits: f64) -> f64 {
    (8.0 * bits - 0.01).floor() / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_horner() {
        for n in [2usize, 4, 8, 64] {
            let coefficients: Vec<f64> = (0..n).map(|i| ((i * i * 7 + 3) % 11) as f64 - 5.0).collect();
            let values = Embedding::new(n).values(&coefficients);
            assert_eq!(values.len(), n / 2);
            for (k, value) in values.iter().enumerate() {
                let root = Complex::unit(PI * (2 * k + 1) as f64 / n as f64);
                let horner = coefficients
                    .iter()
                    .rev()
                    .fold(Complex::default(), |sum, &coefficient| sum * root + Complex::real(coefficient));
                assert!((*value - horner).magnitude() < 1e-9, "{n} {k}");
            }
        }
    }

    #[test]
    fn capacity_of_a_constant() {
        // v = 2^99: 1 / v is a constant, and a noise of 2^98 gives half a d.
        let mut limbs = Zeroizing::new(vec![0; 32]);
        limbs[1] = 1 << 35;
        let v = Coefficients { limbs, stride: 2, bits: 100 };
        assert_eq!(capacity(&Embedding::new(16), &v, 100), 98.0 - 0.125);
    }
}
