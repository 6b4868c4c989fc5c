//! Digits that overlap, added up into one number; and all threads at it, by carry look-ahead.

use super::point::{LANES, Point};
use modmill_core::limbs::add_assign;
use modmill_core::mask;
use modmill_core::transform::Shape;
use rayon::prelude::*;

/// Joins residues modulo F primes into numbers, and these into limbs.
pub(crate) trait Join<const F: usize>: Sync {
    /// Fills `out` with `sum c_i 2^(bits i)` over the coefficients from point `first` on, and returns
    /// what is carried out of it. The place of `first` is that of a limb.
    fn carry(&self, residues: [&[Point]; F], shape: Shape, bits: u32, first: usize, out: &mut [u64]) -> u128;
}

/// Adds numbers of up to 150 bits, each a digit above the one before, and writes the sum.
///
/// `WHOLE` says that digits are limbs.
pub(crate) struct DigitWriter<'a, const WHOLE: bool> {
    out: &'a mut [u64],
    written: usize,
    bits: u32,
    carry: u128,
    pending: u64,
    filled: u32,
}

impl<'a, const WHOLE: bool> DigitWriter<'a, WHOLE> {
    pub(crate) fn new(out: &'a mut [u64], bits: u32) -> Self {
        Self { out, written: 0, bits, carry: 0, pending: 0, filled: 0 }
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.written >= self.out.len()
    }

    /// The next number, in three words.
    #[inline(always)]
    pub(crate) fn add(&mut self, low: u64, middle: u64, high: u64) {
        // Numbers have 150 bits and digits 62 or 64, or they have 64 bits and digits fewer: a carry, less
        // than 2 * 2^(150 - 62), fits in two words, and a sum in three.
        let (sum, overflow) = (u128::from(low) | u128::from(middle) << 64).overflowing_add(self.carry);
        let high = u128::from(high + u64::from(overflow));
        if WHOLE {
            self.carry = sum >> 64 | high << 64;
            return self.write(sum as u64);
        }
        self.carry = sum >> self.bits | high << (128 - self.bits);
        let digit = sum as u64 & (u64::MAX >> (64 - self.bits));
        self.pending |= digit << self.filled;
        self.filled += self.bits;
        if self.filled >= 64 {
            self.write(self.pending);
            self.filled -= 64;
            // Shifted in two steps: nothing is left of a digit that filled the limb exactly.
            self.pending = digit >> 1 >> (self.bits - self.filled - 1);
        }
    }

    #[inline(always)]
    fn write(&mut self, limb: u64) {
        if let Some(to) = self.out.get_mut(self.written) {
            *to = limb;
        }
        self.written += 1;
    }

    pub(crate) fn carry(self) -> u128 {
        self.carry
    }
}

/// Points whose digits are a whole number of limbs, whatever the bits of a digit.
const UNIT: usize = 64 / LANES;

/// Limbs that one thread takes at a time, at least.
const SHARE: usize = 1 << 14;

/// Fills `out` with the coefficients of a product; it is long enough for all that is not zero.
pub(crate) fn resolve<const F: usize>(
    join: &impl Join<F>,
    residues: [&[Point]; F],
    shape: Shape,
    bits: u32,
    out: &mut [u64],
) {
    let units = SHARE.max(out.len() / (4 * rayon::current_num_threads())).div_ceil(bits as usize);
    let share = units * bits as usize;
    let carry = |index: usize, out: &mut [u64]| join.carry(residues, shape, bits, index * units * UNIT, out);
    if rayon::current_num_threads() == 1 || out.len() <= share {
        carry(0, out);
        return;
    }
    let carries: Vec<u128> =
        out.par_chunks_mut(share).enumerate().map(|(index, out)| carry(index, out)).collect();
    // What a share hands on goes into the first three limbs of the next, and from there a single bit
    // into the rest of it, which passes it on only if it is all ones.
    let all_ones = |limbs: &[u64]| mask::equal(limbs.iter().fold(u64::MAX, |all, limb| all & limb), u64::MAX);
    let ones: Vec<u64> = out.par_chunks(share).map(|out| all_ones(out.get(HEAD..).unwrap_or(&[]))).collect();
    let mut bit = 0;
    let mut bits_in = vec![0; carries.len()];
    for (index, out) in out.chunks_mut(share).enumerate().skip(1) {
        let head = out.len().min(HEAD);
        let handed = [carries[index - 1] as u64, (carries[index - 1] >> 64) as u64];
        let mut sum = add_assign(&mut out[..head], &handed[..head.min(2)]);
        sum += add_assign(&mut out[..head], &[bit]);
        bits_in[index] = sum;
        bit = sum & ones[index];
    }
    out.par_chunks_mut(share).zip(bits_in).for_each(|(out, bit)| {
        add_assign(out.get_mut(HEAD..).unwrap_or_default(), &[bit]);
    });
}

/// Limbs that take up a carry out of the share before, with a bit to spare.
const HEAD: usize = 3;
