//! From residues modulo the three primes back to one number.
//!
//! With `P = p_0 p_1 p_2`, a number X below P is `sum y_i P / p_i - k P`, where y_i is X times the
//! inverse of `P / p_i` modulo p_i, and k the integral part of `sum y_i / p_i`. The fraction of that
//! sum is `X / P`, which stays clear of 1 (`plan`), so that a rounded sum gives the right k.
//!
//! Coefficients modulo `y^len + 1` have either sign. They are joined with [`OFFSET`] added, which is taken away
//! from the number.

use super::pointwise::correction;
use super::{Constants, V, load};
use crate::fft::carry::{DigitWriter, Join};
use crate::fft::frame::{Frame, Ring};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, COUNT, Factor, PRIMES};
use crate::isa::Ifma as Token;
use std::arch::x86_64::*;

const MASK: u64 = (1 << 52) - 1;

/// Bits behind the point of the sum of `y_i / p_i`.
const FRACTION: u32 = 49;

/// The sum falls short by less than one for each y_i and one for each `1 / p_i`.
const SHORT: i64 = 2 * COUNT as i64;

/// More than the size of coefficients of either sign, and at most half of `63/64 P`.
pub(super) const OFFSET: u32 = 148;

/// `P / p_i`.
const PARTS: [u128; COUNT] = {
    let [a, b, c] = [PRIMES[0] as u128, PRIMES[1] as u128, PRIMES[2] as u128];
    [b * c, c * a, a * b]
};

/// `(P / p_i)^-1 mod p_i`.
const INVERSES: [u64; COUNT] = {
    let mut inverses = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        inverses[i] = primes::inverse((PARTS[i] % PRIMES[i] as u128) as u64, PRIMES[i]);
        i += 1;
    }
    inverses
};

/// [`OFFSET`] times that.
const OFFSETS: [u64; COUNT] = {
    let mut offsets = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        offsets[i] = primes::mul(INVERSES[i], primes::pow(2, OFFSET as u64, PRIMES[i]), PRIMES[i]);
        i += 1;
    }
    offsets
};

/// `2^(FRACTION + 52) / p_i`.
const RECIPROCALS: [u64; COUNT] = {
    let mut reciprocals = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        reciprocals[i] = ((1u128 << (FRACTION + 52)) / PRIMES[i] as u128) as u64;
        i += 1;
    }
    reciprocals
};

/// `-k P modulo 2^156` in three digits, for k = 0 to 7.
const MULTIPLES: [[u64; LANES]; 3] = {
    // P in digits: p_0 times the two digits of p_1 p_2.
    let low = PRIMES[0] as u128 * (PARTS[0] & MASK as u128);
    let high = PRIMES[0] as u128 * (PARTS[0] >> 52) + (low >> 52);
    let whole = [low as u64 & MASK, high as u64 & MASK, (high >> 52) as u64];
    let mut multiples = [[0; LANES]; 3];
    let mut k = 1;
    while k < LANES {
        let mut borrow = 0;
        let mut digit = 0;
        while digit < 3 {
            let difference = multiples[digit][k - 1] as i64 - whole[digit] as i64 - borrow;
            multiples[digit][k] = difference as u64 & MASK;
            borrow = (difference < 0) as i64;
            digit += 1;
        }
        k += 1;
    }
    multiples
};

/// What residues of products in blocks of one frame are joined with.
pub(crate) struct Crt {
    frame: Frame,
    /// `(P / p_i)^-1 mod p_i`, with the factor that products of this length lack; and minus that.
    factors: [[Factor; COUNT]; 2],
    /// What [`OFFSET`] is after this multiplication.
    offsets: [u64; COUNT],
    /// What is to be taken from the last word of a number.
    excess: i64,
    /// `P / p_i` in two digits of 52 bits.
    parts: [[u64; 2]; COUNT],
    /// `2^(FRACTION + 52) / p_i`.
    reciprocals: [u64; COUNT],
    /// `-k P modulo 2^156` in three digits, for k = 0 to 7.
    multiples: [[u64; LANES]; 3],
    _token: Token,
}

