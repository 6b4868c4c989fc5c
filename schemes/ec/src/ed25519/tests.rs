//! Faults: no wrong signature leaves.

use super::check::{Candidate, are_right};
use super::sign::sign;
use super::{Input, Signing};
use crate::field::{Field, N25519, P25519};
use crate::group::{Ed25519, Group, Table};
use crate::scheme::Signed;
use crate::{Curve, ItemError, PrivateKey, Variant};

const MESSAGES: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];

fn items(key: &PrivateKey) -> Vec<Signing<'_>> {
    let item =
        |item| Signing { key, input: Input::new(Variant::Pure, Signed::Messages(&MESSAGES), item).unwrap() };
    (0..4).map(item).collect()
}

#[test]
fn a_key_with_wrong_halves_signs_nothing() {
    let [a, b] = [(); 2].map(|()| PrivateKey::generate(Curve::Ed25519).unwrap());
    let wrong = PrivateKey::mismatched(&a, &b);
    assert_eq!(sign(&items(&wrong), Ed25519::generator_table()), vec![Err(ItemError::Fault); 4]);
}

#[test]
fn faults_in_tables_do_not_leave() {
    let key = PrivateKey::generate(Curve::Ed25519).unwrap();
    let right = sign(&items(&key), Ed25519::generator_table());
    let mut faults = 0;
    for index in 0..48 {
        let mut table = Table::<Ed25519>::new(&Ed25519::generator());
        table.disturb(index, |[plus, minus, dt2]| [plus, minus, dt2 + P25519::ONE]);
        for (answer, right) in sign(&items(&key), &table).iter().zip(&right) {
            match answer {
                Err(ItemError::Fault) => faults += 1,
                answer => assert_eq!(answer, right),
            }
        }
    }
    assert!(faults > 3, "{faults}");
}

/// A wrong part of one candidate at every place.
#[test]
fn wrong_candidates_are_told_from_their_neighbours() {
    let key = PrivateKey::generate(Curve::Ed25519).unwrap();
    let items = items(&key);
    let table = Ed25519::generator_table();
    let candidates = || -> Vec<Candidate> {
        let candidate = |signature: Result<Vec<u8>, ItemError>| {
            let signature = signature.unwrap();
            let (r, s) = signature.split_at(32);
            let (r, s): ([u8; 32], [u8; 32]) = (r.try_into().unwrap(), s.try_into().unwrap());
            let point = Ed25519::decode(&r).unwrap().point;
            Candidate { r, s: crate::scalar25519::read_canonical(&s).unwrap(), point }
        };
        sign(&items, table).into_iter().map(candidate).collect()
    };
    assert_eq!(are_right(&candidates(), &items), [true; 4]);
    for place in 0..4 {
        for fault in 0..3 {
            let mut wrong = candidates();
            match fault {
                0 => wrong[place].s = wrong[place].s + N25519::ONE,
                1 => wrong[place].r[3] ^= 4,
                _ => wrong[place].point = Ed25519::negate(&wrong[place].point),
            }
            let expected: Vec<bool> = (0..4).map(|item| item != place).collect();
            assert_eq!(are_right(&wrong, &items), expected);
        }
    }
}
