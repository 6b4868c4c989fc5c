//! Numbers modulo a prime, written once over the number of limbs and the way of reduction.

use super::Field;
use super::limbs::{self, Wide};
use modmill_core::mask;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Neg, Sub};
use zeroize::Zeroize;

/// How a product is brought below the prime.
#[derive(Clone, Copy)]
pub(crate) enum Reduction {
    /// Numbers are kept as `a R` for `R = 2^(64 L)`, and a product is divided by `R` (Montgomery).
    Montgomery,
    /// `2^(64 L)` is congruent to this number of at most 40 bits.
    Fold(u64),
    /// The prime is `2^bits - 1`, with `64 L - 63 <= bits < 64 L`.
    Mersenne(usize),
}

/// A prime of `L` limbs, and how one computes modulo it.
pub(crate) trait Modulus<const L: usize>: Copy + Send + Sync + 'static {
    const PRIME: [u64; L];
    const BITS: usize;
    const REDUCTION: Reduction;

    /// The power of two by which a number is multiplied where it is kept.
    const SHIFT: usize = match Self::REDUCTION {
        Reduction::Montgomery => 64 * L,
        Reduction::Fold(_) | Reduction::Mersenne(_) => 0,
    };
    /// One, as it is kept.
    const ONE: [u64; L] = limbs::shift_mod(unit(), Self::SHIFT, &Self::PRIME);
    /// The factor that turns a number into how it is kept.
    const ENTER: [u64; L] = limbs::shift_mod(unit(), 2 * Self::SHIFT, &Self::PRIME);
    /// `2^(64 L)`, as it is kept.
    const RADIX: [u64; L] = limbs::shift_mod(unit(), 64 * L + Self::SHIFT, &Self::PRIME);
    /// `-1 / PRIME` modulo `2^64`, by Newton's iteration: six steps from one bit.
    const NEGATED_INVERSE: u64 = {
        let (mut inverse, mut step) = (1u64, 0);
        while step < 6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(Self::PRIME[0].wrapping_mul(inverse)));
            step += 1;
        }
        inverse.wrapping_neg()
    };
}

const fn unit<const L: usize>() -> [u64; L] {
    let mut limbs = [0; L];
    limbs[0] = 1;
    limbs
}

/// A number modulo a prime, always below it.
#[derive(Clone, Copy)]
pub(crate) struct Element<M, const L: usize>([u64; L], PhantomData<M>);

impl<M: Modulus<L>, const L: usize> Element<M, L> {
    const fn kept(limbs: [u64; L]) -> Self {
        Self(limbs, PhantomData)
    }

    /// A constant below the prime, in hexadecimal.
    pub(crate) const fn constant(text: &str) -> Self {
        Self::kept(limbs::shift_mod(limbs::from_hex(text), M::SHIFT, &M::PRIME))
    }

    /// A product below `2^(64 L) PRIME` to a number below the prime.
    #[inline(always)]
    fn reduce(product: Wide<L>) -> Self {
        Self::kept(match M::REDUCTION {
            Reduction::Montgomery => montgomery::<M, L>(product),
            Reduction::Fold(factor) => fold::<M, L>(product, factor),
            Reduction::Mersenne(bits) => mersenne::<M, L>(product, bits),
        })
    }

    /// The number itself, no longer as it is kept.
    fn leave(self) -> [u64; L] {
        match M::REDUCTION {
            Reduction::Montgomery => Self::reduce([self.0, [0; L]]).0,
            Reduction::Fold(_) | Reduction::Mersenne(_) => self.0,
        }
    }

    /// Any number of `L` limbs, reduced.
    fn enter(limbs: [u64; L]) -> Self {
        // The second factor is below the prime, so the product is below 2^(64 L) PRIME.
        Self::reduce(limbs::mul(&limbs, &M::ENTER))
    }
}

/// Montgomery's reduction: `q = -low / PRIME` for each limb makes the limb zero. The sum stays below
/// `2 R PRIME`, so that one subtraction is enough.
#[inline(always)]
fn montgomery<M: Modulus<L>, const L: usize>(mut product: Wide<L>) -> [u64; L] {
    let limbs = product.as_flattened_mut();
    let mut top = 0;
    for i in 0..L {
        let quotient = limbs[i].wrapping_mul(M::NEGATED_INVERSE);
        let mut carry = 0;
        for j in 0..L {
            (limbs[i + j], carry) = limbs::mul_add(limbs[i + j], quotient, M::PRIME[j], carry);
        }
        let sum = u128::from(limbs[i + L]) + u128::from(carry) + u128::from(top);
        (limbs[i + L], top) = (sum as u64, (sum >> 64) as u64);
    }
    limbs::reduce_once(&product[1], top, &M::PRIME)
}

