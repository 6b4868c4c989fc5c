//! Arithmetic modulo `2^n - 1` and `2^n + 1`. The part above `2^n` is folded down, or wraps around by itself
//! if blocks of digits have exactly n bits. Constant time, except for n.

use super::cyclic::{CyclicRings, fold_minus, fold_plus};
use super::memory::zeros_with_room;
use super::multiplier::Multiplier;
use super::powers::Reduction;
use super::shared::part_of;
use super::weighted::WeightedRing;
use crate::fft::product::SecondFactor;
use crate::fft::shares::{Shares, share};
use modmill_core::limbs::{add_assign, bit_length, reduce_once, shift_right, sub_assign, sub_borrowing};
use modmill_core::{Error, TRANSFORM_MAX_BITS, mask};
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// A modulus `2^n - 1` or `2^n + 1`, for an n from 2 to [`TRANSFORM_MAX_BITS`].
///
/// Residues below it have `n / 64 + 1` limbs.
///
/// ```
/// use modmill_cpu::long::MersenneLike;
///
/// let modulus = MersenneLike::minus_one(7)?;
/// assert_eq!(modulus.value(), [127]);
/// assert_eq!(modulus.reduce(&[1000]), [1000 % 127]);
/// # Ok::<(), modmill_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MersenneLike {
    exponent: usize,
    sign: Sign,
}

/// The sign of the one in `2^n - 1` or `2^n + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Minus,
    Plus,
}

impl MersenneLike {
    /// `2^n - 1`. An n below 2 or above [`TRANSFORM_MAX_BITS`] is an error.
    pub fn minus_one(n: usize) -> Result<Self, Error> {
        Self::new(n, Sign::Minus)
    }

    /// `2^n + 1`. An n below 2 or above [`TRANSFORM_MAX_BITS`] is an error.
    pub fn plus_one(n: usize) -> Result<Self, Error> {
        Self::new(n, Sign::Plus)
    }

    fn new(exponent: usize, sign: Sign) -> Result<Self, Error> {
        let (least, most) = (2, TRANSFORM_MAX_BITS);
        if (least..=most).contains(&exponent) {
            Ok(Self { exponent, sign })
        } else {
            Err(Error::OutOfRange { what: "the exponent of two", value: exponent, least, most })
        }
    }

    /// `number` as a modulus of this form, or `None` if it has another form.
    #[must_use]
    pub fn of(number: &[u64]) -> Option<Self> {
        let bits = bit_length(number);
        let is = |form: &Self| form.value()[..bits.div_ceil(64)] == number[..bits.div_ceil(64)];
        let forms = [Self::minus_one(bits), Self::plus_one(bits.saturating_sub(1))];
        forms.into_iter().flatten().find(is)
    }

    /// Limbs of a residue below the modulus.
    #[must_use]
    pub fn limbs(self) -> usize {
        self.exponent / 64 + 1
    }

    /// The modulus as a number.
    #[must_use]
    pub fn value(self) -> Vec<u64> {
        let mut value = vec![0; self.limbs()];
        value[self.exponent / 64] = 1 << (self.exponent % 64);
        match self.sign {
            Sign::Minus => sub_assign(&mut value, &[1]),
            Sign::Plus => add_assign(&mut value, &[1]),
        };
        value
    }

    /// `x` modulo this number, for any x.
    #[must_use]
    pub fn reduce(self, x: &[u64]) -> Vec<u64> {
        let n = self.exponent;
        if n.is_multiple_of(64) {
            return self.reduce_limbs(x);
        }
        let modulus = self.value();
        let mut sum = vec![0; self.limbs() + 1];
        let mut piece = Zeroizing::new(vec![0; self.limbs()]);
        for index in 0..(64 * x.len()).div_ceil(n) {
            shift_right(&x[index * n / 64..], index * n % 64, &mut piece);
            piece[n / 64] &= (1 << (n % 64)) - 1;
            if self.sign == Sign::Plus && index % 2 == 1 {
                // The modulus minus the piece, which is smaller.
                piece.iter_mut().for_each(|limb| *limb = !*limb);
                add_assign(&mut piece, &modulus);
                add_assign(&mut piece, &[1]);
            }
            // The sum is below the modulus, and at most the modulus is added.
            add_assign(&mut sum, &piece);
            reduce_once(&mut sum, &modulus);
        }
        sum.truncate(self.limbs());
        sum
    }

    /// Reduces x modulo `2^n - 1` or `2^n + 1` for an n of whole limbs. Threads share the limbs.
    fn reduce_limbs(self, x: &[u64]) -> Vec<u64> {
        let n = self.exponent / 64;
        let mut sum = vec![0; n + 1];
        let (low, top) = sum.split_at_mut(n);
        let (mut shares, above) = Shares::new(low, share(n, 1), |first, limbs| {
            let mut carry = 0;
            for (index, piece) in x.chunks(n).enumerate() {
                let piece = part_of(piece, first, limbs.len());
                carry += match self.sign {
                    Sign::Plus if index % 2 == 1 => -i128::from(sub_assign(limbs, piece)),
                    _ => i128::from(add_assign(limbs, piece)),
                };
            }
            carry
        });
        match self.sign {
            Sign::Minus => fold_minus(&mut shares, above),
            Sign::Plus => top[0] = fold_plus(&mut shares, above),
        }
        shares.finish();
        sum
    }
}

/// Multiplication modulo a [`MersenneLike`] number.
pub struct MersenneRing {
    modulus: MersenneLike,
    multiplier: Multiplier,
    /// The rings of exactly n bits, if digits add up to n bits.
    rings: Option<CyclicRings>,
    /// The weighted ring modulo `2^n - 1`, for other n.
    weighted: Option<WeightedRing>,
}

