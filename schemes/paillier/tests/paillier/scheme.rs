//! Encryption, decryption and masks.

use super::*;
use modmill::Watch;
use modmill_paillier::{Ciphertexts, Error};
use std::sync::Arc;

#[test]
fn masks_are_those_of_the_formulas() {
    let mut rng = Rng::new(1);
    for key in KEYS.iter() {
        let public = key.public_key();
        let n = n(public);
        let square = &n * &n;
        let messages = plaintexts(public, &mut rng);
        let count = messages.len();
        let expected = |masks: &[BigUint]| -> Vec<BigUint> {
            messages.iter().zip(masks).map(|(m, x)| (m * &n + 1u8) * x % &square).collect()
        };
        let encrypted =
            |masks| oracle::numbers(paillier().encrypt_with(&batch(&messages), masks).unwrap().values());

        let mut r: Vec<BigUint> = (0..count).map(|_| rng.number(public.bits() + 64) % &n).collect();
        (r[0], r[1]) = (BigUint::from(1u8), &n - 1u8);
        let masks = paillier().full_masks_with(public, &batch(&r)).unwrap();
        let full: Vec<_> = r.iter().map(|r| r.modpow(&n, &square)).collect();
        assert_eq!(encrypted(masks), expected(&full));

        let [p, q] = key.primes().map(number);
        let mut y: Vec<BigUint> = (0..count).map(|_| rng.number(public.bits()) % &p).collect();
        let mut z: Vec<BigUint> = (0..count).map(|_| rng.number(public.bits()) % &q).collect();
        (y[0], y[1], z[0], z[2]) = (BigUint::from(1u8), &p - 1u8, &q - 1u8, BigUint::from(1u8));
        let masks = paillier().owner_full_masks_with(key, &batch(&y), &batch(&z)).unwrap();
        let (pp, qq) = (&p * &p, &q * &q);
        let inverse = qq.modinv(&pp).unwrap();
        let owner: Vec<_> = y
            .iter()
            .zip(&z)
            .map(|(y, z)| {
                let (a, b) = (y.modpow(&p, &pp), z.modpow(&q, &qq));
                &b + &qq * ((&a + &pp - &b % &pp) * &inverse % &pp)
            })
            .collect();
        // Every mask is an n-th power: its order divides lambda.
        let lambda = (&p - 1u8) * (&q - 1u8);
        assert!(owner.iter().all(|mask| mask.modpow(&lambda, &square) == BigUint::from(1u8)));
        assert_eq!(encrypted(masks), expected(&owner));

        let Some(base) = public.short_base() else { continue };
        let bits = public.short_exponent_bits();
        let mut a: Vec<BigUint> = (0..count).map(|_| rng.number(bits)).collect();
        (a[0], a[1], a[2]) = (BigUint::ZERO, BigUint::from(1u8), (BigUint::from(1u8) << bits) - 1u8);
        let masks = paillier().short_masks_with(public, &batch(&a)).unwrap();
        let short: Vec<_> = a.iter().map(|a| number(base).modpow(a, &square)).collect();
        assert_eq!(encrypted(masks), expected(&short));
        let masks = paillier().owner_short_masks_with(key, &batch(&a)).unwrap();
        assert_eq!(encrypted(masks), expected(&short));
    }
}

#[test]
fn what_is_encrypted_in_any_way_decrypts() {
    let mut rng = Rng::new(2);
    for key in KEYS.iter() {
        let public = key.public_key();
        let messages = plaintexts(public, &mut rng);
        let plain = batch(&messages);
        let ways = [
            paillier().encrypt(public, &plain).unwrap(),
            paillier().encrypt_as_owner(key, &plain).unwrap(),
            paillier().encrypt_with(&plain, paillier().full_masks(public, plain.len()).unwrap()).unwrap(),
            paillier().encrypt_with(&plain, paillier().owner_full_masks(key, plain.len()).unwrap()).unwrap(),
        ];
        for column in ways {
            let values = oracle::numbers(column.values());
            let slow: Vec<_> = values.iter().map(|value| slow_decrypt(key, value)).collect();
            assert_eq!(slow, messages);
            assert_eq!(oracle::numbers(&paillier().decrypt(key, &column).unwrap()), messages);
            assert_eq!(oracle::numbers(&paillier().decrypt_checked(key, &column).unwrap()), messages);
            // Equal plaintexts never have equal ciphertexts.
            let again = paillier().encrypt(public, &plain).unwrap();
            assert!(column.values().iter().zip(again.values().iter()).all(|(a, b)| a != b));
        }
    }
}

