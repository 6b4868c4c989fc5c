//! Faults: no wrong signature leaves.

use super::check::{Candidate, are_right};
use super::sign::sign;
use super::{Input, Signing};
use crate::field::{Field, N25519, P25519};
use crate::group::{Ed25519, Group, Table, multiples_vartime};
use crate::scalar25519::{EIGHTH, Expanded, read_canonical};
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

/// The signatures of items as candidates.
fn candidates(items: &[Signing<'_>]) -> Vec<Candidate> {
    let candidate = |signature: Result<Vec<u8>, ItemError>| {
        let signature = signature.unwrap();
        let (r, s) = signature.split_at(32);
        let (r, s): ([u8; 32], [u8; 32]) = (r.try_into().unwrap(), s.try_into().unwrap());
        let point = Ed25519::decode(&r).unwrap().point;
        let eighth = Ed25519::affine(&[multiples_vartime::<Ed25519, 1>([(point, EIGHTH)])])[0];
        Candidate { r, s: read_canonical(&s).unwrap(), point, eighth }
    };
    sign(items, Ed25519::generator_table()).into_iter().map(candidate).collect()
}

/// A wrong part of one candidate at every place.
#[test]
fn wrong_candidates_are_told_from_their_neighbours() {
    let key = PrivateKey::generate(Curve::Ed25519).unwrap();
    let items = items(&key);
    assert_eq!(are_right(&candidates(&items), &items), [true; 4]);
    for place in 0..4 {
        for fault in 0..4 {
            let mut wrong = candidates(&items);
            match fault {
                0 => wrong[place].s = wrong[place].s + N25519::ONE,
                1 => wrong[place].r[3] ^= 4,
                2 => wrong[place].eighth = Ed25519::generator(),
                _ => wrong[place].point = Ed25519::negate(&wrong[place].point),
            }
            let expected: Vec<bool> = (0..4).map(|item| item != place).collect();
            assert_eq!(are_right(&wrong, &items), expected);
        }
    }
}

/// `R` is off by a point of small order, of which `(-x, -y)` is one case, and `r`, `k` and `s` follow from
/// it: a second factor for the nonce. Each of these signatures fulfils eight times the equation.
#[test]
fn points_of_small_order_are_found() {
    let key = PrivateKey::generate(Curve::Ed25519).unwrap();
    let (items, expanded) = (items(&key), Expanded::new(key.secret()));
    // A point of order 8.
    let bytes = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
    let bytes = std::array::from_fn(|i| u8::from_str_radix(&bytes[2 * i..2 * i + 2], 16).unwrap());
    let step = Ed25519::cache(&Ed25519::decode(&bytes).unwrap().point);
    for place in 0..4 {
        let mut wrong = candidates(&items);
        let item = &items[place];
        let nonce = item.input.scalar([&expanded.prefix, &[]]);
        for multiple in 1..8 {
            let point = Ed25519::affine(&[Ed25519::add(&wrong[place].point, &step)])[0];
            let r = Ed25519::encode(&point, P25519::ONE);
            let factor = item.input.scalar([&r, key.public_key().as_ref()]);
            let candidate = &mut wrong[place];
            (candidate.r, candidate.s, candidate.point) = (r, nonce + factor * expanded.scalar, point);
            let expected: Vec<bool> = (0..4).map(|item| item != place).collect();
            assert_eq!(are_right(&wrong, &items), expected, "{multiple}");
            assert_eq!(are_right(&wrong[place..=place], &items[place..=place]), [false]);
        }
        let point = Ed25519::affine(&[Ed25519::add(&wrong[place].point, &step)])[0];
        assert!(Ed25519::equal(&point, &candidates(&items)[place].point), "the step has order 8");
    }
}
