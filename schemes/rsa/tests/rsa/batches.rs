//! Batches: one key or many, mixed lengths, wrong items among right ones.

use modmill::Engine;
use modmill_rsa::traits::{Signature, SigningKey};
use modmill_rsa::{
    EncryptionScheme, Error, Hash, ItemError, PrivateKey, PublicKey, Rsa, SaltLength, SignatureScheme, Sizes,
    hazmat,
};
use num_bigint::BigUint;
use signature::{Keypair, Signer, Verifier};
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());

/// Keys of several lengths, two of each.
static KEYS: LazyLock<Vec<PrivateKey>> = LazyLock::new(|| {
    let generate = |bits| PrivateKey::generate_many(&ENGINE, bits, 2, Sizes::AllowSmall).unwrap();
    [1024, 1032, 1090, 2048].into_iter().flat_map(generate).collect()
});

const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

fn messages(count: usize) -> Vec<String> {
    (0..count).map(|item| format!("message {item}")).collect()
}

/// A key for each of `count` items. Neighbours have different keys, and all lengths are mixed.
fn mixed(count: usize) -> Vec<&'static PrivateKey> {
    (0..count).map(|item| &KEYS[item * 3 % KEYS.len()]).collect()
}

#[test]
fn many_keys_give_what_each_gives_alone() {
    for blinding in [false, true] {
        let rsa = Rsa::new(&ENGINE).blinding(blinding);
        let (keys, messages) = (mixed(37), messages(37));
        let together = rsa.sign(&keys[..], PKCS1, &messages).unwrap();
        for (item, signature) in together.iter().enumerate() {
            let alone = rsa.sign(keys[item], PKCS1, &messages[item..=item]).unwrap();
            assert_eq!(signature, &alone[0], "item {item}");
        }
        let publics: Vec<&PublicKey> = keys.iter().map(|key| key.public_key()).collect();
        let signatures: Vec<&Vec<u8>> = together.iter().flatten().collect();
        let verdicts = rsa.verify(&publics[..], PKCS1, &messages, &signatures).unwrap();
        assert!(verdicts.iter().all(Result::is_ok) && verdicts.len() == 37);
    }
}

#[test]
fn rows_hold_what_vectors_hold() {
    let (rsa, messages) = (Rsa::new(&ENGINE), messages(41));
    let one = vec![&KEYS[0]; 41];
    // Keys of all lengths, and one key.
    for keys in [mixed(41), one] {
        let vectors = rsa.sign(&keys[..], PKCS1, &messages).unwrap();
        let rows = rsa.sign_rows(&keys[..], PKCS1, &messages).unwrap();
        assert!(rows.len() == 41 && !rows.is_empty());
        assert!(rows.iter().eq(vectors.iter().map(|signature| signature.as_deref())));

        // Every fifth digest is no digest.
        let digest = |item: usize| {
            let digest = Hash::Sha256.digest(&[messages[item].as_bytes()]).as_ref().to_vec();
            if item.is_multiple_of(5) { digest[1..].to_vec() } else { digest }
        };
        let digests: Vec<Vec<u8>> = (0..41).map(digest).collect();
        let rows = rsa.sign_digests_rows(&keys[..], PKCS1, &digests).unwrap();
        for (item, signature) in vectors.iter().enumerate() {
            match item % 5 {
                0 => assert!(matches!(rows.get(item), Err(ItemError::WrongLength { .. })), "item {item}"),
                _ => assert_eq!(rows.get(item), signature.as_deref(), "item {item}"),
            }
        }

        let publics: Vec<&PublicKey> = keys.iter().map(|key| key.public_key()).collect();
        for scheme in [EncryptionScheme::oaep(Hash::Sha1), EncryptionScheme::Pkcs1v15] {
            let rows = rsa.encrypt_rows(&publics[..], scheme, &messages).unwrap();
            let mut ciphertexts: Vec<Vec<u8>> = rows.iter().map(|row| row.unwrap().to_vec()).collect();
            ciphertexts[3].pop();
            let decrypted = rsa.decrypt_rows(&keys[..], scheme, &ciphertexts).unwrap();
            let vectors = rsa.decrypt(&keys[..], scheme, &ciphertexts).unwrap();
            for (item, message) in messages.iter().enumerate() {
                let expected = vectors[item].as_ref().map(|message| &message[..]);
                assert_eq!(decrypted.get(item), expected, "item {item}");
                assert_eq!(expected.is_ok_and(|found| found == message.as_bytes()), item != 3, "item {item}");
            }
        }
    }
    assert!(rsa.sign_rows(&KEYS[0], PKCS1, &[""; 0]).unwrap().is_empty());
}

