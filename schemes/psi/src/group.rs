//! The groups.

use modmill::Modulus;
use std::fmt;
use std::sync::LazyLock;

mod primes;

/// A group of RFC 7919: the squares modulo a safe prime p, of the prime order (p - 1) / 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// 2048 bits: about 103 bits of security ([RFC 7919, appendix
    /// A.1](https://www.rfc-editor.org/rfc/rfc7919#appendix-A.1)).
    Ffdhe2048,
    /// 3072 bits: about 125 bits of security, near Curve25519's. The default.
    Ffdhe3072,
    /// 4096 bits: about 150 bits of security.
    Ffdhe4096,
}

impl Group {
    /// All groups.
    pub const ALL: [Self; 3] = [Self::Ffdhe2048, Self::Ffdhe3072, Self::Ffdhe4096];

    /// The name that RFC 7919 gives the group.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ffdhe2048 => "ffdhe2048",
            Self::Ffdhe3072 => "ffdhe3072",
            Self::Ffdhe4096 => "ffdhe4096",
        }
    }

    /// Length of the prime, in bits.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Self::Ffdhe2048 => 2048,
            Self::Ffdhe3072 => 3072,
            Self::Ffdhe4096 => 4096,
        }
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn octets(self) -> usize {
        self.bits() / 8
    }

    /// Length of secret exponents in bits: the least that RFC 7919 allows for the group (section 5.2), twice
    /// its security.
    #[must_use]
    pub const fn exponent_bits(self) -> usize {
        match self {
            Self::Ffdhe2048 => 225,
            Self::Ffdhe3072 => 275,
            Self::Ffdhe4096 => 325,
        }
    }

    /// The prime p. Its constants are kept from call to call.
    #[must_use]
    pub fn modulus(self) -> &'static Modulus {
        static MODULI: LazyLock<[Modulus; 3]> = LazyLock::new(|| {
            [primes::FFDHE2048, primes::FFDHE3072, primes::FFDHE4096]
                .map(|text| Modulus::from_hex(text).expect("a constant"))
        });
        &MODULI[self as usize]
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let group = Self::ALL.into_iter().find(|group| group.name() == text);
        group.ok_or_else(|| format!("{text:?} is no group; there are ffdhe2048, ffdhe3072 and ffdhe4096"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill::primality;
    use num_bigint::BigUint;

    /// RFC 7919's definition: `2^b - 2^(b-64) + (floor(2^(b-130) e) + x) 2^64 - 1`, with e by its series.
    #[test]
    fn primes_are_those_of_the_rfc() {
        let one = BigUint::from(1u32);
        for (group, x) in Group::ALL.into_iter().zip([560_316u32, 2_625_351, 5_736_041]) {
            let bits = group.bits();
            let precision = bits + 64;
            let (mut term, mut e, mut divisor) = (&one << precision, BigUint::default(), 1u32);
            while term != BigUint::default() {
                e += &term;
                term /= divisor;
                divisor += 1;
            }
            let middle: BigUint = (e << (bits - 130) >> precision) + x;
            let prime: BigUint = (&one << bits) - (&one << (bits - 64)) + (middle << 64u32) - &one;
            assert_eq!(group.modulus().value(), prime.to_u64_digits(), "{group}");
        }
    }

    #[test]
    fn primes_are_safe() {
        let engine = modmill::Engine::new().unwrap();
        for group in Group::ALL {
            let p = group.modulus().value();
            let half: Vec<u64> = (0..p.len()).map(|i| p[i] >> 1 | p.get(i + 1).unwrap_or(&0) << 63).collect();
            let both = modmill::Batch::from_limbs(group.bits(), [p, &half[..]].concat()).unwrap();
            assert_eq!(
                primality::is_probable_prime(&engine, &both, &[2, 3, 5]).unwrap(),
                [true, true],
                "{group}"
            );
        }
    }

    #[test]
    fn names_are_read_back() {
        for group in Group::ALL {
            assert_eq!(group.to_string().parse(), Ok(group));
        }
        assert!("ffdhe1024".parse::<Group>().unwrap_err().contains("ffdhe1024"));
    }
}