impl Crt {
    /// For products of blocks of this frame.
    pub(crate) fn new(token: Token, frame: Frame) -> Self {
        let factor =
            |i: usize| primes::mul(INVERSES[i], correction(i, frame.shape.points() as u64), PRIMES[i]);
        let is_signed = frame.ring == Ring::Plus;
        Self {
            frame,
            factors: [
                std::array::from_fn(|i| Factor::new(factor(i), PRIMES[i])),
                std::array::from_fn(|i| Factor::new(PRIMES[i] - factor(i), PRIMES[i])),
            ],
            offsets: if is_signed { OFFSETS } else { [0; COUNT] },
            excess: if is_signed { 1 << (OFFSET - 128) } else { 0 },
            parts: PARTS.map(|part| [part as u64 & MASK, (part >> 52) as u64 & MASK]),
            reciprocals: RECIPROCALS,
            multiples: MULTIPLES,
            _token: token,
        }
    }

    /// Eight numbers from their residues below 2p, or their negatives, each in three words, offset included.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn join(&self, residues: [V; COUNT], is_negated: bool) -> [V; 3] {
        let zero = _mm512_setzero_si512();
        let set = |word: u64| _mm512_set1_epi64(word as i64);
        let mut sum = _mm512_set1_epi64(SHORT);
        let mut digits = [zero; 3];
        for i in 0..COUNT {
            // Below 7/5 p, or 12/5 p with an offset.
            let factor = &self.factors[usize::from(is_negated)][i];
            let y = Constants::new(PRIMES[i]).mul_add(set(self.offsets[i]), residues[i], factor);
            sum = _mm512_madd52hi_epu64(sum, y, set(self.reciprocals[i]));
            let [low, high] = self.parts[i].map(set);
            digits[0] = _mm512_madd52lo_epu64(digits[0], y, low);
            digits[1] = _mm512_madd52hi_epu64(digits[1], y, low);
            digits[1] = _mm512_madd52lo_epu64(digits[1], y, high);
            digits[2] = _mm512_madd52hi_epu64(digits[2], y, high);
        }
        // At most 3 * 12/5, so below 8.
        let k = _mm512_srli_epi64::<FRACTION>(sum);
        for (digit, multiples) in digits.iter_mut().zip(&self.multiples) {
            // SAFETY: 64 bytes are there; they need not be aligned.
            let multiples = unsafe { _mm512_loadu_si512(multiples.as_ptr().cast()) };
            *digit = _mm512_add_epi64(*digit, _mm512_permutexvar_epi64(k, multiples));
        }
        // Digits are sums of at most seven halves below 2^52.
        let [low, middle, high] = digits;
        let middle = _mm512_add_epi64(middle, _mm512_srli_epi64::<52>(low));
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(middle));
        let mask = set(MASK);
        let [low, middle, high] = [low, middle, high].map(|digit| _mm512_and_si512(digit, mask));
        [
            _mm512_or_si512(low, _mm512_slli_epi64::<52>(middle)),
            _mm512_or_si512(_mm512_srli_epi64::<12>(middle), _mm512_slli_epi64::<40>(high)),
            _mm512_srli_epi64::<24>(high),
        ]
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn carry_points<const WHOLE: bool>(
        &self,
        residues: [&[Point]; COUNT],
        first: usize,
        mut out: DigitWriter<'_, WHOLE>,
    ) -> i128 {
        let mut place = self.frame.shape.place(first);
        for point in first.. {
            if out.is_full() {
                break;
            }
            let is_negated = self.frame.is_negated(point);
            let words = self.join(residues.map(|points| load(&points[place.index()])), is_negated);
            // SAFETY: a vector of eight words is an array of eight words.
            let [low, middle, high]: [[u64; LANES]; 3] = unsafe { std::mem::transmute(words) };
            for lane in 0..LANES {
                out.add(low[lane], middle[lane], high[lane] as i64 - self.excess);
            }
            place.advance();
        }
        out.carry()
    }
}

impl Join<COUNT> for Crt {
    fn carry(&self, residues: [&[Point]; COUNT], digit_bits: u32, first: usize, out: &mut [u64]) -> i128 {
        // SAFETY: the token proved AVX-512 IFMA.
        unsafe {
            match digit_bits {
                64 => self.carry_points(residues, first, DigitWriter::<true>::new(out, 64)),
                bits => self.carry_points(residues, first, DigitWriter::<false>::new(out, bits)),
            }
        }
    }
}