#[test]
fn empty_columns_are_columns() {
    let key = &KEYS[1];
    let none = Batch::zeros(64, 0);
    let column = paillier().encrypt(key.public_key(), &none).unwrap();
    assert!(column.is_empty());
    assert!(paillier().decrypt(key, &column).unwrap().is_empty());
    assert!(paillier().decrypt_checked(key, &column).unwrap().is_empty());
    assert!(paillier().encrypt_as_owner(key, &none).unwrap().is_empty());
    assert!(paillier().add(&column, &column).unwrap().is_empty());
}

#[test]
fn numbers_out_of_range_are_refused_and_named() {
    let key = &KEYS[2];
    let public = key.public_key();
    let (n, p) = (n(public), number(key.primes()[0]));
    let is_item = |result: Result<(), Error>, expected: usize| match result {
        Err(Error::OutOfRange { index, .. }) => assert_eq!(index, expected),
        other => panic!("{other:?}"),
    };
    for wrong in [n.clone(), &n + 1u8, &n << 100] {
        let plain = batch(&[BigUint::from(1u8), wrong.clone()]);
        is_item(paillier().encrypt(public, &plain).map(|_| ()), 1);
        is_item(paillier().encrypt_as_owner(key, &plain).map(|_| ()), 1);
        is_item(paillier().full_masks_with(public, &plain).map(|_| ()), 1);
        let column = paillier().encrypt(public, &Batch::from_values([[1u64], [1]])).unwrap();
        is_item(paillier().add_plain(&column, &plain).map(|_| ()), 1);
    }
    let zero = batch(&[BigUint::from(1u8), BigUint::ZERO]);
    is_item(paillier().full_masks_with(public, &zero).map(|_| ()), 1);
    is_item(paillier().owner_full_masks_with(key, &zero, &zero).map(|_| ()), 1);
    is_item(paillier().owner_full_masks_with(key, &batch(&[p]), &batch(&[1u8.into()])).map(|_| ()), 0);
    let long = batch(&[BigUint::from(1u8) << public.short_exponent_bits()]);
    is_item(paillier().short_masks_with(public, &long).map(|_| ()), 0);
    assert!(matches!(paillier().short_masks_with(KEYS[0].public_key(), &zero), Err(Error::NoShortExponents)));
    for wrong in [BigUint::ZERO, &n * &n, &n * &n * 2u8 + 1u8] {
        is_item(Ciphertexts::new(public, &batch(&[1u8.into(), wrong])).map(|_| ()), 1);
    }
}

#[test]
fn what_is_no_ciphertext_does_not_decrypt() {
    let key = &KEYS[0];
    let [p, q] = key.primes().map(number);
    let values = [BigUint::from(1u8), p.clone(), &q * &q, BigUint::from(2u8), &p * &q];
    let column = Ciphertexts::new(key.public_key(), &batch(&values)).unwrap();
    let Err(Error::Decryption { items }) = paillier().decrypt(key, &column) else { panic!() };
    assert_eq!(items, [1, 2, 4]);
    // 1 and 2 are units, and so ciphertexts of something.
    let column = Ciphertexts::new(key.public_key(), &batch(&[1u8.into(), 2u8.into()])).unwrap();
    let found = paillier().decrypt(key, &column).unwrap();
    assert_eq!(oracle::numbers(&found), [BigUint::ZERO, slow_decrypt(key, &BigUint::from(2u8))]);
}

#[test]
fn masks_that_were_made_before_serve_once_each() {
    let (key, other) = (&KEYS[0], &KEYS[1]);
    let masks = paillier().masks(key.public_key(), 3).unwrap();
    let plain = Batch::from_values([[5u64], [6]]);
    assert!(matches!(
        paillier().encrypt_with(&plain, masks),
        Err(Error::LengthMismatch { expected: 2, found: 3, .. })
    ));
    let column = paillier().encrypt(key.public_key(), &plain).unwrap();
    let masks = paillier().masks(other.public_key(), 2).unwrap();
    assert!(matches!(paillier().randomize_with(&column, masks), Err(Error::WrongKey { .. })));
    assert!(matches!(paillier().decrypt(other, &column), Err(Error::WrongKey { .. })));
}

#[test]
fn a_watch_counts_the_powers_of_the_owner_and_no_step_before_them() {
    let watch = Arc::new(Watch::new());
    let engine = paillier().engine().watched_by(&watch);
    for key in KEYS.iter().filter(|key| key.public_key().short_base().is_some()) {
        let before = watch.done();
        Paillier::new(&engine).owner_masks(key, 20).unwrap();
        // Two powers for each item, and two products that join them.
        assert_eq!(watch.done() - before, 4 * 20);
    }
}
