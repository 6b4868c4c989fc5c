//! Products modulo a number that is used once: a full product, then a division that keeps the remainder.
//!
//! The set-up of Montgomery arithmetic costs a dozen products, which pays off only if a modulus is used
//! again. A division needs a reciprocal of only a few limbs of the modulus. The bounds are in
//! `docs/algorithms/remainder.md`. The time depends on the lengths of the factors and on the bit length of
//! the modulus, not on the values.

mod reciprocal;

use crate::karatsuba;
use crate::portable::{Portable, add_row};
use crate::scalar::Scalar;
use crate::working_memory::Rows;
use modmill_core::limbs::{add_assign, add_carrying, bit_length, sub_borrowing};
use modmill_core::mask;

/// Limbs of the quotient that one step computes.
const BLOCK: usize = 4;

/// Working memory of one thread. It grows on demand and is zeroized on drop.
pub struct Scratch {
    /// The dividend.
    value: Rows,
    /// The negated divisor.
    complement: Rows,
    /// Working memory of long products.
    halves: Rows,
}

impl Scratch {
    /// Working memory for products of `product` limbs and moduli of `modulus` limbs. It grows on demand.
    #[must_use]
    pub fn new(product: usize, modulus: usize) -> Self {
        Self { value: Rows::zeros(product + 1), complement: Rows::zeros(modulus), halves: Rows::default() }
    }

    /// Space for a dividend of `len` limbs and a divisor as long as `n`, and for the products that make the
    /// dividend.
    fn dividend(&mut self, len: usize, n: &[u64]) -> (&mut [u64], &mut Rows) {
        if self.value.len() <= len || self.complement.len() < n.len() {
            *self = Self::new(len.max(self.value.len()), n.len().max(self.complement.len()));
        }
        (&mut self.value[..len], &mut self.halves)
    }
}

/// `out <- a b mod n`, for any factors and any n of at least one, odd or even. `out` has at least as many
/// limbs as n has without leading zeros.
///
/// ```
/// use modmill_cpu::remainder::{Scratch, mul_mod};
///
/// let mut out = [0];
/// mul_mod(&[5], &[6], &[7], &mut out, &mut Scratch::new(2, 1));
/// assert_eq!(out, [2]);
/// ```
///
/// # Panics
/// If n is zero or `out` is shorter than n.
pub fn mul_mod(a: &[u64], b: &[u64], n: &[u64], out: &mut [u64], scratch: &mut Scratch) {
    multiply(Portable, a, b, n, out, scratch);
}

/// [`mul_mod`] by any scalar arithmetic.
pub(crate) fn multiply<S: Scalar>(
    scalar: S,
    a: &[u64],
    b: &[u64],
    n: &[u64],
    out: &mut [u64],
    scratch: &mut Scratch,
) {
    let len = a.len() + b.len();
    let (value, halves) = scratch.dividend(len, n);
    if len > 0 {
        karatsuba::multiply(scalar, a, b, value, halves);
    }
    remainder(scalar, len, n, (out, None), scratch);
}

/// `out <- a^2 mod n`, under the conditions of [`mul_mod`].
pub(crate) fn square<S: Scalar>(scalar: S, a: &[u64], n: &[u64], out: &mut [u64], scratch: &mut Scratch) {
    let (value, halves) = scratch.dividend(2 * a.len(), n);
    if !a.is_empty() {
        karatsuba::square(scalar, a, value, halves);
    }
    remainder(scalar, 2 * a.len(), n, (out, None), scratch);
}

/// `quotient <- floor(a / n)` and `out <- a mod n`, under the conditions of [`mul_mod`]. The quotient has as
/// many limbs as a.
pub(crate) fn div_rem<S: Scalar>(
    scalar: S,
    a: &[u64],
    n: &[u64],
    (quotient, out): (&mut [u64], &mut [u64]),
    scratch: &mut Scratch,
) {
    scratch.dividend(a.len(), n).0.copy_from_slice(a);
    remainder(scalar, a.len(), n, (out, Some(quotient)), scratch);
}

/// `out <- a bit mod n` for a number of a declared width of `bits` bits and a bit (0 or 1), under the
/// conditions of [`mul_mod`].
pub(crate) fn reduce<S: Scalar>(
    scalar: S,
    (a, bits): (&[u64], usize),
    bit: u64,
    n: &[u64],
    out: &mut [u64],
    scratch: &mut Scratch,
) {
    let length = bit_length(n);
    if bits <= length && a.len() <= out.len() {
        // a < 2^length <= 2 n: n is subtracted once, or not at all.
        let (low, above) = out.split_at_mut(a.len());
        copy_masked(a, mask::from_bit(bit), low);
        above.fill(0);
        // Bits beyond the width do not count.
        if let Some(top) = out.get_mut(bits / 64) {
            *top &= (1 << (bits % 64)) - 1;
        }
        let n = &n[..length.div_ceil(64)];
        let borrow = scalar.sub_assign(out, n);
        scalar.add_bit(out, n, borrow);
    } else {
        copy_masked(a, mask::from_bit(bit), scratch.dividend(a.len(), n).0);
        remainder(scalar, a.len(), n, (out, None), scratch);
    }
}

