//! Encoded and encrypted columns of fixed-point numbers.

use super::*;
use modmill_paillier::{Ciphertexts, EncodedColumn, EncryptedColumn, Error, Exponents, Integers};

fn column(key: &PublicKey, values: &[f64]) -> EncryptedColumn {
    EncodedColumn::from_f64(key, values, None).unwrap().encrypt(&paillier()).unwrap()
}

fn floats(key: &PrivateKey, column: &EncryptedColumn) -> Vec<f64> {
    column.decrypt(&paillier(), key).unwrap().to_f64().unwrap()
}

const VALUES: [f64; 8] = [0.0, 1.0, -1.0, 0.1, -2.5e-7, 123_456.789, -1e12, 3.0];

#[test]
fn encodings_are_those_of_python_paillier() {
    let key = KEYS[0].public_key();
    let n = n(key);
    // (value, exponent, integer), as phe.EncodedNumber.encode gives them.
    let known: [(f64, i32, i128); 6] = [
        (0.0, -14, 0),
        (1.0, -13, 1 << 52),
        (-1.0, -13, -(1 << 52)),
        (0.1, -14, 7_205_759_403_792_794),
        (-123.456, -12, -34_749_774_724_790_748),
        (1e6, -9, 68_719_476_736_000_000),
    ];
    let values: Vec<f64> = known.iter().map(|known| known.0).collect();
    let column = EncodedColumn::from_f64_each(key, &values).unwrap();
    for (index, (value, exponent, integer)) in known.into_iter().enumerate() {
        assert_eq!(column.exponents().get(index), exponent, "{value}");
        let magnitude = BigUint::from(integer.unsigned_abs());
        let residue = if integer < 0 { &n - magnitude } else { magnitude };
        assert_eq!(number(column.residues().get(index)), residue, "{value}");
    }
    assert_eq!(column.to_f64().unwrap(), values);
}

#[test]
fn numbers_come_back() {
    for key in KEYS.iter() {
        assert_eq!(floats(key, &column(key.public_key(), &VALUES)), VALUES);
        let each = EncodedColumn::from_f64_each(key.public_key(), &VALUES).unwrap();
        assert_eq!(floats(key, &each.encrypt(&paillier()).unwrap()), VALUES);
        assert_eq!(floats(key, &each.encrypt_as_owner(&paillier(), key).unwrap()), VALUES);
        // Rounded to multiples of 1/16, to the even one of two.
        let coarse =
            EncodedColumn::from_f64(key.public_key(), &[0.1, -0.1, 1.0 / 32.0, 3.0 / 32.0], Some(-1))
                .unwrap();
        assert_eq!(coarse.to_f64().unwrap(), [0.125, -0.125, 0.0, 0.125]);
        assert!(column(key.public_key(), &[]).is_empty());
    }
}

#[test]
fn arithmetic_with_different_exponents() {
    let key = &KEYS[1];
    let public = key.public_key();
    let (a, b) = ([0.5, -1.25, 1e6, 7.0], [1e-3, 1024.0, -1e6, 0.0]);
    let sums: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let each = |values: &[f64]| EncodedColumn::from_f64_each(public, values).unwrap();
    for x in [column(public, &a), each(&a).encrypt(&paillier()).unwrap()] {
        for y in [column(public, &b), each(&b).encrypt(&paillier()).unwrap()] {
            assert_eq!(floats(key, &x.add(&paillier(), &y).unwrap()), sums);
            assert_eq!(floats(key, &x.sub(&paillier(), &y).unwrap()), differences);
        }
        assert_eq!(floats(key, &x.add_encoded(&paillier(), &each(&b)).unwrap()), sums);
        assert_eq!(floats(key, &x.neg(&paillier()).unwrap()), a.map(|a| -a));
        assert_eq!(floats(key, &x.randomize(&paillier()).unwrap()), a);
        let sum = x.sum(&paillier()).unwrap();
        assert_eq!(floats(key, &sum), [1_000_006.25]);
    }
}

