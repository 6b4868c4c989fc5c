//! Three primes just below `2^52 / 5`, and a generator of each field's units of smooth order.
//!
//! `p - 1` is a multiple of `2^26 * 105`, so that there are roots of unity of every order
//! `2^k {1, 3, 5, 7}` up to k = 26. Five times a prime is below `2^52` by so little that the top of a
//! number, times five, is its quotient by p ([`super::bounds`]).

/// How many fields there are.
pub(crate) const COUNT: usize = 3;

/// The primes.
pub(crate) const PRIMES: [u64; COUNT] = [900_710_006_784_001, 900_702_960_353_281, 900_674_774_630_401];

/// Numbers that are no square, cube, fifth or seventh power modulo the prime.
const NON_RESIDUES: [u64; COUNT] = [11, 11, 23];

/// Powers of two that divide every `p - 1`.
pub(crate) const TWO_POWER: u32 = 26;

const _: () = {
    let mut index = 0;
    while index < COUNT {
        assert!(PRIMES[index] % ((1 << TWO_POWER) * 105) == 1);
        assert!(5 * PRIMES[index] < 1 << 52 && 5 * (PRIMES[index] + (PRIMES[index] >> 14)) > 1 << 52);
        index += 1;
    }
};

/// `a b mod p`.
pub(crate) const fn mul(a: u64, b: u64, p: u64) -> u64 {
    (a as u128 * b as u128 % p as u128) as u64
}

/// `base^exponent mod p`.
pub(crate) const fn pow(base: u64, mut exponent: u64, p: u64) -> u64 {
    let (mut power, mut square) = (1, base % p);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul(power, square, p);
        }
        square = mul(square, square, p);
        exponent >>= 1;
    }
    power
}

/// `a^-1 mod p`.
pub(crate) const fn inverse(a: u64, p: u64) -> u64 {
    pow(a, p - 2, p)
}

/// A root of unity of the given order, which divides `2^26 * 105`.
pub(crate) const fn root_of_unity(field: usize, order: u64) -> u64 {
    let p = PRIMES[field];
    assert!((p - 1).is_multiple_of(order), "no root of this order");
    pow(NON_RESIDUES[field], (p - 1) / order, p)
}

/// `1 / len mod p`, for a len of `2^k {1, 3, 5}`; quicker than [`inverse`].
pub(crate) fn inverse_of_length(field: usize, len: u64) -> u64 {
    const ODD: [[u64; COUNT]; 3] = [
        [1; COUNT],
        [inverse(3, PRIMES[0]), inverse(3, PRIMES[1]), inverse(3, PRIMES[2])],
        [inverse(5, PRIMES[0]), inverse(5, PRIMES[1]), inverse(5, PRIMES[2])],
    ];
    let (p, twos) = (PRIMES[field], len.trailing_zeros());
    mul(ODD[(len >> twos) as usize / 2][field], pow(p.div_ceil(2), u64::from(twos), p), p)
}

/// A factor w with its quotient `floor(2^52 w / p)`, by which products with it are reduced (Shoup).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Factor {
    pub(crate) value: u64,
    pub(crate) quotient: u64,
}

impl Factor {
    pub(crate) const fn new(value: u64, p: u64) -> Self {
        Self { value, quotient: (((value as u128) << 52) / p as u128) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_have_their_order() {
        for (field, &p) in PRIMES.iter().enumerate() {
            for order in [2, 3, 4, 5, 7, 15, 1 << 20, 1 << TWO_POWER, 3 << TWO_POWER, 105 << TWO_POWER] {
                let root = root_of_unity(field, order);
                assert_eq!(pow(root, order, p), 1);
                for factor in [2, 3, 5, 7] {
                    assert!(!order.is_multiple_of(factor) || pow(root, order / factor, p) != 1);
                }
            }
        }
    }

    #[test]
    fn lengths_have_inverses() {
        for (field, &p) in PRIMES.iter().enumerate() {
            for len in [1, 2, 3, 5, 48, 80, 1 << 20, 5 << 20] {
                assert_eq!(mul(inverse_of_length(field, len), len, p), 1);
            }
        }
    }

    #[test]
    fn primes_are_prime() {
        // Pocklington: p - 1 has the factor F = 2^26 * 105 > sqrt(p), and a number of order F
        // whose powers to F/q - 1 are prime to p.
        for (p, base) in PRIMES.into_iter().zip(NON_RESIDUES) {
            let smooth = 105u128 << TWO_POWER;
            assert!(smooth * smooth > u128::from(p));
            assert_eq!(pow(base, p - 1, p), 1);
            for factor in [2, 3, 5, 7] {
                let power = pow(base, (p - 1) / factor, p);
                let (mut a, mut b) = (power + p - 1, p);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                assert_eq!(a, 1);
            }
        }
    }
}