fn copy_masked(from: &[u64], mask: u64, to: &mut [u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from & mask);
}

/// `out <- value mod n` for the dividend of `len` limbs in `scratch`, with the quotient in as many limbs if
/// it is wanted. All dividends share this function, because its code is long.
#[inline(never)]
fn remainder<S: Scalar>(
    scalar: S,
    len: usize,
    n: &[u64],
    (out, quotient): (&mut [u64], Option<&mut [u64]>),
    scratch: &mut Scratch,
) {
    let bits = bit_length(n);
    assert!(bits > 0, "a modulus is at least one");
    let limbs = bits.div_ceil(64);
    let (value, complement) = (&mut scratch.value[..=len], &mut scratch.complement[..limbs]);
    let (out, above) = out.split_at_mut(limbs);
    for limb in above {
        *limb = 0;
    }
    let shift = (64 * limbs - bits) as u32;
    // For the usual lengths the compiler knows the loop bounds.
    match (limbs, len) {
        (1, 2) => {
            divide(scalar, &mut value[..3], &n[..1], shift, &mut complement[..1], &mut out[..1], quotient)
        }
        (2, 4) => {
            divide(scalar, &mut value[..5], &n[..2], shift, &mut complement[..2], &mut out[..2], quotient)
        }
        (4, 8) => {
            divide(scalar, &mut value[..9], &n[..4], shift, &mut complement[..4], &mut out[..4], quotient)
        }
        (8, 16) => {
            divide(scalar, &mut value[..17], &n[..8], shift, &mut complement[..8], &mut out[..8], quotient)
        }
        _ => divide(scalar, value, &n[..limbs], shift, complement, out, quotient),
    }
}

/// `out <- value mod n`, with the quotient if it is wanted. The last limb of `value` is spare. The top bit of
/// `n 2^shift` is set.
#[inline(always)]
fn divide<S: Scalar>(
    scalar: S,
    value: &mut [u64],
    n: &[u64],
    shift: u32,
    complement: &mut [u64],
    out: &mut [u64],
    mut quotient: Option<&mut [u64]>,
) {
    let len = value.len() - 1;
    if len < n.len() {
        out[..len].copy_from_slice(&value[..len]);
        out[len..].fill(0);
        return quotient.into_iter().flatten().for_each(|limb| *limb = 0);
    }
    negate_shifted(n, shift, complement);
    let divisor = Divisor::new(scalar, complement, len - n.len());
    let top = divisor.reduce(&mut value[..len]);
    if let Some(quotient) = &mut quotient {
        let (low, high) = quotient.split_at_mut(len - n.len());
        low.copy_from_slice(&value[n.len()..len]);
        high.fill(0);
        high[0] = top;
    }
    if shift == 0 {
        return out.copy_from_slice(&value[..n.len()]);
    }
    // The value is now a remainder modulo n 2^shift. Multiplied by 2^shift, its remainder is 2^shift times
    // the answer, and its quotient has the low bits of the quotient by n.
    let value = &mut value[..=n.len()];
    shift_up(value, shift);
    divisor.step_limb(value);
    shift_down(value, shift, out);
    if let Some(quotient) = quotient {
        let mut below = value[n.len()];
        for limb in quotient {
            (*limb, below) = (*limb << shift | below, *limb >> (64 - shift));
        }
    }
}

/// `value <- value mod d` in the low limbs, for a divisor d with its top bit set. The limbs above have those
/// of the quotient, whose top bit is returned. `complement` has the length of d.
#[inline(never)]
pub(crate) fn divide_in_place<S: Scalar>(
    scalar: S,
    value: &mut [u64],
    d: &[u64],
    complement: &mut [u64],
) -> u64 {
    negate_shifted(d, 0, complement);
    Divisor::new(scalar, complement, value.len() - d.len()).reduce(value)
}

/// A divisor D of n limbs whose top bit is set. Steps put a remainder in the low n limbs of a value, and the
/// limbs of the quotient above them.
struct Divisor<'a, S> {
    scalar: S,
    /// `2^(64 n) - D`.
    complement: &'a [u64],
    /// The fraction of `2^(64 n) / D`, of which as many limbs are computed as the steps need.
    reciprocal: [u64; reciprocal::LONG],
}

