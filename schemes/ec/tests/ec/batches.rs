//! Batches: keys of all curves, neighbours of bad items, typed errors.

use crate::{engine, hex};
use modmill_ec::{
    Curve, Ec, Ecdsa, Ed25519, Error, Format, Hash, ItemError, KeyError, Nonce, PointError, PrivateKey,
    PublicKey, Rules, Variant,
};

/// The curves that sign, and a scheme for each.
fn schemes() -> impl Iterator<Item = (Curve, modmill_ec::SignatureScheme<'static>)> {
    Curve::all().filter(|curve| curve.signature_size().is_some()).map(|curve| match curve {
        Curve::Ed25519 => (curve, Ed25519::default().into()),
        _ => (curve, Ecdsa::new(Hash::Sha256).into()),
    })
}

#[test]
fn a_bad_item_at_any_place_leaves_its_neighbours() {
    let ec = Ec::new(engine());
    let messages: Vec<String> = (0..5).map(|number| format!("message {number}")).collect();
    for (curve, scheme) in schemes() {
        let keys = PrivateKey::generate_many(engine(), curve, 3).unwrap();
        let each: Vec<&PrivateKey> = (0..5).map(|item| &keys[item / 2]).collect();
        let publics: Vec<&PublicKey> = each.iter().map(|key| key.public_key()).collect();
        let signatures = ec.sign(&each[..], scheme, &messages).unwrap();
        let signatures: Vec<Vec<u8>> = signatures.into_iter().map(Result::unwrap).collect();
        assert!(ec.verify(&publics[..], scheme, &messages, &signatures).unwrap().iter().all(Result::is_ok));
        let one = vec![signatures[0].clone(); 8];
        let same = vec![messages[0].clone(); 8];
        for place in 0..5 {
            // Zeros, an empty signature, and one of another message.
            for bad in
                [vec![0; curve.signature_size().unwrap()], Vec::new(), signatures[(place + 1) % 5].clone()]
            {
                let (mut wrong, mut wrong_one) = (signatures.clone(), one.clone());
                (wrong[place], wrong_one[place]) = (bad.clone(), if place == 4 { Vec::new() } else { bad });
                for verdicts in [
                    ec.verify(&publics[..], scheme, &messages, &wrong).unwrap(),
                    ec.verify(publics[0], scheme, &same, &wrong_one).unwrap(),
                ] {
                    let failed: Vec<usize> =
                        (0..verdicts.len()).filter(|&item| verdicts[item].is_err()).collect();
                    assert_eq!(failed, [place], "{curve}");
                }
            }
            // A key of another kind among those that sign.
            let other = PrivateKey::generate(Curve::X25519).unwrap();
            let mut mixed = each.clone();
            mixed[place] = &other;
            let answers = ec.sign(&mixed[..], scheme, &messages).unwrap();
            for (item, answer) in answers.iter().enumerate() {
                assert_eq!(answer.is_err(), item == place);
            }
            assert!(matches!(answers[place], Err(ItemError::WrongCurve { curve: Curve::X25519, .. })));
        }
    }
}

#[test]
fn bad_peers_leave_their_neighbours() {
    let ec = Ec::new(engine());
    for curve in Curve::all().filter(|&curve| curve != Curve::Ed25519) {
        let (key, peer) = (PrivateKey::generate(curve).unwrap(), PrivateKey::generate(curve).unwrap());
        let good = peer.public_key().as_ref().to_vec();
        let expected = ec.derive(&peer, &[key.public_key()]).unwrap().remove(0);
        let mut off = good.clone();
        *off.last_mut().unwrap() ^= 1;
        let size = curve.size();
        let bad = match curve {
            Curve::X25519 => vec![
                (vec![0; 32], PointError::SmallOrder),
                (vec![9; 31], PointError::WrongLength { expected: 32, found: 31 }),
            ],
            _ => vec![
                (vec![0], PointError::Infinity),
                (off, PointError::OffCurve),
                (vec![], PointError::WrongLength { expected: 1 + 2 * size, found: 0 }),
                (good[..size].to_vec(), PointError::WrongLength { expected: 1 + 2 * size, found: size }),
                ([&[6], &good[1..]].concat(), PointError::Prefix(6)),
                ([&[4][..], &vec![0xff; 2 * size]].concat(), PointError::NonCanonical),
            ],
        };
        for (bytes, error) in bad {
            for place in 0..5 {
                let mut peers = vec![good.clone(); 5];
                peers[place] = bytes.clone();
                for (item, answer) in ec.derive(&key, &peers).unwrap().into_iter().enumerate() {
                    match item == place {
                        true => assert_eq!(answer.err(), Some(ItemError::Point(error))),
                        false => assert_eq!(answer, expected),
                    }
                }
            }
        }
    }
    let key = PrivateKey::generate(Curve::Ed25519).unwrap();
    let answers = ec.derive(&key, &[key.public_key()]).unwrap();
    assert!(matches!(answers[0], Err(ItemError::WrongCurve { .. })));
}

