//! Chinese remaindering for three primes in digits of 52 bits; see `fft/three_primes/crt.rs`.
#![allow(unsafe_code)]

use super::words::{V, Words};
use crate::fft::point::LANES;
use crate::fft::primes::{self, COUNT, PRIMES};
use crate::fft::three_primes::OFFSET;
use crate::isa::Ifma as Token;
use std::arch::x86_64::*;

const MASK: u64 = (1 << 52) - 1;

/// Fractional bits of the sum of `y_i / p_i`.
const FRACTION: u32 = 49;

/// The sum is too small by less than one unit for each y_i and one for each `1 / p_i`.
const SHORT: i64 = 2 * COUNT as i64;

/// Three primes and their constants of the Chinese remainder theorem.
struct Basis {
    primes: [u64; COUNT],
    /// `2^OFFSET`, times `(P / p_i)^-1 mod p_i`.
    offsets: [u64; COUNT],
    /// `P / p_i` in two digits of 52 bits.
    parts: [[u64; 2]; COUNT],
    /// `2^(FRACTION + 52) / p_i`.
    reciprocals: [u64; COUNT],
    /// `-k P` modulo `2^156` in three digits, for k = 0 to 7.
    multiples: [[u64; LANES]; 3],
}

/// The primes of plain transforms, and the primes of weighted transforms.
static BASES: [Basis; 2] = [Basis::new(0), Basis::new(COUNT)];

impl Basis {
    const fn new(first: usize) -> Self {
        let primes = [PRIMES[first], PRIMES[first + 1], PRIMES[first + 2]];
        let inverses = primes::inverses_of_parts(first);
        let mut basis = Self {
            primes,
            offsets: [0; COUNT],
            parts: [[0; 2]; COUNT],
            reciprocals: [0; COUNT],
            multiples: [[0; LANES]; 3],
        };
        let mut i = 0;
        while i < COUNT {
            let p = primes[i];
            let part = primes[(i + 1) % COUNT] as u128 * primes[(i + 2) % COUNT] as u128;
            basis.offsets[i] = primes::mul(inverses[i], primes::pow(2, OFFSET as u64, p), p);
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

/// Implements `Arithmetic::join`.
#[inline(always)]
pub(super) fn join(
    token: Token,
    first: usize,
    is_signed: bool,
    residues: [V; COUNT],
    factors: [[V; 2]; COUNT],
) -> [V; 3] {
    let basis = &BASES[first / COUNT];
    let set = |word: u64| Words::set(word as i64);
    let mut sum = Words::set(SHORT);
    let mut digits = [set(0); 3];
    for i in 0..COUNT {
        // y is below 7/5 p, or below 12/5 p with an offset.
        let c = Words::of_prime(token, basis.primes[i]);
        let offset = set(if is_signed { basis.offsets[i] } else { 0 });
        let y = c.mul_add_by(offset, residues[i], factors[i]);
        sum = c.high(sum, y, set(basis.reciprocals[i]));
        let [low, high] = basis.parts[i].map(set);
        digits[0] = c.low(digits[0], y, low);
        digits[1] = c.high(digits[1], y, low);
        digits[1] = c.low(digits[1], y, high);
        digits[2] = c.high(digits[2], y, high);
    }
    // SAFETY: the token proves AVX-512F; rows of `multiples` are 64 bytes, and the load needs no alignment.
    unsafe {
        // k is at most 3 * 12/5, so it is below 8.
        let k = _mm512_srli_epi64::<FRACTION>(sum);
        for (digit, multiples) in digits.iter_mut().zip(&basis.multiples) {
            let multiples = _mm512_loadu_si512(multiples.as_ptr().cast());
            *digit = _mm512_add_epi64(*digit, _mm512_permutexvar_epi64(k, multiples));
        }
        // Digits are sums of at most seven halves below 2^52.
        let [low, middle, high] = digits;
        let middle = _mm512_add_epi64(middle, _mm512_srli_epi64::<52>(low));
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(middle));
        let [low, middle, high] = [low, middle, high].map(|digit| _mm512_and_si512(digit, set(MASK)));
        [
            _mm512_or_si512(low, _mm512_slli_epi64::<52>(middle)),
            _mm512_or_si512(_mm512_srli_epi64::<12>(middle), _mm512_slli_epi64::<40>(high)),
            _mm512_srli_epi64::<24>(high),
        ]
    }
}
