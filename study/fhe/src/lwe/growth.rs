//! The growth of noise by products, and the depth of circuits that it allows.

use super::error::Error;
use super::noise::{Noise, ROUNDING};
use super::parameters::Parameters;
use super::random::GREATEST;

impl Noise {
    /// The noise after switching the keys of a tensor product modulo the first `count` moduli: every digit,
    /// below 2^w, multiplies an error of at most e twice.
    fn switched(parameters: &Parameters, count: usize) -> Self {
        let rows = parameters.pairs() as f64 * count as f64 * parameters.digits() as f64;
        let digit = f64::from((1u32 << parameters.digit_bits()) - 1);
        Self::of(2.0 * rows * digit * f64::from(GREATEST))
    }

    /// The noise after dividing by the modulus m: `|v| / m`, and less than 1 for each unit of the secret.
    pub(super) fn after_drop(self, parameters: &Parameters, modulus: u32) -> Self {
        Self((self.0 - f64::from(modulus).log2() + ROUNDING).max(0.0)).plus(Self::of(parameters.secret_sum()))
    }

    /// The noise after a product modulo the first `count` moduli, which drops one of them if it is not the
    /// last, with the number of moduli that are left.
    pub(super) fn after_product(
        self,
        other: Self,
        parameters: &Parameters,
        count: usize,
    ) -> Result<(Self, usize), Error> {
        let moduli = parameters.moduli().first(count)?;
        let product = Self(self.0 + other.0 + ROUNDING).plus(Self::switched(parameters, count));
        product.check(&moduli)?;
        match count {
            1 => Ok((product, 1)),
            _ => {
                let dropped = moduli.words()[count - 1].get();
                let noise = product.after_drop(parameters, dropped);
                noise.check(&parameters.moduli().first(count - 1)?)?;
                Ok((noise, count - 1))
            }
        }
    }
}

impl Parameters {
    /// The number of products in a row that surely decrypt: fresh ciphertexts, each product with one of the
    /// same depth.
    #[must_use]
    pub fn depth(&self) -> usize {
        let mut noise = Noise::fresh(self.samples());
        let mut count = self.moduli().len();
        let mut depth = 0;
        while let Ok((next, left)) = noise.after_product(noise, self, count) {
            (noise, count, depth) = (next, left, depth + 1);
            // With one modulus left, noise grows at every product.
            if depth > 2 * self.moduli().len() {
                break;
            }
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_grows_with_the_moduli() {
        let depth = |count| Parameters::leveled(8, count).unwrap().depth();
        assert!(depth(1) < depth(2) && depth(2) < depth(3) && depth(3) < depth(4));
    }
}
