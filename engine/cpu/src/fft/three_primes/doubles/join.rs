//! Chinese remaindering for three primes in digits of 50 bits; see `fft/three_primes/crt.rs`.

use super::field::{Doubles, Sum, WHOLE};
use super::vector::Vector;
use crate::fft::primes::{COUNT, PRIMES};
use crate::fft::three_primes::OFFSET;

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
pub(super) fn join<V: Vector>(
    token: V::Token,
    first: usize,
    is_signed: bool,
    residues: [V; COUNT],
    factors: [[V; 2]; COUNT],
) -> [V; 3] {
    let basis = &BASES[first / COUNT];
    let c = Doubles::<V>::of_prime(token, PRIMES[first]);
    let set = |x: f64| c.set(x);
    // k is the integer nearest to the sum: signed numbers are within `2^148`, less than 0.49 P, and others
    // from 0 to 63/64 P, so that they are within 63/128 of 63/128 P. The sum has an error of less than 2^-48.
    let mut sum = set(if is_signed { 0.0 } else { -63.0 / 128.0 });
    let mut digits = [Sum::new(&c); 2];
    for i in 0..COUNT {
        // y is within 9/16 p, so k is from -2 to 2.
        let y = Doubles::of_prime(token, PRIMES[first + i]).mul_by(residues[i], factors[i]);
        sum = y.mul_add(set(basis.reciprocals[i]), sum);
        for (digit, part) in digits.iter_mut().zip(basis.parts[i]) {
            digit.add(y, set(part));
        }
    }
    let [p0, p1, p2] = basis.whole.map(set);
    let offset = set(if is_signed { (1u64 << (OFFSET - 2 * BITS)) as f64 } else { 0.0 });
    let k = c.quotient(sum, set(1.0));
    // In units of 2^50: low parts are within 3/2 each, high parts divided by 2^50 within 3/4, and multiples
    // of the lower digits of P within 1. All sums are below 2^52.
    let low = k.neg_mul_add(p0, digits[0].low);
    let middle = digits[0].high(&c).mul_add(set(1.0 / DIGIT), k.neg_mul_add(p1, digits[1].low));
    let high = digits[1].high(&c).mul_add(set(1.0 / DIGIT), k.neg_mul_add(p2, offset));
    // Digits are from 0 to 2^50. An integer minus (2^49 - 1/2) is never half way between two multiples of
    // 2^50.
    let above = |x: V| c.quotient(x.sub(set(DIGIT / 2.0 - 0.5)), set(1.0 / DIGIT));
    let carry = above(low);
    let (low, middle) = (carry.neg_mul_add(set(DIGIT), low), middle.add(carry));
    let carry = above(middle);
    let (middle, high) = (carry.neg_mul_add(set(DIGIT), middle), high.add(carry));
    // The low bits of x + 2^52 are x.
    let unit = set(WHOLE / 1.5);
    V::pack([low, middle, high].map(|digit| digit.add(unit)), unit)
}
