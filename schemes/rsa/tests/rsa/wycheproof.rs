//! Every RSA vector of Wycheproof: signatures (v1.5 and PSS) and decryption (OAEP and v1.5).

use modmill::Engine;
use modmill_rsa::{
    AnyKey, EncryptionScheme, Hash, Oaep, PrivateKey, Pss, PublicKey, Rsa, SaltLength, SignatureScheme, Sizes,
};
use wycheproof::{HashFunction, TestResult};

fn hash(function: HashFunction) -> Hash {
    match function {
        HashFunction::Sha1 => Hash::Sha1,
        HashFunction::Sha2_224 => Hash::Sha224,
        HashFunction::Sha2_256 => Hash::Sha256,
        HashFunction::Sha2_384 => Hash::Sha384,
        HashFunction::Sha2_512 => Hash::Sha512,
        HashFunction::Sha2_512_224 => Hash::Sha512_224,
        HashFunction::Sha2_512_256 => Hash::Sha512_256,
        HashFunction::Sha3_224 => Hash::Sha3_224,
        HashFunction::Sha3_256 => Hash::Sha3_256,
        HashFunction::Sha3_384 => Hash::Sha3_384,
        HashFunction::Sha3_512 => Hash::Sha3_512,
        HashFunction::Shake128 => Hash::Shake128,
        HashFunction::Shake256 => Hash::Shake256,
    }
}

/// Verifies the vectors of a group as one batch. A vector that is called acceptable may verify or not.
fn verify(
    rsa: &Rsa<'_>,
    key: &PublicKey,
    scheme: SignatureScheme,
    tests: Vec<(usize, &[u8], &[u8], TestResult)>,
) -> usize {
    let messages: Vec<&[u8]> = tests.iter().map(|test| test.1).collect();
    let signatures: Vec<&[u8]> = tests.iter().map(|test| test.2).collect();
    let verdicts = rsa.verify(key, scheme, &messages, &signatures).unwrap();
    for ((id, _, _, expected), verdict) in tests.iter().zip(&verdicts) {
        match expected {
            TestResult::Valid => assert!(verdict.is_ok(), "test {id} of {scheme:?} does not verify"),
            TestResult::Invalid => assert!(verdict.is_err(), "test {id} of {scheme:?} verifies"),
            TestResult::Acceptable => {}
        }
    }
    tests.len()
}

#[test]
fn pkcs1v15_signatures() {
    use wycheproof::rsa_pkcs1_verify::{TestName, TestSet};
    let engine = Engine::new().unwrap();
    let mut count = 0;
    for name in TestName::all() {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = PublicKey::new(&group.key.n, &group.key.e, Sizes::AllowSmall).unwrap();
            // The key is the same in every format.
            assert_eq!(key, PublicKey::read(&group.der, Sizes::AllowSmall).unwrap());
            assert_eq!(key, PublicKey::read(group.pem.as_bytes(), Sizes::AllowSmall).unwrap());
            assert_eq!(key, PublicKey::read(&group.asn_key, Sizes::AllowSmall).unwrap());
            assert_eq!(key.bits(), group.key_size);
            let scheme = SignatureScheme::Pkcs1v15(hash(group.hash));
            let tests =
                group.tests.iter().map(|test| (test.tc_id, &test.msg[..], &test.sig[..], test.result));
            count += verify(&Rsa::new(&engine), &key, scheme, tests.collect());
        }
    }
    assert!(count > 5000, "{count} vectors");
}

#[test]
fn pss_signatures() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let engine = Engine::new().unwrap();
    let mut count = 0;
    for name in TestName::all() {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = PublicKey::new(&group.key.n, &group.key.e, Sizes::AllowSmall).unwrap();
            let hash_function = hash(group.hash);
            let pss = Pss {
                hash: hash_function,
                mask_hash: group.mgf_hash.map_or(hash_function, hash),
                salt: SaltLength::Bytes(group.salt_size),
            };
            let tests =
                group.tests.iter().map(|test| (test.tc_id, &test.msg[..], &test.sig[..], test.result));
            count += verify(&Rsa::new(&engine), &key, SignatureScheme::Pss(pss), tests.collect());
        }
    }
    assert!(count > 1500, "{count} vectors");
}

fn private_key(pkcs8: &[u8], pem: &str) -> PrivateKey {
    let key = PrivateKey::read(pkcs8, None, Sizes::AllowSmall).unwrap();
    let same = PrivateKey::read(pem.as_bytes(), None, Sizes::AllowSmall).unwrap();
    assert_eq!(key.to_der().unwrap(), same.to_der().unwrap());
    assert!(matches!(AnyKey::read(pkcs8, None, Sizes::AllowSmall), Ok(AnyKey::Private(_))));
    key
}

#[test]
fn oaep_decryption() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let engine = Engine::new().unwrap();
    let rsa = Rsa::new(&engine);
    let mut count = 0;
    for name in TestName::all() {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = private_key(&group.pkcs8, &group.pem);
            // Tests with the same label are decrypted together.
            let mut labels: Vec<&[u8]> = group.tests.iter().map(|test| &test.label[..]).collect();
            labels.sort_unstable();
            labels.dedup();
            for label in labels {
                let tests: Vec<_> = group.tests.iter().filter(|test| &test.label[..] == label).collect();
                let ciphertexts: Vec<&[u8]> = tests.iter().map(|test| &test.ct[..]).collect();
                let oaep = Oaep { hash: hash(group.hash), mask_hash: hash(group.mgf_hash), label };
                let answers = rsa.decrypt(&key, EncryptionScheme::Oaep(oaep), &ciphertexts).unwrap();
                for (test, answer) in tests.iter().zip(&answers) {
                    let id = test.tc_id;
                    match (test.result, answer) {
                        (TestResult::Valid, answer) => {
                            assert_eq!(answer.as_ref().unwrap()[..], test.pt[..], "test {id} of {name:?}");
                        }
                        (TestResult::Invalid, Ok(_)) => panic!("test {id} of {name:?} decrypts"),
                        (TestResult::Acceptable, Ok(message)) => assert_eq!(message[..], test.pt[..]),
                        (_, Err(_)) => {}
                    }
                }
                count += tests.len();
            }
        }
    }
    assert!(count > 700, "{count} vectors");
}

#[test]
fn pkcs1v15_decryption() {
    use wycheproof::rsa_pkcs1_decrypt::{TestName, TestSet};
    let engine = Engine::new().unwrap();
    let rsa = Rsa::new(&engine);
    let mut count = 0;
    for name in TestName::all() {
        for group in TestSet::load(name).unwrap().test_groups {
            let key = private_key(&group.pkcs8, &group.pem);
            let ciphertexts: Vec<&[u8]> = group.tests.iter().map(|test| &test.ct[..]).collect();
            let answers = rsa.decrypt(&key, EncryptionScheme::Pkcs1v15, &ciphertexts).unwrap();
            for (test, answer) in group.tests.iter().zip(&answers) {
                let id = test.tc_id;
                match test.result {
                    TestResult::Valid => {
                        assert_eq!(answer.as_ref().unwrap()[..], test.pt[..], "test {id} of {name:?}");
                    }
                    // A wrong length is an error. A wrong padding gives another message.
                    _ if test.ct.len() != key.public_key().size() => assert!(answer.is_err()),
                    _ => {
                        let message = answer.as_ref().map(|message| &message[..]).unwrap_or_default();
                        assert_ne!(message, &test.pt[..], "test {id} of {name:?} decrypts");
                    }
                }
            }
            count += group.tests.len();
        }
    }
    assert!(count > 150, "{count} vectors");
}
