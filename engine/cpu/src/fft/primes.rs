//! Primes just below `2^52 / 5`, and roots of unity modulo each of them.
//!
//! For the first three primes, `p - 1` is a multiple of `2^26 * 105`, so roots of unity of every order
//! `2^k {1, 3, 5, 7}` exist up to k = 26. Five times a prime is so close to `2^52` that the top bits of a
//! number, times five, are its quotient by p.
//!
//! Modulo the other three primes, the order of 2 is coprime to 6, so 2 has roots of every order `2^k {1, 3}`
//! up to k = 17.

/// The number of fields of a product.
pub(crate) const COUNT: usize = 3;

/// The primes: three for plain transforms, and three in which 2 has roots, for weighted transforms.
pub(crate) const PRIMES: [u64; 2 * COUNT] = [
    900_710_006_784_001,
    900_702_960_353_281,
    900_674_774_630_401,
    897_211_175_141_377,
    896_898_487_418_881,
    893_445_483_134_977,
];

/// For each of the first three primes, a number that is not a square, cube, fifth or seventh power; for the
/// last three, a number that is not a square or cube.
const NON_RESIDUES: [u64; 2 * COUNT] = [11, 11, 23, 5, 7, 5];

/// The power of two in `p - 1` for the primes of weighted transforms.
pub(crate) const ROOTS_OF_TWO: u32 = 17;

/// The power of two in `p - 1` for the primes of plain transforms.
pub(crate) const TWO_POWER: u32 = 26;

const _: () = {
    let mut index = 0;
    while index < COUNT {
        assert!(PRIMES[index] % ((1 << TWO_POWER) * 105) == 1);
        assert!(5 * PRIMES[index] < 1 << 52 && 5 * (PRIMES[index] + (PRIMES[index] >> 14)) > 1 << 52);
        let other = PRIMES[COUNT + index];
        assert!(other % (3 << ROOTS_OF_TWO) == 1 && pow(2, part_prime_to_six(other), other) == 1);
        assert!(5 * other < 1 << 52 && 5 * (other + (other >> 6)) > 1 << 52);
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

/// A root of unity of the given order, which must divide `2^26 * 105`.
pub(crate) const fn root_of_unity(field: usize, order: u64) -> u64 {
    let p = PRIMES[field];
    assert!((p - 1).is_multiple_of(order), "no root of this order");
    pow(NON_RESIDUES[field], (p - 1) / order, p)
}

/// `1 / len mod p`, for `len = 2^k {1, 3, 5}`, where `2^k` divides `p - 1`. Faster than [`inverse`].
pub(crate) fn inverse_of_length(field: usize, len: u64) -> u64 {
    /// `1 / 1`, `1 / 3` and `1 / 5` in every field.
    const ODD: [[u64; 3]; PRIMES.len()] = {
        let mut inverses = [[1; 3]; PRIMES.len()];
        let mut field = 0;
        while field < PRIMES.len() {
            inverses[field] = [1, inverse(3, PRIMES[field]), inverse(5, PRIMES[field])];
            field += 1;
        }
        inverses
    };
    let (p, twos) = (PRIMES[field], len.trailing_zeros());
    assert!((p - 1).trailing_zeros() >= twos, "the field has roots of this order");
    // p - (p - 1) / 2^k times 2^k is 2^k p - p + 1.
    mul(ODD[field][(len >> twos) as usize / 2], p - ((p - 1) >> twos), p)
}

/// `(P / p_i)^-1 mod p_i` for the three primes from `first` on, where P is their product.
pub(crate) const fn inverses_of_parts(first: usize) -> [u64; COUNT] {
    let mut inverses = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        let p = PRIMES[first + i];
        let part = mul(PRIMES[first + (i + 1) % COUNT], PRIMES[first + (i + 2) % COUNT], p);
        inverses[i] = inverse(part, p);
        i += 1;
    }
    inverses
}

/// The largest divisor of `p - 1` that is coprime to 6.
const fn part_prime_to_six(p: u64) -> u64 {
    let mut part = (p - 1) >> (p - 1).trailing_zeros();
    while part.is_multiple_of(3) {
        part /= 3;
    }
    part
}

/// The root of 2 of order `2^k {1, 3}`, in a field that has one.
pub(crate) fn root_of_two(field: usize, order: u64) -> u64 {
    // The order of 2 divides a number that is coprime to 6, so the inverse of `order` modulo that number is
    // the exponent.
    let p = PRIMES[field];
    let part = i128::from(part_prime_to_six(p));
    let (mut a, mut b, mut s, mut t) = (i128::from(order) % part, part, 1, 0);
    while b != 0 {
        let quotient = a / b;
        (a, b, s, t) = (b, a - quotient * b, t, s - quotient * t);
    }
    pow(2, s.rem_euclid(part) as u64, p)
}

/// The representations of a Shoup factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactorForm {
    /// Integers: w and `floor(2^52 w / p)`.
    Words,
    /// Doubles: w between `-p / 2` and `p / 2`, and `w / p`, rounded.
    Doubles,
}

/// The number of representations.
pub(crate) const FACTOR_FORMS: usize = 2;

/// A factor w with its quotient `w / p`, which reduces products with w (Shoup's method).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct ShoupFactor {
    pub(crate) value: u64,
    pub(crate) quotient: u64,
}

impl ShoupFactor {
    /// The factor for a value below p.
    pub(crate) const fn new(form: FactorForm, value: u64, p: u64) -> Self {
        match form {
            FactorForm::Words => Self { value, quotient: (((value as u128) << 52) / p as u128) as u64 },
            FactorForm::Doubles => {
                let centred = if value > p / 2 { value as i64 - p as i64 } else { value as i64 } as f64;
                Self { value: centred.to_bits(), quotient: (centred / p as f64).to_bits() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_have_their_order() {
        for (field, &p) in PRIMES[COUNT..].iter().enumerate() {
            for order in [1, 2, 3, 48, 1 << ROOTS_OF_TWO, 3 << ROOTS_OF_TWO] {
                assert_eq!(pow(root_of_two(COUNT + field, order), order, p), 2);
            }
        }
        for (field, &p) in PRIMES[..COUNT].iter().enumerate() {
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
            let twos = (p - 1).trailing_zeros();
            for len in [1, 2, 3, 5, 48, 80, 1 << twos, 5 << twos] {
                assert_eq!(mul(inverse_of_length(field, len), len, p), 1);
            }
        }
    }

    #[test]
    fn primes_are_prime() {
        // Pocklington's criterion: p - 1 has the factor F = 2^26 * 105 > sqrt(p), and there is a number of
        // order F whose powers to F/q, minus one, are coprime to p.
        for p in PRIMES[COUNT..].iter().copied() {
            // These primes are small enough for trial division.
            assert!((3..30_000_000).step_by(2).all(|divisor| !p.is_multiple_of(divisor)));
        }
        for (p, base) in PRIMES[..COUNT].iter().copied().zip(NON_RESIDUES) {
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
