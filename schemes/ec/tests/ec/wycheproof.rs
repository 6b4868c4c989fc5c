//! The vectors of Wycheproof for these curves.

use crate::engine;
use modmill_ec::{Curve, Ec, Ecdsa, Ed25519, Format, Hash, ItemError, Keys, PrivateKey, PublicKey, Rules};
use wycheproof::{EllipticCurve, HashFunction, TestResult};

fn hash(function: HashFunction) -> Hash {
    match function {
        HashFunction::Sha2_256 => Hash::Sha256,
        HashFunction::Sha2_384 => Hash::Sha384,
        HashFunction::Sha2_512 => Hash::Sha512,
        HashFunction::Sha3_256 => Hash::Sha3_256,
        HashFunction::Sha3_384 => Hash::Sha3_384,
        HashFunction::Sha3_512 => Hash::Sha3_512,
        HashFunction::Shake128 => Hash::Shake128,
        HashFunction::Shake256 => Hash::Shake256,
        other => panic!("no vectors have {other:?}"),
    }
}

fn curve(curve: EllipticCurve) -> Option<Curve> {
    match curve {
        EllipticCurve::Secp256r1 => Some(Curve::P256),
        EllipticCurve::Secp384r1 => Some(Curve::P384),
        EllipticCurve::Secp521r1 => Some(Curve::P521),
        EllipticCurve::Secp256k1 => Some(Curve::Secp256k1),
        _ => None,
    }
}

/// Compares verdicts. An acceptable vector may verify or not.
fn compare(
    name: &str,
    verdicts: &[Result<(), ItemError>],
    expected: impl Iterator<Item = (usize, TestResult)>,
) {
    for (verdict, (id, expected)) in verdicts.iter().zip(expected) {
        match expected {
            TestResult::Valid => assert_eq!(*verdict, Ok(()), "{name} {id}"),
            TestResult::Invalid => assert!(verdict.is_err(), "{name} {id}"),
            TestResult::Acceptable => {}
        }
    }
}

fn verify<'a>(
    name: &str,
    keys: Keys<'_, PublicKey>,
    scheme: Ecdsa,
    tests: impl Iterator<Item = &'a wycheproof::ecdsa::Test> + Clone,
) {
    let messages: Vec<&[u8]> = tests.clone().map(|test| &test.msg[..]).collect();
    let signatures: Vec<&[u8]> = tests.clone().map(|test| &test.sig[..]).collect();
    let verdicts = Ec::new(engine()).verify(keys, scheme, &messages, &signatures).unwrap();
    compare(name, &verdicts, tests.map(|test| (test.tc_id, test.result)));
}

