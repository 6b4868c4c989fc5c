//! Arithmetic modulo `2^n - 1` and `2^n + 1`: what is above `2^n` is folded down, or wraps around by itself where
//! blocks of digits are n bits exactly. Constant-time in everything but n.

use super::Multiplier;
use super::powers::Reduction;
use super::product::Other;
use super::weighted::Weighted;
use super::wrapped::Wrapped;
use modmill_core::limbs::{add_assign, bit_length, reduce_once, shift_right, sub_assign};
use modmill_core::mask;
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// `2^n - 1` or `2^n + 1`, n at least 2. Numbers below it are canonical, and of `n / 64 + 1` limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `2^n - 1`.
    Minus(usize),
    /// `2^n + 1`.
    Plus(usize),
}

impl Special {
    /// The special form of a number, if it has one.
    #[must_use]
    pub fn of(number: &[u64]) -> Option<Self> {
        let bits = bit_length(number);
        let is = |special: Self| special.value()[..bits.div_ceil(64)] == number[..bits.div_ceil(64)];
        match bits {
            0 | 1 => None,
            _ => [Self::Minus(bits), Self::Plus(bits - 1)].into_iter().find(|&special| is(special)),
        }
    }

    fn bits(self) -> usize {
        match self {
            Self::Minus(n) | Self::Plus(n) => n,
        }
    }

    /// Limbs of a number below it.
    #[must_use]
    pub fn limbs(self) -> usize {
        self.bits() / 64 + 1
    }

    /// The modulus.
    #[must_use]
    pub fn value(self) -> Vec<u64> {
        let mut value = vec![0; self.limbs()];
        value[self.bits() / 64] = 1 << (self.bits() % 64);
        match self {
            Self::Minus(_) => sub_assign(&mut value, &[1]),
            Self::Plus(_) => add_assign(&mut value, &[1]),
        };
        value
    }

    /// `x mod` it, for any x.
    #[must_use]
    pub fn reduce(self, x: &[u64]) -> Vec<u64> {
        let n = self.bits();
        let modulus = self.value();
        let mut sum = vec![0; self.limbs() + 1];
        let mut piece = Zeroizing::new(vec![0; self.limbs()]);
        for index in 0..(64 * x.len()).div_ceil(n) {
            shift_right(&x[index * n / 64..], index * n % 64, &mut piece);
            piece[n / 64] &= (1 << (n % 64)) - 1;
            if matches!(self, Self::Plus(_)) && index % 2 == 1 {
                // The modulus less the piece, which is smaller.
                piece.iter_mut().for_each(|limb| *limb = !*limb);
                add_assign(&mut piece, &modulus);
                add_assign(&mut piece, &[1]);
            }
            // At most the modulus is added to what is below it.
            add_assign(&mut sum, &piece);
            reduce_once(&mut sum, &modulus);
        }
        sum.truncate(self.limbs());
        sum
    }
}

/// Multiplication modulo a special number.
pub struct Folded {
    special: Special,
    multiplier: Multiplier,
    /// Where digits make up n bits exactly.
    rings: Option<Wrapped>,
    /// Modulo `2^n - 1`, for other n.
    weighted: Option<Weighted>,
}

impl Folded {
    /// With this multiplier.
    #[must_use]
    pub fn new(special: Special, multiplier: Multiplier) -> Self {
        let n = special.bits();
        let is_long = n / 64 >= multiplier.threshold();
        let rings = is_long.then(|| Wrapped::exactly(multiplier, n)).flatten();
        let weighted = match special {
            Special::Minus(n) if is_long && rings.is_none() => Weighted::new(&multiplier, n),
            _ => None,
        };
        Self { special, multiplier, rings, weighted }
    }

    /// `x^2`, for an x below the modulus.
    #[must_use]
    pub fn square_of(&self, x: &[u64]) -> Vec<u64> {
        self.square(x).to_vec()
    }

    /// `x y`, where y is x if there is none.
    fn product(&self, x: &[u64], y: Option<&[u64]>) -> Limbs {
        if let Some(weighted) = &self.weighted {
            return weighted.product(x, y);
        }
        match (self.rings, self.special) {
            (None, _) => {
                let mut product = Zeroizing::new(vec![0; x.len() + y.map_or(x.len(), <[u64]>::len)]);
                match y {
                    Some(y) => self.multiplier.multiply(x, y, &mut product),
                    None => self.multiplier.square(x, &mut product),
                }
                Zeroizing::new(self.special.reduce(&product))
            }
            (Some(rings), Special::Minus(_)) => {
                let n = rings.limbs();
                let mut product =
                    rings.minus(&[(&x[..n], y.map_or(Other::Same, |y| Other::Number(&y[..n])))]);
                Wrapped::without_minus_zero(&mut product);
                product.push(0);
                product
            }
            (Some(rings), Special::Plus(_)) => self.product_plus(&rings, x, y),
        }
    }

    /// Modulo `2^n + 1`, where a factor of `2^n` is -1: its low bits are zero, and so is their product.
    fn product_plus(&self, rings: &Wrapped, x: &[u64], y: Option<&[u64]>) -> Limbs {
        let n = rings.limbs();
        let (mut product, top) = rings.plus(&[(&x[..n], y.map_or(Other::Same, |y| Other::Number(&y[..n])))]);
        product.push(top);
        let y = y.unwrap_or(x);
        let modulus = self.special.value();
        // -y, or else -x, or else nothing is added; minus zero is the modulus.
        for (number, is_added) in [(y, x[n]), (x, y[n] & (1 - x[n]))] {
            let mut negative = Zeroizing::new(modulus.clone());
            sub_assign(&mut negative, number);
            negative.iter_mut().for_each(|limb| *limb &= mask::from_bit(is_added));
            add_assign(&mut product, &negative);
        }
        reduce_once(&mut product, &modulus);
        product
    }
}

impl Reduction for Folded {
    fn unit(&self) -> Limbs {
        self.enter(&[1])
    }

    fn enter(&self, x: &[u64]) -> Limbs {
        Zeroizing::new(self.special.reduce(x))
    }

    fn leave(&self, x: &[u64]) -> Limbs {
        Zeroizing::new(x.to_vec())
    }

    fn multiply(&self, x: &[u64], y: &[u64]) -> Limbs {
        self.product(x, Some(y))
    }

    fn square(&self, x: &[u64]) -> Limbs {
        self.product(x, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use num_bigint::BigUint;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
    }

    #[test]
    fn folding_is_division() {
        let mut random = Random(37);
        for n in [2, 3, 63, 64, 65, 127, 128, 129, 1000] {
            for special in [Special::Minus(n), Special::Plus(n)] {
                let value = special.value();
                let mut less = value.clone();
                sub_assign(&mut less, &[1]);
                for x in [
                    vec![],
                    vec![0],
                    vec![5],
                    value.clone(),
                    less,
                    vec![u64::MAX; n / 16 + 1],
                    random.limbs(n / 13 + 1),
                ] {
                    assert_eq!(big(&special.reduce(&x)), big(&x) % big(&value), "{special:?}");
                    let low = special.reduce(&x);
                    let square = Folded::new(special, Multiplier::detect(None)[0]).square_of(&low);
                    assert_eq!(big(&square), big(&x) * big(&x) % big(&value), "{special:?}");
                }
            }
        }
    }
}
