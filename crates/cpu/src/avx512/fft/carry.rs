//! From residues modulo the three primes back to one number.
//!
//! With `P = p_0 p_1 p_2`, a number X below P is `sum y_i P / p_i - k P`, where y_i is X times the
//! inverse of `P / p_i` modulo p_i, and k the integral part of `sum y_i / p_i`. The fraction of that
//! sum is `X / P`, which stays clear of 1 (`plan`), so that a rounded sum gives the right k.
//!
//! Coefficients modulo `y^len + 1` have either sign. They are joined with [`OFFSET`] added, which is taken away
//! from the number.

use super::pointwise::correction;
use super::weights::Weights;
use super::{Constants, V, load};
use crate::fft::carry::{DigitWriter, Join};
use crate::fft::frame::{Frame, Ring};
use crate::fft::point::{LANES, Point};
use crate::fft::primes::{self, COUNT, Factor, PRIMES};
use crate::isa::Ifma as Token;
use std::arch::x86_64::*;
use std::sync::Arc;

const MASK: u64 = (1 << 52) - 1;

/// Bits behind the point of the sum of `y_i / p_i`.
const FRACTION: u32 = 49;

/// The sum falls short by less than one for each y_i and one for each `1 / p_i`.
const SHORT: i64 = 2 * COUNT as i64;

/// More than the size of coefficients of either sign, and at most half of `63/64 P`.
pub(super) const OFFSET: u32 = 148;

/// Three primes and what residues modulo them are joined with.
struct Basis {
    primes: [u64; COUNT],
    /// `(P / p_i)^-1 mod p_i`.
    inverses: [u64; COUNT],
    /// [`OFFSET`] times that.
    offsets: [u64; COUNT],
    /// `P / p_i` in two digits of 52 bits.
    parts: [[u64; 2]; COUNT],
    /// `2^(FRACTION + 52) / p_i`.
    reciprocals: [u64; COUNT],
    /// `-k P modulo 2^156` in three digits, for k = 0 to 7.
    multiples: [[u64; LANES]; 3],
}

/// The primes of products, and those in which 2 has roots.
static BASES: [Basis; 2] = [Basis::new(0), Basis::new(COUNT)];

impl Basis {
    const fn new(first: usize) -> Self {
        let primes = [PRIMES[first], PRIMES[first + 1], PRIMES[first + 2]];
        let mut basis = Self {
            primes,
            inverses: [0; COUNT],
            offsets: [0; COUNT],
            parts: [[0; 2]; COUNT],
            reciprocals: [0; COUNT],
            multiples: [[0; LANES]; 3],
        };
        let mut i = 0;
        while i < COUNT {
            let p = primes[i];
            let part = primes[(i + 1) % COUNT] as u128 * primes[(i + 2) % COUNT] as u128;
            basis.inverses[i] = primes::inverse((part % p as u128) as u64, p);
            basis.offsets[i] = primes::mul(basis.inverses[i], primes::pow(2, OFFSET as u64, p), p);
            basis.parts[i] = [part as u64 & MASK, (part >> 52) as u64 & MASK];
            basis.reciprocals[i] = ((1u128 << (FRACTION + 52)) / p as u128) as u64;
            i += 1;
        }
        // P in digits: p_0 times the two digits of p_1 p_2.
        let low = primes[0] as u128 * basis.parts[0][0] as u128;
        let high = primes[0] as u128 * basis.parts[0][1] as u128 + (low >> 52);
        let whole = [low as u64 & MASK, high as u64 & MASK, (high >> 52) as u64];
        let mut k = 1;
        while k < LANES {
            let mut borrow = 0;
            let mut digit = 0;
            while digit < 3 {
                let difference = basis.multiples[digit][k - 1] as i64 - whole[digit] as i64 - borrow;
                basis.multiples[digit][k] = difference as u64 & MASK;
                borrow = (difference < 0) as i64;
                digit += 1;
            }
            k += 1;
        }
        basis
    }
}

/// By what a residue is multiplied: `(P / p_i)^-1 mod p_i`, with the factor that products of a length of so many points
/// lack, in a field.
pub(super) fn factor_of(field: usize, points: usize) -> u64 {
    let inverse = BASES[field / COUNT].inverses[field % COUNT];
    primes::mul(inverse, correction(field, points as u64), PRIMES[field])
}

/// What residues of products in blocks of one frame are joined with.
pub(crate) struct Crt {
    frame: Frame,
    basis: &'static Basis,
    /// What residues are multiplied by, and minus that.
    factors: [[Factor; COUNT]; 2],
    /// What [`OFFSET`] is after this multiplication, where coefficients have either sign.
    offsets: [u64; COUNT],
    /// What is to be taken from the last word of a number.
    excess: i64,
    /// Of blocks with weights.
    weights: Option<Arc<Weights>>,
    _token: Token,
}

