//! Integer square roots with their remainders, in time that depends on the number of limbs alone. The
//! derivation is in `docs/algorithms/square-root.md`.

use crate::inverse_root::START;
use crate::karatsuba;
use crate::long::{BarrettDivisor, Multiplier};
use crate::planning::LONG_DIVISOR;
use crate::remainder::divide_in_place;
use crate::scalar::Scalar;
use crate::working_memory::Rows;
use modmill_core::limbs::{add_assign_masked, sub_assign};
use modmill_core::mask;

/// The arithmetic of square roots: limbs, and transforms for long numbers.
#[derive(Clone, Copy)]
pub(crate) struct Roots<S> {
    pub(crate) scalar: S,
    pub(crate) multiplier: Multiplier,
}

/// Working memory of one thread. It grows on demand and is zeroized on drop.
#[derive(Default)]
pub(crate) struct Scratch {
    value: Rows,
    root: Rows,
    space: Rows,
    halves: Rows,
}

impl Scratch {
    /// Has room for roots of n limbs.
    fn reserve(&mut self, n: usize) {
        if self.root.len() != n {
            let [value, space] = [2 * n, 2 * n].map(Rows::zeros);
            *self = Self { value, root: Rows::zeros(n), space, halves: Rows::default() };
        }
    }
}

impl<S: Scalar> Roots<S> {
    /// `root <- floor(sqrt(a))` and `rest <- a - root^2`. The root has half as many limbs as a, rounded up.
    /// `rest` has enough limbs for twice the root, and at most as many as a; or none, and is left out.
    pub(crate) fn root(self, a: &[u64], (root, rest): (&mut [u64], &mut [u64]), scratch: &mut Scratch) {
        let n = a.len().div_ceil(2);
        if n == 0 {
            return;
        }
        scratch.reserve(n);
        let Scratch { value, root: digits, space, halves } = scratch;
        value[..a.len()].copy_from_slice(a);
        value[a.len()..].fill(0);
        let (limbs, bits) = normalise(value);
        self.normalised(value, digits, space, halves);
        // floor(sqrt(4^k a)) is 2^k floor(sqrt(a)) and some bits more, for the k that is half the shift.
        shift_down(digits, limbs, bits);
        root.copy_from_slice(digits);
        if !rest.is_empty() {
            self.rest(a, root, rest, scratch);
        }
    }

    /// `rest <- a - root^2`, in as many limbs as [`Self::root`] asks for.
    pub(crate) fn rest(self, a: &[u64], root: &[u64], rest: &mut [u64], scratch: &mut Scratch) {
        scratch.reserve(root.len());
        let Scratch { space, halves, .. } = scratch;
        karatsuba::square(self.scalar, root, space, halves);
        rest.copy_from_slice(&a[..rest.len()]);
        sub_assign(rest, &space[..rest.len()]);
    }

    /// The square root of `value`, whose top two bits are not both zero, in n limbs for 2n limbs. The low n
    /// limbs of `value` get the low limbs of the remainder, whose top bit is returned.
    fn normalised(self, value: &mut [u64], root: &mut [u64], space: &mut [u64], halves: &mut Rows) -> u64 {
        let n = root.len();
        if n == 1 {
            let (digit, rest) = of_two_limbs(u128::from(value[1]) << 64 | u128::from(value[0]));
            (root[0], value[0]) = (digit, rest as u64);
            return (rest >> 64) as u64;
        }
        let low = n / 2;
        let top = self.normalised(&mut value[2 * low..], &mut root[low..], space, halves);
        // The remainder of the upper half and the next limbs, divided by twice the root of the upper half:
        // half of it is divided by the root.
        let dividend = &mut value[low..][..n];
        let odd = dividend[0] & 1;
        halve(dividend, top);
        let over = self.divide(dividend, &root[low..], space);
        let (rest, quotient) = dividend.split_at_mut(n - low);
        root[..low].copy_from_slice(quotient);
        let mut above = twice(rest, odd) as i64;
        // The square of the quotient is subtracted. Where the quotient is B^low, its limbs are zero.
        let square = &mut space[..2 * low];
        self.square(&root[..low], square, halves);
        let borrow = sub_assign(&mut value[..n], square);
        above -= borrow as i64;
        above -= match n - 2 * low {
            0 => over as i64,
            _ => sub_assign(&mut value[2 * low..n], &[over]) as i64,
        };
        let carry = add_assign_masked(&mut root[low..], &[1], mask::from_bit(over)) as i64;
        // A negative remainder r becomes r + s + (s - 1), and the root s becomes s - 1.
        let negative = mask::from_bit(above as u64 >> 63);
        above += add_assign_masked(&mut value[..n], root, negative) as i64 + carry;
        sub_assign(root, &[negative & 1]);
        above += add_assign_masked(&mut value[..n], root, negative) as i64;
        above as u64
    }

