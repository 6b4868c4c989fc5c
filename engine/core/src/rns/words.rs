//! Numbers of little-endian 32-bit words, for products of primes and other constants.

/// The product of `factors`.
pub(super) fn product(factors: impl Iterator<Item = u32>) -> Vec<u32> {
    factors.fold(vec![1], |mut number, factor| {
        let carry = multiply_add(&mut number, factor, 0);
        if carry > 0 {
            number.push(carry);
        }
        number
    })
}

/// `number <- number factor + summand`. Returns the word that is carried out.
pub(super) fn multiply_add(number: &mut [u32], factor: u32, summand: u32) -> u32 {
    number.iter_mut().fold(summand, |carry, word| {
        let sum = u64::from(*word) * u64::from(factor) + u64::from(carry);
        *word = sum as u32;
        (sum >> 32) as u32
    })
}

/// The quotient of `number` by a non-zero `divisor`, without leading zeros.
pub(super) fn quotient(number: &[u32], divisor: u32) -> Vec<u32> {
    let mut quotient = number.to_vec();
    let mut rest = 0;
    for word in quotient.iter_mut().rev() {
        let dividend = rest << 32 | u64::from(*word);
        *word = (dividend / u64::from(divisor)) as u32;
        rest = dividend % u64::from(divisor);
    }
    while quotient.last() == Some(&0) {
        quotient.pop();
    }
    quotient
}

/// The length of `number` in bits.
pub(super) fn bit_length(number: &[u32]) -> usize {
    number.last().map_or(0, |top| 32 * number.len() - top.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn products_and_quotients_agree_with_another_library() {
        let factors = [u32::MAX, 1, 0x8000_0000, 3, 0x5479_ffff, u32::MAX, 2];
        let expected: BigUint = factors.iter().map(|&factor| BigUint::from(factor)).product();
        let number = product(factors.into_iter());
        assert_eq!(BigUint::new(number.clone()), expected);
        assert_eq!(bit_length(&number) as u64, expected.bits());
        for divisor in [1, 2, 7, 0x5479_ffff, u32::MAX] {
            assert_eq!(BigUint::new(quotient(&number, divisor)), &expected / divisor);
        }
        assert_eq!((quotient(&[5], 7), bit_length(&[])), (vec![], 0));
    }
}