#[test]
fn products_and_dot_products() {
    let key = &KEYS[2];
    let public = key.public_key();
    let (a, b) = ([0.5, -1.25, 3.0, 7.0], [2.0, -4.0, 0.125, -1.0]);
    let x = column(public, &a);
    for weights in [
        EncodedColumn::from_f64(public, &b, None).unwrap(),
        EncodedColumn::from_f64_each(public, &b).unwrap(),
    ] {
        let products: Vec<f64> = a.iter().zip(b).map(|(a, b)| a * b).collect();
        assert_eq!(floats(key, &x.mul(&paillier(), &weights).unwrap()), products);
        assert_eq!(floats(key, &x.mul_vartime(&paillier(), &weights).unwrap()), products);
        assert_eq!(floats(key, &x.dot(&paillier(), &weights).unwrap()), [-0.625]);
    }
    let half = EncodedColumn::from_f64_each(public, &[-0.5]).unwrap();
    assert_eq!(floats(key, &x.mul(&paillier(), &half).unwrap()), a.map(|a| a * -0.5));
    let integers = EncodedColumn::from_integers(public, &Integers::from_i64(&[3, -2, 0, 1])).unwrap();
    assert_eq!(floats(key, &x.mul(&paillier(), &integers).unwrap()), [1.5, 2.5, 0.0, 7.0]);
}

#[test]
fn overflow_is_refused_before_it_happens() {
    let key = &KEYS[0];
    let public = key.public_key();
    let limit = public.signed_bits();
    let with_bits = |bits: usize| {
        let one = Ciphertexts::new(public, &Batch::from_values([[1u64]])).unwrap();
        EncryptedColumn::new(one, Exponents::Shared(0), bits).unwrap()
    };
    let is_refused = |result: Result<EncryptedColumn, Error>| matches!(result, Err(Error::Overflow { .. }));
    let (full, most) = (with_bits(limit), with_bits(limit - 1));
    assert!(most.add(&paillier(), &most).is_ok() && is_refused(full.add(&paillier(), &with_bits(1))));
    let factor = EncodedColumn::from_integers(public, &Integers::from_i64(&[3])).unwrap();
    assert!(with_bits(limit - 64).mul(&paillier(), &factor).is_ok());
    assert!(is_refused(with_bits(limit - 63).mul(&paillier(), &factor)));
    assert!(is_refused(with_bits(limit - 63).dot(&paillier(), &factor)));
    // Bringing a number to a lesser exponent needs room as well.
    let fine = EncryptedColumn::new(with_bits(1).ciphertexts().clone(), Exponents::Shared(-10), 1).unwrap();
    assert!(with_bits(limit - 41).add(&paillier(), &fine).is_ok());
    assert!(is_refused(with_bits(limit - 40).add(&paillier(), &fine)));
    // A sum of 5 numbers needs 3 bits.
    let five = Ciphertexts::new(public, &Batch::from_values([[1u64]; 5])).unwrap();
    let five = |bits| EncryptedColumn::new(five.clone(), Exponents::Shared(0), bits).unwrap();
    assert!(five(limit - 3).sum(&paillier()).is_ok() && is_refused(five(limit - 2).sum(&paillier())));
}

#[test]
fn the_greatest_numbers_are_encoded_and_greater_ones_refused() {
    let key = &KEYS[2];
    let public = key.public_key();
    let greatest = n(public) / 3u8 - 1u8;
    let integers =
        |value: &BigUint| Integers::new(batch(&[value.clone(), value.clone()]), vec![false, true]).unwrap();
    let encoded = EncodedColumn::from_integers(public, &integers(&greatest)).unwrap();
    let back = encoded.encrypt(&paillier()).unwrap().decrypt(&paillier(), key).unwrap().integers().unwrap();
    assert_eq!(oracle::numbers(back.magnitudes()), [greatest.clone(), greatest.clone()]);
    assert_eq!(back.signs(), [false, true]);
    for above in [&greatest + 1u8, n(public), n(public) << 70] {
        assert!(matches!(
            EncodedColumn::from_integers(public, &integers(&above)),
            Err(Error::TooLarge { index: 0, .. })
        ));
    }
    // A number between the positive and the negative numbers is no encoding.
    let parts = |value: BigUint| {
        EncodedColumn::from_parts(public, &batch(&[value]), Exponents::Shared(0), public.bits())
    };
    assert!(matches!(parts(&greatest + 1u8), Err(Error::NotEncoded { index: 0 })));
    assert!(matches!(parts(n(public)), Err(Error::OutOfRange { index: 0, .. })));
    assert!(parts(n(public) - &greatest).is_ok() && parts(BigUint::ZERO).is_ok());
    let wrong = paillier().encrypt(public, &batch(&[&greatest + 1u8])).unwrap();
    let wrong = EncryptedColumn::new(wrong, Exponents::Shared(0), 64).unwrap();
    let decrypted = wrong.decrypt(&paillier(), key).unwrap();
    assert!(matches!(decrypted.to_f64(), Err(Error::NotEncoded { index: 0 })));
    assert!(matches!(decrypted.to_i128(0), Err(Error::NotEncoded { index: 0 })));
}

