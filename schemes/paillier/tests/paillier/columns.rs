//! Arithmetic on columns of ciphertexts.

use super::*;
use modmill_paillier::{Ciphertexts, Error, Integers};

fn decrypted(key: &PrivateKey, column: &Ciphertexts) -> Vec<BigUint> {
    oracle::numbers(&paillier().decrypt(key, column).unwrap())
}

#[test]
fn identities_hold() {
    let mut rng = Rng::new(3);
    for key in KEYS.iter() {
        let (public, n) = (key.public_key(), n(key.public_key()));
        let a = plaintexts(public, &mut rng);
        let mut b = plaintexts(public, &mut rng);
        b.reverse();
        let [x, y] = [&a, &b].map(|values| paillier().encrypt(public, &batch(values)).unwrap());
        let each = |f: &dyn Fn(&BigUint, &BigUint) -> BigUint| -> Vec<BigUint> {
            a.iter().zip(&b).map(|(a, b)| f(a, b) % &n).collect()
        };
        assert_eq!(decrypted(key, &paillier().add(&x, &y).unwrap()), each(&|a, b| a + b));
        assert_eq!(decrypted(key, &paillier().sub(&x, &y).unwrap()), each(&|a, b| a + &n - b));
        assert_eq!(decrypted(key, &paillier().neg(&x).unwrap()), each(&|a, _| &n - a));
        assert_eq!(decrypted(key, &paillier().add_plain(&x, &batch(&b)).unwrap()), each(&|a, b| a + b));
        let factors = Integers::from_batch(batch(&b));
        assert_eq!(decrypted(key, &paillier().mul(&x, &factors).unwrap()), each(&|a, b| a * b));
        assert_eq!(decrypted(key, &paillier().mul_vartime(&x, &factors).unwrap()), each(&|a, b| a * b));
        let again = paillier().randomize(&x).unwrap();
        assert_eq!(decrypted(key, &again), a);
        assert!(again.values().iter().zip(x.values().iter()).all(|(a, b)| a != b));
    }
}

#[test]
fn products_by_signed_integers() {
    let key = &KEYS[1];
    let n = n(key.public_key());
    let values: Vec<BigUint> = [0u32, 1, 7, 1000, 12, 3, 9].map(BigUint::from).to_vec();
    let column = paillier().encrypt(key.public_key(), &batch(&values)).unwrap();
    let factors = [5, -5, i64::MAX, i64::MIN, 0, 1, -1];
    let expected: Vec<BigUint> = values
        .iter()
        .zip(factors)
        .map(|(value, factor)| {
            let magnitude = value * factor.unsigned_abs() % &n;
            if factor < 0 { (&n - magnitude) % &n } else { magnitude }
        })
        .collect();
    let factors = Integers::from_i64(&factors);
    assert_eq!(decrypted(key, &paillier().mul(&column, &factors).unwrap()), expected);
    assert_eq!(decrypted(key, &paillier().mul_vartime(&column, &factors).unwrap()), expected);
    let dot: BigUint = expected.iter().sum::<BigUint>() % &n;
    assert_eq!(decrypted(key, &paillier().dot(&column, &factors).unwrap()), [dot]);
    // One factor for all.
    for factor in [3i64, -3, 0] {
        let shared = Integers::from_i64(&[factor]);
        let all = Integers::from_i64(&[factor; 7]);
        let expected = decrypted(key, &paillier().mul(&column, &all).unwrap());
        assert_eq!(decrypted(key, &paillier().mul(&column, &shared).unwrap()), expected);
        assert_eq!(decrypted(key, &paillier().mul_vartime(&column, &shared).unwrap()), expected);
    }
}

#[test]
fn sums_of_columns_of_any_length() {
    let key = &KEYS[2];
    for count in [0u64, 1, 2, 3, 7, 8, 9, 33] {
        let values = Batch::from_values((0..count).map(|value| [value * value]));
        let column = paillier().encrypt(key.public_key(), &values).unwrap();
        let total: u64 = (0..count).map(|value| value * value).sum();
        assert_eq!(decrypted(key, &paillier().sum(&column).unwrap()), [BigUint::from(total)]);
    }
}

#[test]
fn operands_that_do_not_belong_together_are_refused() {
    let (key, other) = (KEYS[0].public_key(), KEYS[1].public_key());
    let two = Batch::from_values([[1u64], [2]]);
    let [x, y] = [key, other].map(|key| paillier().encrypt(key, &two).unwrap());
    let error = paillier().add(&x, &y).unwrap_err();
    assert!(
        matches!(error, Error::WrongKey { .. }) && error.to_string().contains("the second column belongs to")
    );
    assert!(matches!(paillier().sub(&x, &y), Err(Error::WrongKey { .. })));
    let three = paillier().encrypt(key, &Batch::from_values([[1u64], [2], [3]])).unwrap();
    assert!(matches!(paillier().add(&x, &three), Err(Error::LengthMismatch { expected: 2, found: 3, .. })));
    let integers = Integers::from_i64(&[1, 2, 3]);
    assert!(matches!(paillier().mul(&x, &integers), Err(Error::LengthMismatch { .. })));
    assert!(matches!(paillier().dot(&x, &integers), Err(Error::LengthMismatch { .. })));
    let large = Integers::from_batch(batch(&[BigUint::from(1u8), n(key)]));
    assert!(matches!(paillier().mul(&x, &large), Err(Error::OutOfRange { index: 1, .. })));
    assert!(matches!(Integers::new(two, vec![true]), Err(Error::LengthMismatch { .. })));
}

#[test]
fn integers_are_read_back() {
    let values = [0, 1, -1, i128::MAX, i128::MIN, 1 << 64, -(1 << 64)];
    let integers = Integers::from_i128(&values);
    let found: Vec<_> = (0..values.len()).map(|index| integers.to_i128(index)).collect();
    assert_eq!(found, values.map(Some));
    let long =
        Integers::new(batch(&[BigUint::from(1u8) << 127u32, BigUint::from(1u8) << 128u32]), vec![false; 2]);
    let long = long.unwrap();
    assert_eq!((long.to_i128(0), long.to_i128(1)), (None, None));
}
