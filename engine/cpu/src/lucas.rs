//! The strong Lucas test of public numbers, with Selfridge's parameters (Baillie and Wagstaff, "Lucas
//! pseudoprimes", Mathematics of Computation 35, 1980).
//!
//! D is the first of 5, -7, 9, -11, ... with the Jacobi symbol -1 modulo n; `P = 1` and `Q = (1 - D) / 4`.
//! With `n + 1 = d 2^s` for an odd d, a prime n has `U_d = 0`, or `V_(d 2^r) = 0` for some r below s.

use crate::jacobi::symbol;
use crate::long::Multiplier;
use crate::remainder::{Scratch, mul_mod};
use crate::scalar::Scalar;
use crate::scalar_choice::with_scalar;
use modmill_core::limbs::{
    add_assign, bit, bit_length, inverse_of_odd, reduce_once, shift_right, sub_assign, trailing_zeros,
};

/// The largest |D| that is looked at before n counts as a square. Half of all D have the symbol -1 if it is
/// none.
const LAST: u64 = 1 << 16;

/// Whether an odd n of at least 3 that is no square passes the strong Lucas test.
///
/// ```
/// use modmill_cpu::long::Multiplier;
/// use modmill_cpu::lucas::is_strong_probable_prime;
///
/// let multiplier = &Multiplier::detect(None)[0];
/// // 2047 = 23 * 89 passes a Miller-Rabin round to base 2; 5459 = 53 * 103 passes this test.
/// let passed = [2039, 2047, 5459].map(|n| is_strong_probable_prime(multiplier, &[n]));
/// assert_eq!(passed, [true, false, true]);
/// ```
#[must_use]
pub fn is_strong_probable_prime(multiplier: &Multiplier, n: &[u64]) -> bool {
    let n = &n[..bit_length(n).div_ceil(64)];
    let Some(d) = discriminant(n) else { return false };
    with_scalar!(multiplier.limbs(), scalar => passes(scalar, n, d))
}

/// The first of 5, -7, 9, -11, ... with the symbol -1 modulo n; `None` if one shares a factor with n, or if
/// there is none because n is a square.
fn discriminant(n: &[u64]) -> Option<i64> {
    for size in (5..LAST).step_by(2) {
        // D is 1 modulo 4, so that its symbol modulo n is that of n modulo |D|.
        let rest = n.iter().rev().fold(0, |rest, limb| {
            let rest = (rest << 32 | limb >> 32) % size;
            (rest << 32 | limb & 0xffff_ffff) % size
        });
        match symbol(&[rest], &[size]) {
            -1 => return Some(if size % 4 == 3 { -(size as i64) } else { size as i64 }),
            0 if n != [size] => return None,
            _ => {}
        }
    }
    None
}

/// Montgomery arithmetic modulo n. Numbers are below n.
struct Ring<'a, S> {
    scalar: S,
    n: &'a [u64],
    negated_inverse: u64,
    space: Vec<u64>,
}

impl<S: Scalar> Ring<'_, S> {
    /// A small number in Montgomery form.
    fn enter(&self, number: i64) -> Vec<u64> {
        let mut radix = vec![0; self.n.len() + 1];
        radix[self.n.len()] = 1;
        let mut out = vec![0; self.n.len()];
        mul_mod(&[number.unsigned_abs()], &radix, self.n, &mut out, &mut Scratch::new(0, 0));
        let mut answer = vec![0; self.n.len()];
        if number < 0 {
            self.sub(&mut answer, &out)
        } else {
            answer.copy_from_slice(&out)
        }
        answer
    }

    /// `x <- x y`.
    fn multiply(&mut self, x: &mut [u64], y: &[u64]) {
        self.scalar.montgomery_multiply(x, y, &mut self.space, self.n, self.negated_inverse);
        // The product of two numbers below n is reduced to less than 2 n.
        reduce_once(x, self.n);
    }

    fn square(&mut self, x: &mut [u64]) {
        self.scalar.montgomery_square(x, &mut self.space, self.n, self.negated_inverse);
        reduce_once(x, self.n);
    }

    /// `x <- x - y`.
    fn sub(&self, x: &mut [u64], y: &[u64]) {
        if sub_assign(x, y) == 1 {
            add_assign(x, self.n);
        }
    }

    /// `x <- 2 x`.
    fn double(&self, x: &mut [u64]) {
        let copy = x.to_vec();
        if add_assign(x, &copy) == 1 {
            sub_assign(x, self.n);
        } else {
            reduce_once(x, self.n);
        }
    }

    /// `v <- v^2 - 2 q`.
    fn square_less_twice(&mut self, v: &mut [u64], q: &[u64]) {
        self.square(v);
        self.sub(v, q);
        self.sub(v, q);
    }
}

