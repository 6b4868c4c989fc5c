//! Faults: no wrong signature leaves.

use super::check::{Candidate, are_right};
use super::sign::sign;
use super::{Signing, encoding, number};
use crate::field::Field;
use crate::group::{Group, Nist256, Points, Secp256k1, Table, Weierstrass, multiples_vartime};
use crate::{Curve, Ecdsa, Format, Hash, ItemError, Nonce, PrivateKey, point};

fn items<'a>(keys: &'a [PrivateKey], count: usize) -> Vec<Signing<'a>> {
    let digest = |index: usize| Hash::Sha256.digest(&[&[index as u8]]);
    (0..count)
        .map(|index| Signing { index, key: &keys[index * keys.len() / count], digest: digest(index) })
        .collect()
}

const SCHEME: Ecdsa = Ecdsa { hash: Hash::Sha256, nonce: Nonce::Rfc6979, format: Format::Raw, low_s: false };

#[test]
fn a_key_with_wrong_halves_signs_nothing_and_leaves_its_neighbours() {
    let [a, b] = [(); 2].map(|()| PrivateKey::generate(Curve::P256).unwrap());
    let wrong = PrivateKey::mismatched(&a, &b);
    let table = Points::<Nist256>::generator_table();
    let keys = [a];
    let right = sign::<Nist256>(&items(&keys, 6), SCHEME, &[0; 32], table);
    for place in 0..6 {
        let mut mixed = items(&keys, 6);
        mixed[place].key = &wrong;
        for (index, answer) in sign::<Nist256>(&mixed, SCHEME, &[0; 32], table).into_iter().enumerate() {
            match index == place {
                true => assert_eq!(answer, Err(ItemError::Fault)),
                false => assert_eq!(answer, right[index]),
            }
        }
    }
}

/// Every entry of the table is wrong once, at some places: a signature that uses it does not leave.
fn faults_in_tables<C: Weierstrass>(curve: Curve) {
    let key = [PrivateKey::generate(curve).unwrap()];
    let items = items(&key, 5);
    let right = sign::<C>(&items, SCHEME, &[0; 32], Points::<C>::generator_table());
    let (mut faults, mut intact) = (0, 0);
    for place in [0, 1, 20, 51] {
        for entry in 0..16 {
            let mut table = Table::<Points<C>>::new(&Points::<C>::generator());
            table.disturb(16 * place + entry, |[x, y]| [x, y + C::Base::ONE]);
            for (answer, right) in sign::<C>(&items, SCHEME, &[0; 32], &table).iter().zip(&right) {
                match answer {
                    Err(ItemError::Fault) => faults += 1,
                    answer => {
                        assert_eq!(answer, right);
                        intact += 1;
                    }
                }
            }
        }
    }
    assert!(faults > 10 && intact > 10, "{faults} and {intact}");
}

#[test]
fn faults_in_tables_do_not_leave() {
    faults_in_tables::<Nist256>(Curve::P256);
    faults_in_tables::<Secp256k1>(Curve::Secp256k1);
}

/// A fault in the number of the digest, between the nonce and `s`, gives signatures of other digests that are
/// right in themselves.
#[test]
fn signatures_of_other_digests_do_not_leave() {
    let key = [PrivateKey::generate(Curve::P256).unwrap()];
    let (items, mut others) = (items(&key, 4), items(&key, 4));
    others[2].digest = Hash::Sha256.digest(&[b"another"]);
    let candidates: Vec<Candidate<Nist256>> = others.iter().map(candidate).collect();
    assert_eq!(are_right(&candidates, &others), [true; 4]);
    assert_eq!(are_right(&candidates, &items), [true, true, false, true]);
    assert_eq!(are_right(&candidates[2..3], &items[2..3]), [false]);
}

/// The signature of an item with its point, by the equation of verification.
fn candidate<C: Weierstrass>(item: &Signing<'_>) -> Candidate<C> {
    let table = Points::<C>::generator_table();
    let signature = sign::<C>(std::slice::from_ref(item), SCHEME, &[0; 32], table).remove(0).unwrap();
    let [r, s]: [C::Scalar; 2] = encoding::read(&signature, Format::Raw).unwrap();
    let (inverse, [x, y]) = (s.inverse(), point::known::<C>(item.key.public_key().as_ref()));
    let e = number::<C::Scalar>(item.digest.as_ref());
    let sum = table.add_multiple_vartime(
        multiples_vartime::<Points<C>, 1>([([x, y, Field::ONE], r * inverse)]),
        e * inverse,
    );
    Candidate { r, s, point: Points::<C>::entries(&[sum])[0] }
}
