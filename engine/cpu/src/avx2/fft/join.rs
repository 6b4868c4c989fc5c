//! Chinese remaindering for three primes in digits of 50 bits; see `fft/three_primes/crt.rs`.
#![allow(unsafe_code)]

use super::doubles::{Doubles, Sum, V, WHOLE};
use crate::fft::primes::{COUNT, PRIMES};
use crate::fft::three_primes::OFFSET;
use crate::isa::Avx2 as Token;
use std::arch::x86_64::*;

/// Bits of a digit.
const BITS: u32 = 50;
const DIGIT: f64 = (1u64 << BITS) as f64;

/// Three primes and their constants of the Chinese remainder theorem.
struct Basis {
    /// `P / p_i` in two digits.
    parts: [[f64; 2]; COUNT],
    /// `1 / p_i`.
    reciprocals: [f64; COUNT],
    /// P in three digits.
    whole: [f64; 3],
}

/// The primes of plain transforms, and the primes of weighted transforms.
static BASES: [Basis; 2] = [Basis::new(0), Basis::new(COUNT)];

/// Splits a number into a digit between `-2^49` and `2^49` and the part above it.
const fn lowest(x: u128) -> (f64, u128) {
    let digit = (x % (1 << BITS)) as i64;
    let is_above = digit >= 1 << (BITS - 1);
    let centred = if is_above { digit - (1 << BITS) } else { digit };
    (centred as f64, (x >> BITS) + is_above as u128)
}

impl Basis {
    const fn new(first: usize) -> Self {
        let primes = [PRIMES[first], PRIMES[first + 1], PRIMES[first + 2]];
        let mut basis = Self { parts: [[0.0; 2]; COUNT], reciprocals: [0.0; COUNT], whole: [0.0; 3] };
        let mut i = 0;
        while i < COUNT {
            let part = primes[(i + 1) % COUNT] as u128 * primes[(i + 2) % COUNT] as u128;
            let (low, high) = lowest(part);
            basis.parts[i] = [low, high as f64];
            basis.reciprocals[i] = 1.0 / primes[i] as f64;
            i += 1;
        }
        // P is p_0 times the two digits of p_1 p_2.
        let part = primes[1] as u128 * primes[2] as u128;
        let low = primes[0] as u128 * (part % (1 << BITS));
        let (first, carry) = lowest(low);
        let (second, third) = lowest(primes[0] as u128 * (part >> BITS) + carry);
        basis.whole = [first, second, third as f64];
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
) -> [__m256i; 3] {
    let basis = &BASES[first / COUNT];
    let set = Doubles::set;
    // Signed numbers are within `2^148`, less than 0.49 P, so k is the nearest integer; otherwise k is the
    // integral part. The sum has an error of less than 2^-48.
    let mut sum = set(if is_signed { 0.5 } else { 1.0 / 256.0 });
    let mut digits = [Sum::new(); 2];
    let c = Doubles::of_prime(token, PRIMES[first]);
    for i in 0..COUNT {
        // y is within 9/16 p, so k is from -2 to 2.
        let y = Doubles::of_prime(token, PRIMES[first + i]).mul_by(residues[i], factors[i]);
        sum = c.fma(y, set(basis.reciprocals[i]), sum);
        for (digit, part) in digits.iter_mut().zip(basis.parts[i]) {
            digit.add(&c, y, set(part));
        }
    }
    let [p0, p1, p2] = basis.whole.map(set);
    let offset = set(if is_signed { (1u64 << (OFFSET - 2 * BITS)) as f64 } else { 0.0 });
    // SAFETY: the token proves AVX2.
    let k = unsafe { _mm256_floor_pd(sum) };
    // In units of 2^50: low parts are within 3/2 each, high parts divided by 2^50 within 3/4, and multiples
    // of the lower digits of P within 1. All sums are below 2^52.
    let low = c.minus_product(digits[0].low, k, p0);
    let middle = c.fma(digits[0].high(&c), set(1.0 / DIGIT), c.minus_product(digits[1].low, k, p1));
    let high = c.fma(digits[1].high(&c), set(1.0 / DIGIT), c.minus_product(offset, k, p2));
    // Digits are from 0 to 2^50. An integer minus (2^49 - 1/2) is never half way between two multiples of
    // 2^50.
    let above = |x: V| c.quotient(c.sub(x, set(DIGIT / 2.0 - 0.5)), set(1.0 / DIGIT));
    let carry = above(low);
    let (low, middle) = (c.minus_product(low, carry, set(DIGIT)), c.add(middle, carry));
    let carry = above(middle);
    let (middle, high) = (c.minus_product(middle, carry, set(DIGIT)), c.add(high, carry));
    // SAFETY: the token proves AVX2.
    unsafe {
        // The low bits of x + 2^52 are x.
        let shift = set(WHOLE / 1.5);
        let [low, middle, high] = [low, middle, high]
            .map(|digit| _mm256_castpd_si256(_mm256_xor_pd(_mm256_add_pd(digit, shift), shift)));
        [
            _mm256_or_si256(low, _mm256_slli_epi64::<50>(middle)),
            _mm256_or_si256(_mm256_srli_epi64::<14>(middle), _mm256_slli_epi64::<36>(high)),
            _mm256_srli_epi64::<28>(high),
        ]
    }
}