impl<'a, S: Scalar> Divisor<'a, S> {
    /// Sets up the divisor from its complement, for dividends of `rest` limbs more.
    #[inline(always)]
    fn new(scalar: S, complement: &'a [u64], rest: usize) -> Self {
        let mut top = [0; reciprocal::LONG];
        for (to, from) in top.iter_mut().rev().zip(complement.iter().rev()) {
            *to = *from;
        }
        let [_, _, _, _, e0, e1, e2, e3, e4] = top;
        let reciprocal = if Self::takes_long_blocks(complement, rest) {
            reciprocal::long(&top)
        } else if rest >= BLOCK {
            let [v0, v1, v2, v3, v4] = reciprocal::full(&[e0, e1, e2, e3, e4]);
            [0, 0, 0, 0, v0, v1, v2, v3, v4]
        } else {
            let double = reciprocal::double(u128::from(e4) << 64 | u128::from(e3));
            [0, 0, 0, 0, 0, 0, 0, double as u64, (double >> 64) as u64]
        };
        Self { scalar, complement, reciprocal }
    }

    /// Whether [`Self::step_long_block`] pays off for dividends of `rest` limbs more than the divisor.
    #[inline(always)]
    fn takes_long_blocks(complement: &[u64], rest: usize) -> bool {
        rest >= 2 * BLOCK && complement.len() >= S::LONG_BLOCKS
    }

    /// Replaces a value at least as long as the divisor by its remainder and quotient. Returns the top bit of
    /// the quotient, which has one bit more than the limbs above the remainder.
    #[inline(always)]
    fn reduce(&self, value: &mut [u64]) -> u64 {
        let n = self.complement.len();
        let mut rest = value.len() - n;
        // The top limbs are below 2^(64 n), hence below 2 D.
        let top = subtract_once(&mut value[rest..], self.complement);
        while Self::takes_long_blocks(self.complement, rest) {
            rest -= 2 * BLOCK;
            self.step_long_block(&mut value[rest..][..n + 2 * BLOCK]);
        }
        while rest >= BLOCK {
            rest -= BLOCK;
            self.step_block(&mut value[rest..][..n + BLOCK]);
        }
        while rest > 0 {
            rest -= 1;
            self.step_limb(&mut value[rest..][..=n]);
        }
        top
    }

    /// Replaces a value below `2^512 D` by its remainder, in its low limbs.
    #[inline(always)]
    fn step_long_block(&self, value: &mut [u64]) {
        let (_, top) = value.split_last_chunk::<{ 2 * BLOCK + 1 }>().expect("a divisor has limbs");
        let quotient = quotient::<{ 2 * BLOCK }, { 2 * BLOCK + 1 }>(top, &self.reciprocal);
        self.scalar.add_long_block(value, &quotient, self.complement);
        self.add_back(value, quotient[0]);
    }

    /// Replaces a value below `2^256 D` by its remainder, in its low limbs.
    #[inline(always)]
    fn step_block(&self, value: &mut [u64]) {
        let (_, top) = value.split_last_chunk::<{ BLOCK + 1 }>().expect("a divisor has limbs");
        let [_, _, _, _, reciprocal @ ..] = self.reciprocal;
        let quotient = quotient::<BLOCK, { BLOCK + 1 }>(top, &reciprocal);
        if self.complement.len() >= BLOCK {
            self.scalar.add_block(value, &quotient, self.complement);
        } else {
            for (place, &limb) in quotient.iter().enumerate() {
                let carry = add_row(&mut value[place..], limb, self.complement);
                add_assign(&mut value[place + self.complement.len() + 1..], &[carry]);
            }
        }
        self.add_back(value, quotient[0]);
    }

    /// Replaces a value below `2^64 D` by its remainder, in its low limbs.
    #[inline(always)]
    fn step_limb(&self, value: &mut [u64]) {
        let (_, top) = value.split_last_chunk::<2>().expect("a divisor has limbs");
        let [.., low, high] = self.reciprocal;
        let [quotient] = quotient::<1, 2>(top, &[low, high]);
        add_row(value, quotient, self.complement);
        self.add_back(value, quotient);
    }

    /// Corrects a quotient that was one too large. `value + q (2^(64 n) - D)` is `value - q D`, with q added
    /// to the limbs above n. If `value - q D` is negative, those limbs hold q - 1, which is the quotient, and
    /// D is added.
    #[inline(always)]
    fn add_back(&self, value: &mut [u64], quotient: u64) {
        let (low, high) = value.split_at_mut(self.complement.len());
        subtract_masked(low, self.complement, mask::from_bit(quotient.wrapping_sub(high[0]) & 1));
    }
}