impl Crt {
    /// For products of blocks of this frame.
    pub(crate) fn new(token: Token, frame: Frame) -> Self {
        let factor = |i: usize| factor_of(i, frame.shape.points());
        let is_signed = frame.ring == Ring::Plus;
        Self {
            frame,
            basis: &BASES[0],
            factors: [
                std::array::from_fn(|i| Factor::new(factor(i), PRIMES[i])),
                std::array::from_fn(|i| Factor::new(PRIMES[i] - factor(i), PRIMES[i])),
            ],
            offsets: if is_signed { BASES[0].offsets } else { [0; COUNT] },
            excess: if is_signed { 1 << (OFFSET - 128) } else { 0 },
            weights: None,
            _token: token,
        }
    }

    /// For products of blocks with weights, modulo the primes in which 2 has roots.
    pub(super) fn weighted(token: Token, frame: Frame, weights: Arc<Weights>) -> Self {
        Self { basis: &BASES[1], weights: Some(weights), ..Self::new(token, frame) }
    }

    /// Eight numbers from their residues below 2p, or their negatives, each in three words, offset included.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn join(&self, residues: [V; COUNT], is_negated: bool) -> [V; 3] {
        let set =
            |factor: &Factor| [factor.value, factor.quotient].map(|word| _mm512_set1_epi64(word as i64));
        self.join_by(residues, self.factors[usize::from(is_negated)].each_ref().map(set))
    }

    /// The same, with a factor for each residue and its quotient.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn join_by(&self, residues: [V; COUNT], factors: [[V; 2]; COUNT]) -> [V; 3] {
        let zero = _mm512_setzero_si512();
        let set = |word: u64| _mm512_set1_epi64(word as i64);
        let mut sum = _mm512_set1_epi64(SHORT);
        let mut digits = [zero; 3];
        for i in 0..COUNT {
            // Below 7/5 p, or 12/5 p with an offset.
            let c = Constants::new(self.basis.primes[i]);
            let y = c.mul_add_by(set(self.offsets[i]), residues[i], factors[i]);
            sum = _mm512_madd52hi_epu64(sum, y, set(self.basis.reciprocals[i]));
            let [low, high] = self.basis.parts[i].map(set);
            digits[0] = _mm512_madd52lo_epu64(digits[0], y, low);
            digits[1] = _mm512_madd52hi_epu64(digits[1], y, low);
            digits[1] = _mm512_madd52lo_epu64(digits[1], y, high);
            digits[2] = _mm512_madd52hi_epu64(digits[2], y, high);
        }
        // At most 3 * 12/5, so below 8.
        let k = _mm512_srli_epi64::<FRACTION>(sum);
        for (digit, multiples) in digits.iter_mut().zip(&self.basis.multiples) {
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

impl Crt {
    /// Digits of blocks with weights: all of them, of two lengths.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn carry_weighted(&self, residues: [&[Point]; COUNT], weights: &Weights, out: &mut [u64]) -> i128 {
        let mut out = DigitWriter::<false>::new(out, 1);
        let mut place = self.frame.shape.place(0);
        for point in 0..self.frame.shape.points() {
            let at = place.index();
            let factors = std::array::from_fn(|field| weights.back(field, point));
            let words = self.join_by(residues.map(|points| load(&points[at])), factors);
            // SAFETY: a vector of eight words is an array of eight words.
            let [low, middle, high]: [[u64; LANES]; 3] = unsafe { std::mem::transmute(words) };
            for (lane, bits) in weights.lengths(point).into_iter().enumerate() {
                out.set_bits(bits);
                out.add(low[lane], middle[lane], high[lane] as i64);
            }
            place.advance();
        }
        out.flush();
        out.carry()
    }
}

impl Join<COUNT> for Crt {
    fn carry(&self, residues: [&[Point]; COUNT], digit_bits: u32, first: usize, out: &mut [u64]) -> i128 {
        // SAFETY: the token proved AVX-512 IFMA.
        unsafe {
            if let Some(weights) = &self.weights {
                return self.carry_weighted(residues, weights, out);
            }
            match digit_bits {
                64 => self.carry_points(residues, first, DigitWriter::<true>::new(out, 64)),
                bits => self.carry_points(residues, first, DigitWriter::<false>::new(out, bits)),
            }
        }
    }

    fn is_divisible(&self) -> bool {
        self.weights.is_none()
    }
}