/// Private numbers at the edges sign and derive like all others.
#[test]
fn edge_scalars_are_keys() {
    let ec = Ec::new(engine());
    let orders = [
        (Curve::P256, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
        (
            Curve::P384,
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
        ),
        (
            Curve::P521,
            "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
        ),
        (Curve::Secp256k1, "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"),
    ];
    for (curve, order) in orders {
        let order = hex(order);
        let shifted = |less: u8| {
            let mut bytes = order.clone();
            *bytes.last_mut().unwrap() -= less;
            bytes
        };
        let small = |number: u8| [vec![0; curve.size() - 1], vec![number]].concat();
        for refused in [small(0), order.clone(), vec![0xff; curve.size()]] {
            assert_eq!(PrivateKey::from_raw(curve, &refused).unwrap_err(), KeyError::ScalarRange);
        }
        let g = PrivateKey::from_raw(curve, &small(1)).unwrap();
        let other = PrivateKey::generate(curve).unwrap();
        for number in [small(1), small(2), small(16), small(31), shifted(1), shifted(2), shifted(7)] {
            let key = PrivateKey::from_raw(curve, &number).unwrap();
            // d G by the table and by a chain of doublings and additions have one x.
            let secret = ec.derive(&key, &[g.public_key()]).unwrap().remove(0).unwrap();
            assert_eq!(secret[..], key.public_key().as_ref()[1..=curve.size()]);
            assert_eq!(
                ec.derive(&key, &[other.public_key()]).unwrap(),
                ec.derive(&other, &[key.public_key()]).unwrap()
            );
            let scheme = Ecdsa { low_s: true, format: Format::Raw, ..Ecdsa::new(Hash::Sha512) };
            let signatures: Vec<Vec<u8>> =
                ec.sign(&key, scheme, &["a", "b", "c"]).unwrap().into_iter().map(Result::unwrap).collect();
            assert_eq!(
                ec.verify(key.public_key(), scheme, &["a", "b", "c"], &signatures).unwrap(),
                [Ok(()); 3]
            );
        }
    }
}

#[test]
fn signatures_have_the_form_that_was_asked_for() {
    let ec = Ec::new(engine());
    let key = PrivateKey::generate(Curve::P256).unwrap();
    let raw = Ecdsa { format: Format::Raw, ..Ecdsa::new(Hash::Sha256) };
    let low = Ecdsa { low_s: true, ..raw };
    let messages: Vec<String> = (0..32).map(|number| number.to_string()).collect();
    let signatures: Vec<Vec<u8>> =
        ec.sign(&key, raw, &messages).unwrap().into_iter().map(Result::unwrap).collect();
    assert!(ec.verify(key.public_key(), raw, &messages, &signatures).unwrap().iter().all(Result::is_ok));
    // About half of them have a high s. All of them low: with probability 2^-32 this fails.
    let verdicts = ec.verify(key.public_key(), low, &messages, &signatures).unwrap();
    assert!(verdicts.contains(&Err(ItemError::HighS)) && verdicts.contains(&Ok(())));
    let signatures: Vec<Vec<u8>> =
        ec.sign(&key, low, &messages).unwrap().into_iter().map(Result::unwrap).collect();
    assert!(ec.verify(key.public_key(), low, &messages, &signatures).unwrap().iter().all(Result::is_ok));
    // Hedged nonces differ, those of RFC 6979 do not.
    let twice = |scheme| {
        let answers = ec.sign(&key, scheme, &["same", "same"]).unwrap();
        answers[0] == answers[1]
    };
    assert!(!twice(raw) && twice(Ecdsa { nonce: Nonce::Rfc6979, ..raw }));

    let der = ec.sign(&key, Ecdsa::new(Hash::Sha256), &["m"]).unwrap().remove(0).unwrap();
    let verify = |signature: &[u8], scheme| {
        ec.verify(key.public_key(), scheme, &["m"], &[signature]).unwrap().remove(0)
    };
    let der_scheme = Ecdsa::new(Hash::Sha256);
    assert_eq!(verify(&der, der_scheme), Ok(()));
    // The length in two bytes, a byte after the end, an indefinite length: BER, not DER.
    let long_form = [&der[..1], &[0x81], &der[1..]].concat();
    for ber in [long_form, [&der[..], &[0]].concat(), [&[0x30, 0x80], &der[2..], &[0, 0]].concat()] {
        assert_eq!(verify(&ber, der_scheme), Err(ItemError::NotDer));
    }
    let zeros = hex("3006020100020101");
    assert_eq!(verify(&zeros, der_scheme), Err(ItemError::OutOfRange("r")));
    assert_eq!(verify(&[0; 64], raw), Err(ItemError::OutOfRange("r")));
    assert_eq!(verify(&[[1; 32], [0xff; 32]].concat(), raw), Err(ItemError::OutOfRange("s")));
    assert_eq!(verify(&[1; 63], raw), Err(ItemError::SignatureLength { expected: 64, found: 63 }));
}

/// The points of small order, and forms of them that are not canonical, under the three rules.
#[test]
fn rules_differ_on_points_of_small_order() {
    let ec = Ec::new(engine());
    let (mut identity, s) = ([0; 32], [0; 32]);
    identity[0] = 1;
    let key = PublicKey::from_raw(Curve::Ed25519, &identity).unwrap();
    // A = R = 0 and s = 0 verify for every message.
    let signature = [identity, s].concat();
    let verify = |key: &PublicKey, signature: &[u8], rules| {
        let scheme = Ed25519 { rules, ..Ed25519::default() };
        ec.verify(key, scheme, &["anything"], &[signature]).unwrap().remove(0)
    };
    assert_eq!(verify(&key, &signature, Rules::Common), Ok(()));
    assert_eq!(verify(&key, &signature, Rules::Strict), Err(PointError::SmallOrder.into()));
    assert_eq!(verify(&key, &signature, Rules::Zip215), Ok(()));
    // The point of order 2 as R: only a cofactor makes it right.
    let minus_one = hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
    let signature = [&minus_one[..], &s].concat();
    assert_eq!(verify(&key, &signature, Rules::Common), Err(ItemError::Verification));
    assert_eq!(verify(&key, &signature, Rules::Zip215), Ok(()));
    // The identity with y = p + 1: taken by all but the strict rules as a key, and as R by ZIP 215 alone.
    let other = hex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
    let key = PublicKey::from_raw(Curve::Ed25519, &other).unwrap();
    let signature = [identity, s].concat();
    assert_eq!(verify(&key, &signature, Rules::Common), Ok(()));
    assert_eq!(verify(&key, &signature, Rules::Strict), Err(PointError::NonCanonical.into()));
    let signature = [&other[..], &s].concat();
    assert_eq!(verify(&key, &signature, Rules::Common), Err(ItemError::Verification));
    assert_eq!(verify(&key, &signature, Rules::Zip215), Ok(()));
    // s = L is not below the order.
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let signature = [&identity[..], &order].concat();
    for rules in [Rules::Common, Rules::Strict, Rules::Zip215] {
        assert_eq!(verify(&key, &signature, rules), Err(ItemError::OutOfRange("s")));
    }
}

#[test]
fn calls_that_cannot_be_are_refused() {
    let ec = Ec::new(engine());
    let key = PrivateKey::generate(Curve::P256).unwrap();
    let refused = ec.sign(&key, Ecdsa::new(Hash::Sha1), &["m"]).unwrap_err();
    assert!(matches!(refused, Error::UnsupportedHash { scheme: "ECDSA", .. }));
    let shake = Ecdsa { nonce: Nonce::Rfc6979, ..Ecdsa::new(Hash::Shake128) };
    assert!(matches!(ec.sign(&key, shake, &["m"]), Err(Error::UnsupportedHash { scheme: "RFC 6979", .. })));
    // Verification does not look at the nonce.
    let signature = ec.sign(&key, Ecdsa::new(Hash::Shake128), &["m"]).unwrap().remove(0).unwrap();
    assert_eq!(ec.verify(key.public_key(), shake, &["m"], &[signature]).unwrap(), [Ok(())]);
    let keys = [&key, &key];
    let refused = ec.sign(&keys[..], Ecdsa::new(Hash::Sha256), &["m"]).unwrap_err();
    assert_eq!(refused, Error::LengthMismatch { what: "keys", expected: 1, found: 2 });
    assert!(ec.derive(&keys[..], &[key.public_key()]).is_err());
    let none: [&[u8]; 0] = [];
    assert!(ec.verify(key.public_key(), Ecdsa::new(Hash::Sha256), &["m"], &none).is_err());
    assert!(ec.sign(&key, Ecdsa::new(Hash::Sha256), &none).unwrap().is_empty());
    let digests = ec.sign_digests(&key, Ecdsa::new(Hash::Sha256), &[[0; 31]]).unwrap();
    assert_eq!(digests, [Err(ItemError::WrongLength { expected: 32, found: 31 })]);

    let key = PrivateKey::generate(Curve::Ed25519).unwrap();
    assert_eq!(ec.sign_digests(&key, Ed25519::default(), &[[0; 64]]).unwrap_err(), Error::NotPrehashed);
    let long = Ed25519 { variant: Variant::Context(&[0; 256]), ..Ed25519::default() };
    assert_eq!(ec.sign(&key, long, &["m"]).unwrap_err(), Error::ContextTooLong(256));
    let prehashed = Ed25519 { variant: Variant::Prehashed(b""), ..Ed25519::default() };
    let digest = Hash::Sha512.digest(&[b"m"]);
    assert_eq!(
        ec.sign_digests(&key, prehashed, &[digest]).unwrap(),
        ec.sign(&key, prehashed, &["m"]).unwrap()
    );
}