/// `low + factor high` has at most 40 bits above `2^(64 L)`, which are folded once more. Then the number is
/// below `2^(64 L) + 2^80`, and a carry is folded a third time.
#[inline(always)]
fn fold<M: Modulus<L>, const L: usize>([low, high]: Wide<L>, factor: u64) -> [u64; L] {
    let (mut sum, mut carry) = ([0; L], 0);
    for i in 0..L {
        (sum[i], carry) = limbs::mul_add(low[i], factor, high[i], carry);
    }
    let mut addend = [0; L];
    // carry <= factor < 2^40.
    (addend[0], addend[1]) = limbs::mul_add(0, factor, carry, 0);
    let (sum, carry) = limbs::add(&sum, &addend);
    // After a carry the sum is below 2^80, and the addition does not carry again.
    let mut addend = [0; L];
    addend[0] = factor & mask::from_bit(carry);
    let (sum, _) = limbs::add(&sum, &addend);
    // 2^(64 L) is below twice the prime and 40 bits more: two subtractions for 2^255 - 19.
    let sum = limbs::reduce_once(&sum, 0, &M::PRIME);
    if M::BITS == 64 * L { sum } else { limbs::reduce_once(&sum, 0, &M::PRIME) }
}

/// `2^bits = 1`: the upper part is added to the lower one. Both are at most `2^bits - 1` (the product is at
/// most `(2^bits - 1) 2^(64 L)` only for numbers that are entered; there the upper part may have
/// `64 L - bits` bits more, which are added once more).
#[inline(always)]
fn mersenne<M: Modulus<L>, const L: usize>(product: Wide<L>, bits: usize) -> [u64; L] {
    let (limbs, shift) = (product.as_flattened(), bits % 64);
    let low_part = |mut number: [u64; L]| {
        number[L - 1] &= (1 << shift) - 1;
        number
    };
    let low = low_part(product[0]);
    let high: [u64; L] = std::array::from_fn(|i| limbs[L - 1 + i] >> shift | limbs[L + i] << (64 - shift));
    // `high` has 64 L bits at most, and `low` has `bits`: the carry counts as 2^(64 L - bits).
    let (sum, carry) = limbs::add(&low, &high);
    let mut rest = [0; L];
    rest[0] = sum[L - 1] >> shift | carry << (64 - shift);
    let (sum, _) = limbs::add(&low_part(sum), &rest);
    // At most 2^bits + 2^(64 - shift), which is below twice the prime.
    limbs::reduce_once(&sum, 0, &M::PRIME)
}

impl<M: Modulus<L>, const L: usize> Add for Element<M, L> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (sum, carry) = limbs::add(&self.0, &other.0);
        Self::kept(limbs::reduce_once(&sum, carry, &M::PRIME))
    }
}

impl<M: Modulus<L>, const L: usize> Sub for Element<M, L> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (difference, borrow) = limbs::sub(&self.0, &other.0);
        let addend = limbs::select(mask::from_bit(borrow), &M::PRIME, &[0; L]);
        Self::kept(limbs::add(&difference, &addend).0)
    }
}

impl<M: Modulus<L>, const L: usize> Neg for Element<M, L> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl<M: Modulus<L>, const L: usize> Mul for Element<M, L> {
    type Output = Self;

    // One copy for each field: inlined into every formula, it would make the build several times as long.
    #[inline(never)]
    fn mul(self, other: Self) -> Self {
        Self::reduce(limbs::mul(&self.0, &other.0))
    }
}

impl<M: Modulus<L>, const L: usize> Zeroize for Element<M, L> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<M: Modulus<L>, const L: usize> Field for Element<M, L> {
    type Integer = [u64; L];
    const ZERO: Self = Self::kept([0; L]);
    const ONE: Self = Self::kept(M::ONE);
    const PRIME: Self::Integer = M::PRIME;
    const BITS: usize = M::BITS;

    #[inline(never)]
    fn square(self) -> Self {
        Self::reduce(limbs::square(&self.0))
    }

    #[inline(always)]
    fn select(mask: u64, a: Self, b: Self) -> Self {
        Self::kept(limbs::select(mask, &a.0, &b.0))
    }

    #[inline(always)]
    fn or_masked(self, mask: u64, other: Self) -> Self {
        Self::kept(std::array::from_fn(|i| self.0[i] | (mask & other.0[i])))
    }

    fn is_zero(self) -> u64 {
        limbs::is_zero(&self.0)
    }

    fn integer(self) -> [u64; L] {
        self.leave()
    }

    fn read(bytes: &[u8]) -> (Self, u64) {
        let limbs = limbs::from_be_bytes(bytes);
        let (_, borrow) = limbs::sub(&limbs, &M::PRIME);
        (Self::enter(limbs), mask::from_bit(borrow))
    }

    fn read_wide(bytes: &[u8]) -> Self {
        let (high, low) = bytes.split_at(bytes.len().saturating_sub(8 * L));
        Self::enter(limbs::from_be_bytes(low))
            + Self::enter(limbs::from_be_bytes(high)) * Self::kept(M::RADIX)
    }

    fn write(self, bytes: &mut [u8]) {
        let mut limbs = self.leave();
        limbs::write_be_bytes(&limbs, bytes);
        limbs.zeroize();
    }
}
