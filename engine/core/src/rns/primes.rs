//! Primes of the form `h 2^16 - 1`.
//!
//! Such a prime is -1 modulo 2^16, so Montgomery's division of a 48-bit sum T by 2^16 takes one short
//! product: `T + m p = T - m + m h 2^16` for `m = T mod 2^16`.

/// The largest factor h. Primes are at most 0.33 2^32, so a lazy residue of up to three times its prime
/// fits a word. [`crate::rns::bounds`] has the exact ranges.
pub const LARGEST_FACTOR: u32 = 21_626;

/// The primes `h 2^16 - 1` with h at most `largest`, in falling order.
pub fn downwards(largest: u32) -> impl Iterator<Item = u32> {
    (1..=largest).rev().map(|factor| (factor << 16) - 1).filter(|&candidate| is_prime(candidate))
}

/// Whether `candidate` is prime, by Miller-Rabin rounds to the bases 2, 7 and 61. No composite below
/// 4,759,123,141 passes all three (Jaeschke, "On strong pseudoprimes to several bases", 1993).
#[must_use]
pub fn is_prime(candidate: u32) -> bool {
    for small in [2, 3, 5, 7, 61] {
        if candidate.is_multiple_of(small) {
            return candidate == small;
        }
    }
    if candidate < 2 {
        return false;
    }
    let (n, twos) = (u64::from(candidate), (candidate - 1).trailing_zeros());
    let passes = |base: u64| {
        let mut power = power_modulo(base, (n - 1) >> twos, n);
        if power == 1 || power == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            power = power * power % n;
            power == n - 1
        })
    };
    [2, 7, 61].into_iter().all(passes)
}

/// `base^exponent mod modulus` for public numbers below 2^32.
fn power_modulo(base: u64, exponent: u64, modulus: u64) -> u64 {
    let mut power = 1;
    for place in (0..64 - exponent.leading_zeros()).rev() {
        power = power * power % modulus;
        if exponent >> place & 1 == 1 {
            power = power * base % modulus;
        }
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_agrees_with_trial_division() {
        let divides = |n: u32| (2..).take_while(|d| d * d <= n).any(|d| n.is_multiple_of(d));
        for n in (0..20_000).chain((1..=LARGEST_FACTOR).step_by(997).map(|factor| (factor << 16) - 1)) {
            assert_eq!(is_prime(n), n >= 2 && !divides(n), "{n}");
        }
        // Strong pseudoprimes to the bases 2; 2 and 3; 2, 3 and 5; and the largest words.
        for (n, expected) in [
            (2047, false),
            (1_373_653, false),
            (25_326_001, false),
            (3_215_031_751, false),
            (4_294_967_291, true),
            (u32::MAX, false),
        ] {
            assert_eq!(is_prime(n), expected, "{n}");
        }
    }

    #[test]
    fn there_are_enough_of_them() {
        let primes: Vec<u32> = downwards(LARGEST_FACTOR).collect();
        assert!(primes.len() > 1000, "{}", primes.len());
        assert!(primes.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(primes.iter().all(|prime| prime % 65_536 == 65_535));
        assert!(f64::from(primes[0]) <= 0.33 * 4_294_967_296.0);
    }
}
