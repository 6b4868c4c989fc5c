//! The prime factors of a modulus from the private exponent, where a key comes without them.

use crate::number::{self, Number};
use crypto_bigint::{BoxedUint, Gcd, NonZero};
use zeroize::Zeroizing;

/// The factors `p > q` of `n`, from exponents with `d e = 1` modulo p - 1 and q - 1. The time depends on the
/// lengths only, unless there is no answer.
///
/// This is the deterministic method of NIST SP 800-56B, revision 2, appendix C.2. It has an answer for every
/// key whose public exponent is much shorter than p and q.
pub(super) fn factors(n: &[u64], e: &[u64], d: &[u64]) -> Option<[Number; 2]> {
    let sum = sum_of_factors(n, e, d)?;
    let difference = difference_of_factors(n, &sum)?;
    let len = sum.len().max(difference.len()) + 1;
    let (sum, difference) = (big(&sum, len), big(&difference, len));
    let halve = |twice: BoxedUint| limbs(&Zeroizing::new(Zeroizing::new(twice).shr(1)));
    let factors = [halve(sum.wrapping_add(&*difference)), halve(sum.wrapping_sub(&*difference))];
    number::equal(&number::mul(&factors[0], &factors[1]), n).then_some(factors)
}

/// `p + q`, if the exponents are those of a key.
///
/// Let g be the greatest common divisor of `n - 1` and `d e - 1`. Then `g (d e - 1)` is a multiple
/// `k (p - 1) (q - 1) = k n - k (p + q - 1)`. Its division by n gives `k - 1` and `n - k (p + q - 1)` if
/// `k (p + q - 1) <= n`.
fn sum_of_factors(n: &[u64], e: &[u64], d: &[u64]) -> Option<Number> {
    let mut multiple = number::mul(d, e);
    if multiple.first()? & 1 == 0 {
        return None;
    }
    multiple[0] &= !1;
    let len = multiple.len().max(n.len());
    let divisor = Zeroizing::new(big(&multiple, len).gcd(&*big(&number::minus_one(n), len)));
    let multiple = number::mul(&multiple, divisor.as_words());
    let len = multiple.len() + 1;
    let (modulus, one) = (big(n, len), big(&[1], len));
    let (quotient, remainder) = divide(&big(&multiple, len), &modulus)?;
    let k = Zeroizing::new(quotient.wrapping_add(&*one));
    let k_times_sum = Zeroizing::new(modulus.wrapping_sub(&*remainder));
    let (sum_less_one, remainder) = divide(&k_times_sum, &k)?;
    let sum = limbs(&Zeroizing::new(sum_less_one.wrapping_add(&*one)));
    // p + q is at most n / 3 + 3, so that a longer sum is wrong.
    (bool::from(remainder.is_zero()) && sum.len() <= n.len()).then_some(sum)
}

/// `p - q`, the square root of `(p + q)^2 - 4 p q`.
fn difference_of_factors(n: &[u64], sum: &[u64]) -> Option<Number> {
    let square = number::mul(sum, sum);
    let len = square.len().max(n.len() + 1);
    let (mut discriminant, mut four_n) = (Number::new(vec![0; len]), Number::new(vec![0; len]));
    discriminant[..square.len()].copy_from_slice(&square);
    number::shift_left(n, 2, &mut four_n);
    let borrow = number::sub_assign(&mut discriminant, &four_n);
    let root = Zeroizing::new(big(&discriminant, len).checked_sqrt().into_option()?);
    (borrow == 0).then(|| limbs(&root))
}

fn big(limbs: &[u64], len: usize) -> Zeroizing<BoxedUint> {
    let padding = std::iter::repeat_n(0, len - limbs.len());
    Zeroizing::new(BoxedUint::from_words(limbs.iter().copied().chain(padding)))
}

fn limbs(number: &BoxedUint) -> Number {
    let mut limbs = Number::new(number.as_words().to_vec());
    number::truncate(&mut limbs);
    limbs
}

/// Quotient and remainder, unless the divisor is zero.
fn divide(a: &BoxedUint, b: &BoxedUint) -> Option<(Zeroizing<BoxedUint>, Zeroizing<BoxedUint>)> {
    let divisor = Zeroizing::new(NonZero::new(b.clone()).into_option()?);
    let (quotient, remainder) = a.div_rem(&*divisor);
    Some((Zeroizing::new(quotient), Zeroizing::new(remainder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PrivateKey, Sizes};
    use modmill_testing::oracle::number as digits;
    use num_bigint::BigUint;

    #[test]
    fn factors_come_back_from_every_private_exponent() {
        let engine = modmill::Engine::builder().threads(1).build().unwrap();
        for bits in [512, 1024, 1090] {
            let key = PrivateKey::generate(&engine, bits, Sizes::AllowSmall).unwrap();
            let (p, q) = (digits(key.p().prime.value()), digits(key.q().prime.value()));
            let order = (&p - 1u8) * (&q - 1u8);
            // The inverse modulo the least common multiple, and the longer one modulo the product.
            let mut exponents = vec![(key.public_key().exponent().to_vec(), key.exponent().to_vec())];
            for e in [3u32, 17, 65_537, 0xffff_fffb] {
                let inverse = BigUint::from(e).modinv(&order);
                exponents.extend(inverse.map(|d| (vec![u64::from(e)], d.to_u64_digits())));
            }
            for (e, d) in exponents {
                let [first, second] = factors(key.public_key().modulus().value(), &e, &d).unwrap();
                assert_eq!(
                    (digits(&first), digits(&second)),
                    (p.clone(), q.clone()),
                    "{bits} bits, e = {e:?}"
                );
            }
        }
    }

    #[test]
    fn numbers_that_are_no_key_have_no_factors() {
        let n: Vec<u64> = vec![0xffff_ffff_ffff_fff1, 5, 7, 1 << 63];
        for d in [&[][..], &[0], &[1], &[3], &[2, 4], &[u64::MAX; 4], &[u64::MAX; 9]] {
            for e in [&[3][..], &[65_537], &[u64::MAX; 4]] {
                assert!(factors(&n, e, d).is_none(), "{d:?}");
            }
        }
    }
}
