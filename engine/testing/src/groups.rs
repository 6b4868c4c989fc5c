//! The Diffie-Hellman groups of RFC 3526 and RFC 7919, computed from their formulas: large safe
//! primes that others chose.

use crate::hard::power_of_two;
use num_bigint::BigUint;

/// A group modulo a safe prime p: p and (p - 1) / 2 are prime, and 2 generates the squares.
#[derive(Debug, Clone)]
pub struct Group {
    /// The name in the standard.
    pub name: &'static str,
    /// Length of the prime in bits.
    pub bits: usize,
    /// The prime.
    pub prime: BigUint,
}

/// The constant whose bits fill the middle of the prime.
#[derive(Debug, Clone, Copy)]
enum Constant {
    Pi,
    E,
}

/// Name, bits, constant, and the number added to its leading bits, as the RFCs state them.
const GROUPS: [(&str, usize, Constant, u32); 11] = [
    ("modp1536", 1536, Constant::Pi, 741_804),
    ("modp2048", 2048, Constant::Pi, 124_476),
    ("modp3072", 3072, Constant::Pi, 1_690_314),
    ("modp4096", 4096, Constant::Pi, 240_904),
    ("modp6144", 6144, Constant::Pi, 929_484),
    ("modp8192", 8192, Constant::Pi, 4_743_158),
    ("ffdhe2048", 2048, Constant::E, 560_316),
    ("ffdhe3072", 3072, Constant::E, 2_625_351),
    ("ffdhe4096", 4096, Constant::E, 5_736_041),
    ("ffdhe6144", 6144, Constant::E, 15_705_020),
    ("ffdhe8192", 8192, Constant::E, 10_965_728),
];

/// The groups with primes of at most `limit` bits.
#[must_use]
pub fn groups(limit: usize) -> Vec<Group> {
    let chosen = GROUPS.into_iter().filter(|&(_, bits, ..)| bits <= limit);
    chosen
        .map(|(name, bits, constant, offset)| Group { name, bits, prime: prime(bits, constant, offset) })
        .collect()
}

/// `2^bits - 2^(bits - 64) - 1 + 2^64 (floor(2^(bits - 130) c) + offset)`.
fn prime(bits: usize, constant: Constant, offset: u32) -> BigUint {
    let scaled = match constant {
        Constant::Pi => pi(bits - 130),
        Constant::E => e(bits - 130),
    };
    power_of_two(bits) - power_of_two(bits - 64) - 1u8 + ((scaled + offset) << 64)
}

/// Guard bits: the rounding errors of fewer than 2^20 terms stay within them.
const GUARD: usize = 64;

/// `floor(2^bits pi)` by Machin's formula, pi = 16 arctan(1/5) - 4 arctan(1/239).
#[must_use]
pub fn pi(bits: usize) -> BigUint {
    let scale = power_of_two(bits + GUARD);
    ((arctan_of_inverse(5, &scale) << 4) - (arctan_of_inverse(239, &scale) << 2)) >> GUARD
}

/// `scale arctan(1/x)` by its alternating series.
fn arctan_of_inverse(x: u32, scale: &BigUint) -> BigUint {
    let (mut plus, mut minus) = (BigUint::ZERO, BigUint::ZERO);
    let mut power = scale / x;
    let mut k = 0u32;
    while power != BigUint::ZERO {
        *(if k.is_multiple_of(2) { &mut plus } else { &mut minus }) += &power / (2 * k + 1);
        power /= x * x;
        k += 1;
    }
    plus - minus
}

/// `floor(2^bits e)` as the sum of the inverse factorials.
#[must_use]
pub fn e(bits: usize) -> BigUint {
    let (mut sum, mut term) = (BigUint::ZERO, power_of_two(bits + GUARD));
    let mut n = 1u32;
    while term != BigUint::ZERO {
        sum += &term;
        term /= n;
        n += 1;
    }
    sum >> GUARD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_start_as_known() {
        // Printed by: python3 -c "import math; print(math.pi.hex(), math.e.hex())"
        assert_eq!(pi(51), BigUint::from(0x0019_21fb_5444_2d18u64));
        assert_eq!(e(51), BigUint::from(0x0015_bf0a_8b14_5769u64));
        assert_eq!(pi(5000) >> 4000usize, pi(1000));
        assert_eq!(e(5000) >> 4000usize, e(1000));
    }

    #[test]
    fn the_primes_end_and_start_as_printed_in_the_standards() {
        let groups = groups(8192);
        let text = |name: &str| {
            let group = groups.iter().find(|group| group.name == name).unwrap();
            assert_eq!(group.prime.bits(), group.bits as u64);
            format!("{:x}", group.prime)
        };
        // RFC 3526, sections 2 and 3; RFC 7919, appendix A.1.
        assert!(text("modp1536").starts_with("ffffffffffffffffc90fdaa22168c234"));
        assert!(text("modp1536").ends_with("670c354e4abc9804f1746c08ca237327ffffffffffffffff"));
        assert!(text("modp2048").ends_with("15728e5a8aacaa68ffffffffffffffff"));
        assert!(text("ffdhe2048").starts_with("ffffffffffffffffadf85458a2bb4a9a"));
        assert!(text("ffdhe2048").ends_with("886b423861285c97ffffffffffffffff"));
    }
}