#[test]
fn ecdsa_signatures() {
    check_signatures(["secp256r1", "secp256k1"], 8000);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn ecdsa_signatures_on_longer_curves() {
    check_signatures(["secp384r1", "secp521r1"], 6000);
}

/// Verifies all signatures on some curves, of which there are more than `least`.
fn check_signatures(curves: [&str; 2], least: usize) {
    use wycheproof::ecdsa::{TestName, TestSet};
    let mut count = 0;
    for name in TestName::all() {
        let text = format!("{name:?}");
        if !curves.iter().any(|curve| text.to_lowercase().contains(curve)) {
            continue;
        }
        let format = if text.contains("P1363") { Format::Raw } else { Format::Der };
        let set = TestSet::load(name).unwrap();
        // Large groups are calls with one key. All others are one call with a key for each item.
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        let scheme =
            Ecdsa { format, low_s: text.contains("Bitcoin"), ..Ecdsa::new(hash(set.test_groups[0].hash)) };
        for group in &set.test_groups {
            let key = PublicKey::read(&group.der).unwrap();
            count += group.tests.len();
            if group.tests.len() >= 16 {
                assert_eq!(key, PublicKey::read(group.pem.as_bytes()).unwrap());
                verify(&text, Keys::One(&key), scheme, group.tests.iter());
            } else {
                keys.extend(group.tests.iter().map(|_| key.clone()));
                others.extend(&group.tests);
            }
        }
        verify(&text, Keys::Each(&keys.iter().collect::<Vec<_>>()), scheme, others.into_iter());
    }
    assert!(count > least, "{count} vectors");
}

#[test]
fn ed25519_signatures() {
    use wycheproof::eddsa::{TestName, TestSet};
    let (ec, mut count) = (Ec::new(engine()), 0);
    for group in TestSet::load(TestName::Ed25519).unwrap().test_groups {
        let key = PublicKey::read(&group.der).unwrap();
        let messages: Vec<&[u8]> = group.tests.iter().map(|test| &test.msg[..]).collect();
        let signatures: Vec<&[u8]> = group.tests.iter().map(|test| &test.sig[..]).collect();
        for rules in [Rules::Common, Rules::Strict, Rules::Zip215] {
            let scheme = Ed25519 { rules, ..Ed25519::default() };
            let verdicts = ec.verify(&key, scheme, &messages, &signatures).unwrap();
            // ZIP 215 takes a point whose x is zero with its sign set.
            let is_taken = |id: usize| rules == Rules::Zip215 && id == 151;
            let expected = group.tests.iter().map(|test| match is_taken(test.tc_id) {
                true => (test.tc_id, TestResult::Valid),
                false => (test.tc_id, test.result),
            });
            compare("ed25519", &verdicts, expected);
            count += verdicts.len();
        }
    }
    assert!(count > 400, "{count} vectors");
}

#[test]
fn ecdh_secrets() {
    check_secrets([Curve::P256, Curve::Secp256k1], 1700);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn ecdh_secrets_on_longer_curves() {
    check_secrets([Curve::P384, Curve::P521], 3400);
}

/// Derives all secrets on some curves, of which there are more than `least`.
fn check_secrets(curves: [Curve; 2], least: usize) {
    use wycheproof::ecdh::{EcdhEncoding, TestName, TestSet};
    let (ec, mut count) = (Ec::new(engine()), 0);
    for name in TestName::all() {
        for group in TestSet::load(name).unwrap().test_groups {
            let Some(curve) = curve(group.curve).filter(|curve| curves.contains(curve)) else { continue };
            let key = |test: &wycheproof::ecdh::Test| {
                // Private numbers are written as integers: with a zero before them, or shorter.
                let zeros = test.private_key.iter().take_while(|&&byte| byte == 0).count();
                let digits = &test.private_key[zeros..];
                PrivateKey::from_raw(curve, &[vec![0; curve.size() - digits.len()], digits.to_vec()].concat())
                    .unwrap()
            };
            // A peer that cannot be read is one without bytes.
            let peer = |test: &wycheproof::ecdh::Test| match group.encoding {
                EcdhEncoding::EcPoint => test.public_key.to_vec(),
                EcdhEncoding::Asn1 => {
                    PublicKey::read(&test.public_key).map_or(Vec::new(), |peer| peer.as_ref().to_vec())
                }
            };
            let keys: Vec<PrivateKey> = group.tests.iter().map(key).collect();
            let peers: Vec<Vec<u8>> = group.tests.iter().map(peer).collect();
            let secrets = ec.derive(&keys.iter().collect::<Vec<_>>()[..], &peers).unwrap();
            for (test, secret) in group.tests.iter().zip(secrets) {
                match (test.result, secret) {
                    (TestResult::Valid | TestResult::Acceptable, Ok(secret)) => {
                        assert_eq!(secret[..], test.shared_secret[..], "{name:?} {}", test.tc_id);
                    }
                    (TestResult::Valid, Err(error)) => panic!("{name:?} {}: {error}", test.tc_id),
                    (TestResult::Invalid, Ok(_)) => panic!("{name:?} {}", test.tc_id),
                    (_, Err(_)) => {}
                }
                count += 1;
            }
        }
    }
    assert!(count > least, "{count} vectors");
}

#[test]
fn x25519_secrets() {
    use wycheproof::xdh::{TestName, TestSet};
    let (ec, mut count) = (Ec::new(engine()), 0);
    for group in TestSet::load(TestName::X25519).unwrap().test_groups {
        for test in group.tests {
            let key = PrivateKey::from_raw(Curve::X25519, &test.private_key).unwrap();
            match ec.derive(&key, &[&test.public_key]).unwrap().remove(0) {
                Ok(secret) => assert_eq!(secret[..], test.shared_secret[..], "{}", test.tc_id),
                // The secret zero is refused.
                Err(_) => assert!(test.shared_secret.iter().all(|&byte| byte == 0), "{}", test.tc_id),
            }
            count += 1;
        }
    }
    assert!(count > 500, "{count} vectors");
}