    /// Divides in place, as [`divide_in_place`] does.
    fn divide(self, value: &mut [u64], d: &[u64], space: &mut [u64]) -> u64 {
        if d.len() < LONG_DIVISOR {
            return divide_in_place(self.scalar, value, d, &mut space[..d.len()]);
        }
        let (quotient, rest) = BarrettDivisor::new(self.multiplier, d).quotient_and_remainder(value);
        let low = value.len() - d.len();
        value[..d.len()].copy_from_slice(&rest[..d.len()]);
        value[d.len()..].copy_from_slice(&quotient[..low]);
        quotient[low]
    }

    fn square(self, a: &[u64], out: &mut [u64], halves: &mut Rows) {
        match a.len() < LONG_DIVISOR {
            true => karatsuba::square(self.scalar, a, out, halves),
            false => self.multiplier.square(a, out),
        }
    }
}

/// Shifts a number up by an even number of bits, so that its top two bits are not both zero. Returns the
/// shift in whole limbs and in bits below 64. A number that is zero gets a bit instead.
fn normalise(value: &mut [u64]) -> (usize, u32) {
    let len = value.len();
    let mut limbs = 0;
    // Shifts by powers of two limbs; the last one leaves a top limb that is not zero.
    let mut step = len.next_power_of_two() / 2;
    while step > 0 {
        let above = value[len - step..].iter().fold(0, |all, limb| all | limb);
        let empty = mask::equal(above, 0);
        for place in (0..len).rev() {
            let below = if place < step { 0 } else { value[place - step] };
            value[place] ^= empty & (value[place] ^ below);
        }
        limbs += step & empty as usize;
        step /= 2;
    }
    // Zero is shifted by its whole length, so that nothing is left of the root.
    let top = &mut value[len - 1];
    let is_zero = mask::equal(*top, 0);
    limbs |= len & is_zero as usize;
    *top |= is_zero & 1 << 62;
    let bits = top.leading_zeros() & !1;
    let mut below = 0;
    for limb in value {
        (*limb, below) = (*limb << bits | below, *limb >> 1 >> (63 - bits));
    }
    (limbs, bits)
}

/// Shifts a root down by half the bits of the shift that [`normalise`] returned.
fn shift_down(root: &mut [u64], limbs: usize, bits: u32) {
    // Half of an odd number of limbs is 32 bits more.
    let bits = bits / 2 + 32 * (limbs as u32 & 1);
    let mut above = 0;
    for limb in root.iter_mut().rev() {
        (*limb, above) = (*limb >> bits | above, *limb << 1 << (63 - bits));
    }
    let len = root.len();
    let mut step = 1;
    while step <= len {
        let chosen = mask::from_bit((limbs / 2 / step) as u64 & 1);
        for place in 0..len {
            let from = if place + step < len { root[place + step] } else { 0 };
            root[place] ^= chosen & (root[place] ^ from);
        }
        step *= 2;
    }
}

/// `value <- floor((top B^n + value) / 2)`.
fn halve(value: &mut [u64], top: u64) {
    let mut above = top << 63;
    for limb in value.iter_mut().rev() {
        (*limb, above) = (*limb >> 1 | above, *limb << 63);
    }
}

/// `value <- 2 value + odd`. Returns the bit above.
fn twice(value: &mut [u64], odd: u64) -> u64 {
    let mut below = odd;
    for limb in value {
        (*limb, below) = (*limb << 1 | below, *limb >> 63);
    }
    below
}

/// [`START`] in units of 2^-60.
const START_WORDS: [u64; 5] = {
    let mut words = [0; 5];
    let mut place = 0;
    while place < words.len() {
        words[place] = (START[place] * (1u64 << 60) as f64) as u64;
        place += 1;
    }
    words
};

