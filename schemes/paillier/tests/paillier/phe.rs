//! Keys, encodings and ciphertexts of python-paillier (`tests/vectors/python_paillier.py`).

use super::*;
use modmill_paillier::{Ciphertexts, EncodedColumn, EncryptedColumn, Exponents, Integers};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../vectors/phe.json")).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn hex(value: &Value, name: &str) -> BigUint {
    BigUint::parse_bytes(text(value, name).as_bytes(), 16).unwrap()
}

fn exponents(numbers: &[Value]) -> Vec<i32> {
    numbers.iter().map(|number| number["exponent"].as_i64().unwrap() as i32).collect()
}

fn column(key: &PublicKey, numbers: &[Value]) -> EncryptedColumn {
    let values: Vec<BigUint> = numbers.iter().map(|number| hex(number, "ciphertext")).collect();
    let ciphertexts = Ciphertexts::new(key, &batch(&values)).unwrap();
    EncryptedColumn::new(ciphertexts, Exponents::Each(exponents(numbers)), key.signed_bits()).unwrap()
}

/// A number that Python wrote as text, which a reader of JSON need not round right.
fn value(number: &Value) -> f64 {
    text(number, "value").parse().unwrap()
}

fn floats(numbers: &[Value]) -> Vec<f64> {
    numbers.iter().map(value).collect()
}

#[test]
fn their_keys_are_read_and_ours_are_theirs() {
    let vectors = vectors();
    let key = PrivateKey::from_json(&vectors["private"].to_string()).unwrap();
    key.check(&ENGINE).unwrap();
    assert_eq!(PublicKey::from_json(&vectors["public"].to_string()).unwrap(), *key.public_key());
    // The documents have the same members with the same contents, in whatever order.
    let ours: Value = serde_json::from_str(&key.to_json(text(&vectors["private"], "kid")).unwrap()).unwrap();
    assert_eq!(ours, vectors["private"]);
}

#[test]
fn their_numbers_decrypt_and_ours_are_encoded_alike() {
    let vectors = vectors();
    let key = PrivateKey::from_json(&vectors["private"].to_string()).unwrap();
    let numbers = vectors["numbers"].as_array().unwrap();
    for numbers in [numbers, vectors["results"].as_array().unwrap()] {
        let decrypted = column(key.public_key(), numbers).decrypt(&paillier(), &key).unwrap();
        assert_eq!(decrypted.to_f64().unwrap(), floats(numbers));
    }
    for number in numbers {
        let value = value(number);
        let ours = match number["is_integer"].as_bool().unwrap() {
            // All integers of the vectors are exact as floating-point numbers.
            true => EncodedColumn::from_integers(key.public_key(), &Integers::from_i128(&[value as i128])),
            false => EncodedColumn::from_f64_each(key.public_key(), &[value]),
        };
        let ours = ours.unwrap();
        let theirs = (hex(number, "encoding"), number["exponent"].as_i64().unwrap());
        assert_eq!(
            (self::number(ours.residues().get(0)), i64::from(ours.exponents().get(0))),
            theirs,
            "{value}"
        );
    }
}

#[test]
fn their_numbers_and_ours_are_added() {
    let vectors = vectors();
    let key = PrivateKey::from_json(&vectors["private"].to_string()).unwrap();
    let numbers = &vectors["numbers"].as_array().unwrap()[..7];
    let theirs = EncryptedColumn::new(
        column(key.public_key(), numbers).ciphertexts().clone(),
        Exponents::Each(exponents(numbers)),
        64,
    );
    let ours =
        EncodedColumn::from_f64(key.public_key(), &[0.25; 7], None).unwrap().encrypt(&paillier()).unwrap();
    let sums = theirs.unwrap().add(&paillier(), &ours).unwrap().decrypt(&paillier(), &key).unwrap();
    let expected: Vec<f64> = floats(numbers).iter().map(|value| value + 0.25).collect();
    assert_eq!(sums.to_f64().unwrap(), expected);
}