#[test]
fn raw_operations_are_powers() {
    let rsa = Rsa::new(&ENGINE);
    let big = BigUint::from_bytes_be;
    for key in KEYS.iter() {
        let public = key.public_key();
        let (n, e) = (big(public.modulus_bytes()), big(&public.exponent_bytes()));
        let numbers: Vec<Vec<u8>> = (0..11u8)
            .map(|item| match item {
                0 => vec![0; public.size()],
                1 => [vec![0; public.size() - 1], vec![1]].concat(),
                _ => [vec![0], vec![7 * item; public.size() - 1]].concat(),
            })
            .collect();
        let powers = hazmat::public(&rsa, public, &numbers).unwrap();
        for (number, power) in numbers.iter().zip(&powers) {
            assert_eq!(big(power.as_ref().unwrap()), big(number).modpow(&e, &n));
        }
        let powers: Vec<Vec<u8>> = powers.into_iter().flatten().collect();
        let back = hazmat::private(&rsa, key, &powers).unwrap();
        for (number, back) in numbers.iter().zip(back) {
            assert_eq!(back.unwrap()[..], number[..]);
        }
    }
}

#[test]
fn wrong_items_do_not_affect_the_others() {
    let rsa = Rsa::new(&ENGINE);
    let key = &KEYS[7];
    let public = key.public_key();
    let size = public.size();
    let good =
        rsa.encrypt(public, EncryptionScheme::oaep(Hash::Sha256), &["message"]).unwrap().remove(0).unwrap();
    let mut flipped = good.clone();
    flipped[size - 1] ^= 1;
    let ciphertexts: Vec<Vec<u8>> = vec![
        good.clone(),
        good[1..].to_vec(),
        [&[0], &good[..]].concat(),
        vec![0xff; size],
        public.modulus_bytes().to_vec(),
        flipped,
        vec![],
        good,
    ];
    let answers = rsa.decrypt(key, EncryptionScheme::oaep(Hash::Sha256), &ciphertexts).unwrap();
    let wrong_length = |found| Err(ItemError::WrongLength { expected: size, found });
    let answers: Vec<Result<&[u8], ItemError>> = answers
        .iter()
        .map(|answer| answer.as_ref().map(|message| &message[..]).map_err(|error| *error))
        .collect();
    let message = Ok(&b"message"[..]);
    let expected = [
        message,
        wrong_length(size - 1),
        wrong_length(size + 1),
        Err(ItemError::OutOfRange),
        Err(ItemError::OutOfRange),
        Err(ItemError::Decryption),
        wrong_length(0),
        message,
    ];
    assert_eq!(answers, expected);

    let signature = rsa.sign(key, PKCS1, &["message"]).unwrap().remove(0).unwrap();
    // A signature with a leading zero, and a number above the modulus, are wrong.
    let signatures =
        [signature.clone(), [&[0], &signature[..]].concat(), vec![0xff; size], vec![], signature];
    let verdicts =
        rsa.verify(public, PKCS1, &["message", "message", "message", "message", "other"], &signatures);
    let wrong = Err(ItemError::Verification);
    assert_eq!(verdicts.unwrap(), [Ok(()), wrong, wrong, wrong, wrong]);

    let messages = [vec![0; 10], vec![0; size - 11], vec![0; size - 10]];
    let answers = rsa.encrypt(public, EncryptionScheme::Pkcs1v15, &messages).unwrap();
    assert!(answers[0].is_ok() && answers[1].is_ok());
    assert_eq!(answers[2], Err(ItemError::MessageTooLong { limit: size - 11, found: size - 10 }));

    let digests = [vec![1; 32], vec![1; 31], vec![1; 65]];
    let answers = rsa.sign_digests(key, PKCS1, &digests).unwrap();
    assert!(answers[0].is_ok());
    assert_eq!(
        answers[1..],
        [
            Err(ItemError::WrongLength { expected: 32, found: 31 }),
            Err(ItemError::WrongLength { expected: 32, found: 65 })
        ]
    );
}