/// K limbs of the quotient, exact or one too large, from the G = K + 1 top limbs of the dividend and of the
/// reciprocal.
#[inline(always)]
fn quotient<const K: usize, const G: usize>(top: &[u64; G], reciprocal: &[u64; G]) -> [u64; K] {
    let mut halves = [[0; G]; 2];
    let sum = halves.as_flattened_mut();
    for (place, &limb) in reciprocal.iter().enumerate() {
        let mut carry = 0;
        // The columns below G - 2 are omitted. They contribute less than one limb to column G.
        let skipped = (G - 2).saturating_sub(place);
        for (sum, &top) in sum[place + skipped..].iter_mut().zip(&top[skipped..]) {
            // The sum is at most (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1.
            let step = u128::from(top) * u128::from(limb) + u128::from(*sum) + u128::from(carry);
            *sum = step as u64;
            carry = (step >> 64) as u64;
        }
        sum[place + G] = carry;
    }
    let mut carry = false;
    for (sum, &top) in halves[1].iter_mut().zip(top) {
        (*sum, carry) = add_carrying(*sum, top, carry);
    }
    // The quotient is rounded up, unless that would overflow.
    carry = true;
    let up: [u64; K] = std::array::from_fn(|place| {
        let sum;
        (sum, carry) = add_carrying(halves[1][place + 1], 0, carry);
        sum
    });
    let full = mask::from_bit(u64::from(carry));
    up.map(|limb| limb | full)
}

/// `out <- 2^(64 len) - n 2^shift`, for a shift that does not lengthen n.
#[inline(always)]
fn negate_shifted(n: &[u64], shift: u32, out: &mut [u64]) {
    let (mut below, mut carry) = (0, true);
    for (out, &limb) in out.iter_mut().zip(n) {
        let shifted = limb << shift | below;
        below = limb >> 1 >> (63 - shift);
        (*out, carry) = add_carrying(!shifted, 0, carry);
    }
}

/// `value <- value 2^shift`. The last limb receives the bits shifted out of the other limbs.
#[inline(always)]
fn shift_up(value: &mut [u64], shift: u32) {
    let mut below = 0;
    let (last, limbs) = value.split_last_mut().expect("a value has limbs");
    for limb in limbs {
        (*limb, below) = (*limb << shift | below, *limb >> 1 >> (63 - shift));
    }
    *last = below;
}

/// `out <- value / 2^shift`.
#[inline(always)]
fn shift_down(value: &[u64], shift: u32, out: &mut [u64]) {
    let mut above = 0;
    for (out, &limb) in out.iter_mut().zip(value).rev() {
        *out = limb >> shift | above;
        above = limb << 1 << (63 - shift);
    }
}

/// Subtracts D once if the value is at least D. Returns 1 if it did.
#[inline(always)]
fn subtract_once(value: &mut [u64], complement: &[u64]) -> u64 {
    let (value_blocks, value_single) = value.as_chunks::<BLOCK>();
    let (blocks, single) = complement.as_chunks::<BLOCK>();
    let mut carry = false;
    for (value, complement) in value_blocks.iter().zip(blocks) {
        for place in 0..BLOCK {
            carry = add_carrying(value[place], complement[place], carry).1;
        }
    }
    for (value, complement) in value_single.iter().zip(single) {
        carry = add_carrying(*value, *complement, carry).1;
    }
    let fits = u64::from(carry);
    let mask = mask::from_bit(fits);
    let (value_blocks, value_single) = value.as_chunks_mut::<BLOCK>();
    carry = false;
    for (value, complement) in value_blocks.iter_mut().zip(blocks) {
        let complement = complement.map(|limb| limb & mask);
        for place in 0..BLOCK {
            (value[place], carry) = add_carrying(value[place], complement[place], carry);
        }
    }
    for (value, complement) in value_single.iter_mut().zip(single) {
        (*value, carry) = add_carrying(*value, complement & mask, carry);
    }
    fits
}

/// `value -= other & mask`. The final borrow is dropped.
#[inline(always)]
fn subtract_masked(value: &mut [u64], other: &[u64], mask: u64) {
    let (value_blocks, value_single) = value.as_chunks_mut::<BLOCK>();
    let (blocks, single) = other.as_chunks::<BLOCK>();
    let mut borrow = false;
    for (value, other) in value_blocks.iter_mut().zip(blocks) {
        // The limbs are masked first, so that the borrow stays in the processor's carry flag.
        let other = other.map(|limb| limb & mask);
        for place in 0..BLOCK {
            (value[place], borrow) = sub_borrowing(value[place], other[place], borrow);
        }
    }
    for (value, other) in value_single.iter_mut().zip(single) {
        (*value, borrow) = sub_borrowing(*value, other & mask, borrow);
    }
}

#[cfg(test)]
mod tests;