/// `floor(sqrt(a))` and the remainder, for an a of at least 2^126, by an inverse square root.
#[inline]
fn of_two_limbs(a: u128) -> (u64, u128) {
    let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    let scaled = |y: u64, factor: i64| ((i128::from(y) * i128::from(factor)) >> 58) as i64;
    let x = (a >> 64) as u64;
    let [lower @ .., highest] = START_WORDS;
    let start = lower.iter().rev().fold(highest, |sum, coefficient| coefficient - high(sum, x));
    // y is 1 / sqrt(x) in units of 2^-61, and e = 1 - x y^2 in units of 2^-58.
    let mut y = start << 1;
    let e = (1i64 << 58) - high(x, high(y, y)) as i64;
    let short = e >> 23;
    y = y.wrapping_add_signed(scaled(y, (e >> 1) + ((3 * short * short) >> 15)));
    let e = (1i64 << 58) - high(x, high(y, y)) as i64;
    // Rounding added less than 32 units, so that y is a lower estimate.
    y = y.wrapping_add_signed(scaled(y, e >> 1)) - 32;
    let s = ((u128::from(x) * u128::from(y)) >> 61) as u64;
    let rest = a - u128::from(s) * u128::from(s);
    let s = s + (((rest >> 20) * u128::from(y)) >> 106) as u64;
    // s is the root or one too small.
    let rest = a - u128::from(s) * u128::from(s);
    let larger = mask::from_bit(((u128::from(s) << 1).wrapping_sub(rest) >> 127) as u64) & 1;
    let odd = u128::from(s) << 1 | 1;
    (s + larger, rest - (odd & u128::from(larger).wrapping_neg()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar_choice::{Limbs, with_scalar};
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    fn check(a: &[u64], limbs: Limbs, multiplier: Multiplier, scratch: &mut Scratch) {
        let (mut root, mut rest) = (vec![7; a.len().div_ceil(2)], vec![7; a.len()]);
        with_scalar!(limbs, scalar => Roots { scalar, multiplier }.root(a, (&mut root, &mut rest), scratch));
        assert_eq!(big(&root), big(a).sqrt(), "{limbs:?}: {a:x?}");
        assert_eq!(big(&rest), big(a) - big(&root) * big(&root), "{limbs:?}: {a:x?}");
        let mut alone = vec![7; root.len()];
        with_scalar!(limbs, scalar => Roots { scalar, multiplier }.root(a, (&mut alone, &mut []), scratch));
        assert_eq!(alone, root);
    }

    /// Squares, their neighbours, powers of two and random numbers, of `len` limbs.
    fn numbers(len: usize, random: &mut Random) -> Vec<Vec<u64>> {
        let one = BigUint::from(1u8);
        let mut numbers = vec![BigUint::ZERO, one.clone(), (&one << (64 * len)) - &one];
        for bits in [1, 2, 32 * len - 1, 32 * len] {
            for root in [&one << (bits - 1), (&one << bits) - &one, big(&random.bits(bits))] {
                let square = &root * &root;
                numbers.extend([&square - &one, &square + &one, &square + &root + &root, square]);
            }
        }
        numbers.extend((0..8).map(|_| big(&random.limbs(len))));
        numbers.extend((0..64 * len).step_by(13).map(|bits| big(&random.bits(bits + 1))));
        let fits = numbers.into_iter().filter(|number| number.bits() <= 64 * len as u64);
        let limbs = fits.map(|number| {
            let mut limbs = number.to_u64_digits();
            limbs.resize(len, 0);
            limbs
        });
        limbs.collect()
    }

    #[test]
    fn roots_and_remainders_of_all_lengths() {
        let mut random = Random::new(5);
        for multiplier in Multiplier::detect(None) {
            let scratch = &mut Scratch::default();
            for len in (1..20).chain([31, 32, 33, 64, 127]) {
                for number in numbers(len, &mut random) {
                    for limbs in [Limbs::Portable, multiplier.limbs()] {
                        check(&number, limbs, multiplier, scratch);
                    }
                }
            }
        }
    }

    #[test]
    fn long_roots_take_reciprocals() {
        let mut random = Random::new(6);
        let multiplier = Multiplier::detect(None)[0];
        let len = 4 * LONG_DIVISOR + 3;
        let root = big(&random.bits(64 * len / 2));
        let square = &root * &root;
        for number in [big(&random.limbs(len)), &square - 1u8, square] {
            check(&number.to_u64_digits(), multiplier.limbs(), multiplier, &mut Scratch::default());
        }
    }

    /// Words at which the estimate and its rounding are extreme.
    #[test]
    fn roots_of_two_limbs_at_squares_and_between_them() {
        let mut random = Random::new(7);
        let least = 1u64 << 63;
        let near =
            |word: u64| (0..300).flat_map(move |step| [word.wrapping_add(step), word.wrapping_sub(step)]);
        let hard = near(least).chain(near(u64::MAX)).chain(near(0xb504_f333_f9de_6484));
        for root in hard.chain((0..200_000).map(|_| random.word())) {
            let root = root | least;
            let square = u128::from(root) * u128::from(root);
            for (a, rest) in [(square, 0), (square + u128::from(root), u128::from(root))] {
                assert_eq!(of_two_limbs(a), (root, rest), "{root:x}");
            }
            if let Some(above) = square.checked_add(2 * u128::from(root)) {
                assert_eq!(of_two_limbs(above), (root, 2 * u128::from(root)), "{root:x}");
            }
            if root > least {
                assert_eq!(of_two_limbs(square - 1), (root - 1, 2 * u128::from(root) - 2), "{root:x}");
            }
        }
    }
}