/// The test with the discriminant D.
fn passes<S: Scalar>(scalar: S, n: &[u64], discriminant: i64) -> bool {
    let negated_inverse = inverse_of_odd(n[0]).wrapping_neg();
    let mut ring = Ring { scalar, n, negated_inverse, space: vec![0; 2 * n.len()] };
    let mut next = vec![0; n.len() + 1];
    next[..n.len()].copy_from_slice(n);
    add_assign(&mut next, &[1]);
    let twos = trailing_zeros(&next).unwrap_or(0);
    let mut d = vec![0; next.len()];
    shift_right(&next, twos, &mut d);
    let factor = ring.enter((1 - discriminant) / 4);
    // V_k, V_(k+1) and Q^k for k = 0.
    let (mut v, mut w, mut q) = (ring.enter(2), ring.enter(1), ring.enter(1));
    for place in (0..bit_length(&d)).rev() {
        let mut above = q.clone();
        ring.multiply(&mut above, &factor);
        // V_(2k+1) = V_k V_(k+1) - Q^k, with P = 1.
        let (product, other, power) = match bit(&d, place) {
            0 => (&mut w, &mut v, &q),
            _ => (&mut v, &mut w, &above),
        };
        ring.multiply(product, other);
        ring.sub(product, &q);
        ring.square_less_twice(other, power);
        match bit(&d, place) {
            0 => ring.square(&mut q),
            _ => ring.multiply(&mut q, &above),
        }
    }
    // D U_d = 2 V_(d+1) - V_d.
    ring.double(&mut w);
    if w == v {
        return true;
    }
    let is_zero = |number: &[u64]| number.iter().all(|&limb| limb == 0);
    for _ in 1..twos {
        if is_zero(&v) {
            return true;
        }
        ring.square_less_twice(&mut v, &q);
        ring.square(&mut q);
    }
    is_zero(&v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    /// The strong Lucas pseudoprimes below 100000 (OEIS A217255).
    const PSEUDOPRIMES: [u64; 12] =
        [5459, 5777, 10_877, 16_109, 18_971, 22_499, 24_569, 25_199, 40_309, 58_519, 75_077, 97_439];

    fn multipliers() -> Vec<Multiplier> {
        let mut multipliers = Multiplier::detect(Some(modmill_core::Isa::Portable));
        multipliers.extend(Multiplier::detect(None).pop());
        multipliers
    }

    #[test]
    fn below_100000_the_known_composites_pass_and_no_others() {
        for multiplier in multipliers() {
            for n in (3..100_000u64).step_by(2).filter(|&n| n.isqrt() * n.isqrt() != n) {
                let is_prime = (3..=n.isqrt()).step_by(2).all(|divisor| !n.is_multiple_of(divisor));
                let expected = is_prime || PSEUDOPRIMES.contains(&n);
                assert_eq!(is_strong_probable_prime(&multiplier, &[n, 0]), expected, "{n}");
            }
        }
    }

    #[test]
    fn long_primes_pass_and_their_products_fail() {
        let mersenne = |exponent: usize| (BigUint::from(1u8) << exponent) - 1u8;
        let primes = [mersenne(61), mersenne(89), mersenne(127), mersenne(521), mersenne(1279)];
        for multiplier in multipliers() {
            for (index, prime) in primes.iter().enumerate() {
                assert!(is_strong_probable_prime(&multiplier, &prime.to_u64_digits()), "{prime}");
                for other in &primes[index + 1..] {
                    let product = prime * other;
                    assert!(!is_strong_probable_prime(&multiplier, &product.to_u64_digits()), "{product}");
                }
            }
            // 2^192 - 237, 2^256 - 189 and 2^512 - 569 are the largest primes of their lengths.
            for (bits, below) in [(192, 237u32), (256, 189), (512, 569)] {
                let prime: BigUint = (BigUint::from(1u8) << bits) - below;
                assert!(is_strong_probable_prime(&multiplier, &prime.to_u64_digits()));
                assert!(!is_strong_probable_prime(&multiplier, &(prime - 2u8).to_u64_digits()));
            }
        }
    }
}