#[test]
fn floats_that_cannot_be_encoded_are_named() {
    let public = KEYS[0].public_key();
    for (values, expected) in [(&[1.0, f64::NAN][..], 1), (&[f64::INFINITY], 0)] {
        let error = EncodedColumn::from_f64(public, values, None).unwrap_err();
        assert!(matches!(error, Error::NotFinite { index } if index == expected));
        assert!(EncodedColumn::from_f64_each(public, values).is_err());
    }
    // The exponent that keeps all bits of the least number makes the greatest too long for a key of 1024
    // bits.
    let error = EncodedColumn::from_f64(public, &[1e-300, 1e300], None).unwrap_err();
    assert!(matches!(error, Error::TooLarge { index: 1, .. }), "{error}");
    let counts =
        EncodedColumn::from_parts(public, &Batch::from_values([[1u64]]), Exponents::Each(vec![1, 2]), 64);
    assert!(matches!(counts, Err(Error::LengthMismatch { expected: 1, found: 2, .. })));
}

#[test]
fn integers_come_back_as_integers() {
    let public = KEYS[1].public_key();
    let values = EncodedColumn::from_f64(public, &[3.0, -17.0, 0.5, 0.0], None).unwrap();
    let found: Vec<_> = (0..4).map(|index| values.to_i128(index).unwrap()).collect();
    assert_eq!(found, [Some(3), Some(-17), None, Some(0)]);
    let large = EncodedColumn::from_f64(public, &[1e40, 0.0], Some(20)).unwrap();
    assert_eq!((large.to_i128(0).unwrap(), large.to_i128(1).unwrap()), (None, Some(0)));
}

#[test]
fn parts_joined_columns_and_sums_by_group() {
    let (key, public) = (&KEYS[1], KEYS[1].public_key());
    let decrypt = |column: &EncryptedColumn| column.decrypt(&paillier(), key).unwrap().to_f64().unwrap();
    let whole: Vec<i64> = (0..37).map(|item| item * item - 100).collect();
    let whole_column = EncodedColumn::from_integers(public, &Integers::from_i64(&whole)).unwrap();
    let integers = whole_column.encrypt(&paillier()).unwrap();
    let floats = [0.5, -1e10, 3.0];
    let each = EncodedColumn::from_f64_each(public, &floats).unwrap().encrypt(&paillier()).unwrap();
    let picked = each.gathered(&[2, 0, 0]).unwrap();
    assert_eq!(decrypt(&picked), [3.0, 0.5, 0.5]);
    assert!(matches!(each.gathered(&[3]), Err(Error::OutOfRange { .. })));
    let joined = EncryptedColumn::joined(public, &[&integers, &picked]).unwrap();
    assert_eq!((joined.exponents().get(0), joined.len()), (0, 40));
    let mut expected: Vec<f64> = whole.iter().map(|&number| number as f64).collect();
    expected.extend([3.0, 0.5, 0.5]);
    assert_eq!(decrypt(&joined), expected);
    // Groups of one item, of many and of none.
    let groups: Vec<usize> = (0..40).map(|item| [0, 3, 1, 3, 3, 3, 4][item % 7]).collect();
    let mut sums = [0.0; 6];
    groups.iter().zip(&expected).for_each(|(&group, number)| sums[group] += number);
    let found = joined.sums(&paillier(), &groups, 6).unwrap();
    assert_eq!(decrypt(&found), sums);
    assert!(matches!(joined.sums(&paillier(), &groups[1..], 6), Err(Error::LengthMismatch { .. })));
    assert!(matches!(joined.sums(&paillier(), &groups, 4), Err(Error::OutOfRange { index: 6, .. })));
    let none = EncryptedColumn::joined(public, &[]).unwrap();
    assert_eq!(decrypt(&none.sums(&paillier(), &[], 2).unwrap()), [0.0, 0.0]);
    // Differences with numbers in the clear, zero among them.
    let zeros = integers.sub_encoded(&paillier(), &whole_column).unwrap();
    assert_eq!(decrypt(&zeros), vec![0.0; 37]);
    assert_eq!(decrypt(&integers.sub_encoded(&paillier(), &whole_column.neg().unwrap()).unwrap())[0], -200.0);
}