#[test]
fn every_hash_and_salt_signs_and_verifies() {
    let rsa = Rsa::new(&ENGINE);
    let (keys, messages) = (mixed(8), messages(8));
    let publics: Vec<&PublicKey> = keys.iter().map(|key| key.public_key()).collect();
    for hash in Hash::all().filter(|&hash| hash != Hash::Sha1) {
        let pss = |salt| SignatureScheme::Pss(modmill_rsa::Pss { salt, ..modmill_rsa::Pss::new(hash) });
        for scheme in [
            SignatureScheme::Pkcs1v15(hash),
            pss(SaltLength::Bytes(0)),
            pss(SaltLength::Bytes(11)),
            pss(SaltLength::Longest),
            pss(SaltLength::Any),
        ] {
            let signed = match rsa.sign(&keys[..], scheme, &messages) {
                Err(Error::UnsupportedHash { .. }) if matches!(hash, Hash::Shake128 | Hash::Shake256) => {
                    continue;
                }
                signed => signed.unwrap(),
            };
            for (item, signature) in signed.iter().enumerate() {
                match signature {
                    Ok(signature) => {
                        let verdict = rsa.verify(publics[item], scheme, &messages[item..=item], &[signature]);
                        assert_eq!(verdict.unwrap(), [Ok(())], "{scheme:?}");
                    }
                    // A digest and a salt of 64 bytes each do not fit in 128 bytes.
                    Err(ItemError::KeyTooShort) => assert!(keys[item].bits() < 1100 && hash.len() == 64),
                    Err(error) => panic!("{scheme:?}: {error}"),
                }
            }
        }
    }
    let refused = rsa.sign(keys[0], SignatureScheme::Pkcs1v15(Hash::Sha1), &messages);
    assert!(matches!(refused, Err(Error::UnsupportedHash { .. })));
}

#[test]
fn shapes_of_calls() {
    let rsa = Rsa::new(&ENGINE);
    let none: [&[u8]; 0] = [];
    assert_eq!(rsa.sign(&KEYS[0], PKCS1, &none).unwrap(), []);
    let refused = rsa.sign(&mixed(2)[..], PKCS1, &["one"]).unwrap_err();
    assert_eq!(refused, Error::LengthMismatch { what: "keys", expected: 1, found: 2 });
    let refused = rsa.verify(KEYS[0].public_key(), PKCS1, &["one"], &none).unwrap_err();
    assert_eq!(refused, Error::LengthMismatch { what: "signatures", expected: 1, found: 0 });
    let refused = rsa.encrypt(KEYS[0].public_key(), EncryptionScheme::oaep(Hash::Shake128), &["one"]);
    assert!(matches!(refused, Err(Error::UnsupportedHash { .. })));
}

#[test]
fn wrong_paddings_decrypt_to_messages_of_their_own() {
    let rsa = Rsa::new(&ENGINE);
    let key = &KEYS[6];
    let ciphertexts: Vec<Vec<u8>> =
        (1..60u8).map(|item| [vec![0, item], vec![item; key.public_key().size() - 2]].concat()).collect();
    let once = rsa.decrypt(key, EncryptionScheme::Pkcs1v15, &ciphertexts).unwrap();
    let again = rsa.decrypt(key, EncryptionScheme::Pkcs1v15, &ciphertexts).unwrap();
    assert_eq!(once, again);
    let mut lengths: Vec<usize> = once.iter().map(|message| message.as_ref().unwrap().len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() > 30, "{lengths:?}");
}

/// Accepts only types that are zeroized when they are dropped.
fn assert_zeroized<T: zeroize::ZeroizeOnDrop>(_: &T) {}

#[test]
fn secrets_are_zeroized_when_dropped() {
    let (rsa, key) = (Rsa::new(&ENGINE), &KEYS[0]);
    let block = vec![1; key.public_key().size()];
    assert_zeroized(&rsa.decrypt(key, EncryptionScheme::Pkcs1v15, &[&block]).unwrap().remove(0).unwrap());
    assert_zeroized(&hazmat::private(&rsa, key, &[&block]).unwrap().remove(0).unwrap());
    assert_zeroized(&key.to_der().unwrap());
    assert_zeroized(&key.to_pkcs1_der().unwrap());
    for text in [key.to_pem(), key.to_pkcs1_pem(), key.to_jwk()] {
        assert_zeroized(&text.unwrap());
    }
}

#[test]
fn traits_sign_one_at_a_time() {
    let engine = Arc::new(Engine::new().unwrap());
    for scheme in [PKCS1, SignatureScheme::pss(Hash::Sha3_256)] {
        let signer = SigningKey::new(engine.clone(), KEYS[6].clone(), scheme);
        let signature: Signature = signer.sign(b"message");
        signer.verifying_key().verify(b"message", &signature).unwrap();
        assert!(signer.verifying_key().verify(b"other", &signature).is_err());
        let short = Signature::try_from(&[1u8, 2][..]).unwrap();
        assert!(signer.verifying_key().verify(b"message", &short).is_err());
    }
}