impl MersenneRing {
    /// Sets up the ring with this multiplier.
    #[must_use]
    pub fn new(modulus: MersenneLike, multiplier: Multiplier) -> Self {
        let n = modulus.exponent;
        let is_long = n / 64 >= multiplier.threshold();
        let rings = is_long.then(|| CyclicRings::exactly(multiplier, n)).flatten();
        let weighted = match modulus.sign {
            Sign::Minus if is_long && rings.is_none() => WeightedRing::new(&multiplier, n),
            _ => None,
        };
        Self { modulus, multiplier, rings, weighted }
    }

    /// `x^2` modulo this number, for an x below it. An x of another length is reduced first.
    #[must_use]
    pub fn square_of(&self, x: &[u64]) -> Vec<u64> {
        if x.len() == self.modulus.limbs() {
            self.square(x).to_vec()
        } else {
            self.square(&self.modulus.reduce(x)).to_vec()
        }
    }

    /// `x` modulo this number, for any x.
    pub(super) fn reduce(&self, x: &[u64]) -> Limbs {
        Zeroizing::new(self.modulus.reduce(x))
    }

    /// `x y`, or `x^2` without y.
    fn product(&self, x: &[u64], y: Option<&[u64]>) -> Limbs {
        if let Some(weighted) = &self.weighted {
            return weighted.product(x, y);
        }
        match (self.rings, self.modulus.sign) {
            (None, _) => {
                let mut product = Zeroizing::new(vec![0; x.len() + y.map_or(x.len(), <[u64]>::len)]);
                match y {
                    Some(y) => self.multiplier.multiply(x, y, &mut product),
                    None => self.multiplier.square(x, &mut product),
                }
                Zeroizing::new(self.modulus.reduce(&product))
            }
            (Some(rings), Sign::Minus) => {
                let n = rings.limbs();
                let mut product = rings
                    .cyclic(&[(&x[..n], y.map_or(SecondFactor::Same, |y| SecondFactor::Number(&y[..n])))]);
                product.push(0);
                product
            }
            (Some(rings), Sign::Plus) => self.product_plus(&rings, x, y),
        }
    }

    /// The product modulo `2^n + 1`. A factor of `2^n` represents -1: its low bits are zero, and so is the
    /// product of low bits.
    fn product_plus(&self, rings: &CyclicRings, x: &[u64], y: Option<&[u64]>) -> Limbs {
        let n = rings.limbs();
        let (mut product, mut top) =
            rings.negacyclic(&[(&x[..n], y.map_or(SecondFactor::Same, |y| SecondFactor::Number(&y[..n])))]);
        match y {
            // The square of -1 is 1.
            None => product[0] |= x[n],
            Some(y) => top += subtract_from_zero(&mut product, x, y),
        }
        product.push(top);
        product
    }
}

/// Subtracts y if `x = 2^n`, or x if `y = 2^n`, modulo `2^n + 1`. The product is zero in both cases. Returns
/// bit n of the difference.
fn subtract_from_zero(product: &mut [u64], x: &[u64], y: &[u64]) -> u64 {
    let n = product.len();
    let masks = [mask::from_bit(x[n]), mask::from_bit(y[n] & (1 - x[n]))];
    let subtracted = |limb: usize| y[limb] & masks[0] | x[limb] & masks[1];
    let (mut shares, carry) = Shares::new(product, share(n, 1), |first, limbs| {
        let mut borrow = false;
        for (index, limb) in limbs.iter_mut().enumerate() {
            (*limb, borrow) = sub_borrowing(*limb, subtracted(first + index), borrow);
        }
        -i128::from(borrow)
    });
    // -2^n is congruent to 1.
    let top = shares.add(i128::from(subtracted(n)) - carry);
    shares.finish();
    top as u64
}

impl Reduction for MersenneRing {
    fn unit(&self) -> Limbs {
        self.enter(&[1])
    }

    fn enter(&self, x: &[u64]) -> Limbs {
        let mut entered = zeros_with_room(self.modulus.limbs());
        entered[..x.len()].copy_from_slice(x);
        entered
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
    use crate::test_support::{Random, big};

    #[test]
    fn exponents_outside_the_range_are_refused() {
        for n in [0, 1, TRANSFORM_MAX_BITS + 1, usize::MAX] {
            for form in [MersenneLike::minus_one(n), MersenneLike::plus_one(n)] {
                assert!(matches!(form, Err(Error::OutOfRange { value, .. }) if value == n));
            }
        }
    }

    #[test]
    fn squares_of_numbers_of_any_length() {
        for modulus in [MersenneLike::minus_one(70), MersenneLike::plus_one(70)].map(Result::unwrap) {
            let ring = MersenneRing::new(modulus, Multiplier::detect(None)[0]);
            for x in [vec![], vec![5], vec![u64::MAX; 5]] {
                assert_eq!(big(&ring.square_of(&x)), big(&x) * big(&x) % big(&modulus.value()));
            }
        }
    }

    #[test]
    fn folding_is_division() {
        let mut random = Random::new(37);
        for n in [2, 3, 63, 64, 65, 127, 128, 129, 1000] {
            for modulus in [MersenneLike::minus_one(n), MersenneLike::plus_one(n)].map(Result::unwrap) {
                let value = modulus.value();
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
                    assert_eq!(big(&modulus.reduce(&x)), big(&x) % big(&value), "{modulus:?}");
                    let low = modulus.reduce(&x);
                    let square = MersenneRing::new(modulus, Multiplier::detect(None)[0]).square_of(&low);
                    assert_eq!(big(&square), big(&x) * big(&x) % big(&value), "{modulus:?}");
                }
            }
        }
    }
}
