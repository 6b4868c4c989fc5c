//! Blind signatures: the RFC's vectors, round trips, and what is wrong on either side.

use crate::{devices, key_of};
use modmill::Engine;
use modmill::cuda::kernel_seconds;
use modmill_rsa::{
    Answers, BlindScheme, Blinded, Error, ItemError, PrivateKey, PrivateTask, PublicKey, Rsa, Sizes, hazmat,
};
use num_bigint::BigUint;
use serde_json::Value;
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());

/// Two keys of 2048 bits and two that are not as long as whole limbs.
static KEYS: LazyLock<Vec<PrivateKey>> = LazyLock::new(|| {
    let generate = |bits| PrivateKey::generate_many(&ENGINE, bits, 2, Sizes::AllowSmall).unwrap();
    [2048, 1090].into_iter().flat_map(generate).collect()
});

static RFC: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/rfc9474.json")).unwrap());

fn big(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

/// The bytes of a number, as long as the modulus of a key.
fn octets(number: &BigUint, key: &PublicKey) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; key.size() - bytes.len()], bytes].concat()
}

fn right<T>(answers: Answers<T>) -> Vec<T> {
    answers.into_iter().collect::<Result<_, _>>().unwrap()
}

fn parts(blinded: &[Blinded]) -> (Vec<&[u8]>, Vec<&[u8]>) {
    blinded.iter().map(|blinded| (&blinded.message[..], &blinded.inverse[..])).unzip()
}

/// The hexadecimal field of a vector or of the key.
fn field(object: &Value, name: &str) -> Vec<u8> {
    let text = object[name].as_str().unwrap();
    (0..text.len() / 2).map(|place| u8::from_str_radix(&text[2 * place..][..2], 16).unwrap()).collect()
}

fn rfc_key() -> PrivateKey {
    let numbers = ["n", "e", "d", "p", "q"].map(|name| field(&RFC["key"], name));
    key_of(numbers.each_ref().map(Vec::as_slice), Sizes::Standard)
}

#[test]
fn the_vectors_of_the_rfc() {
    let (rsa, key) = (Rsa::new(&ENGINE), rfc_key());
    let public = key.public_key();
    let vectors = RFC["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 4);
    for (vector, variant) in vectors.iter().zip(BlindScheme::all()) {
        let scheme: BlindScheme = vector["name"].as_str().unwrap().parse().unwrap();
        assert_eq!(scheme, variant);
        let [message, prefix, salt, inverse] =
            ["msg", "msg_prefix", "salt", "inv"].map(|name| field(vector, name));
        assert_eq!(scheme.prepare(&message).unwrap().len(), prefix.len() + message.len());
        let prepared = [[prefix, message].concat()];
        let factor = big(&inverse).modinv(&big(public.modulus_bytes())).unwrap();
        let blinded = right(
            hazmat::blind(&rsa, public, scheme, &prepared, &[salt], &[octets(&factor, public)]).unwrap(),
        );
        assert_eq!(blinded[0].message, field(vector, "blinded_msg"), "{scheme}");
        assert_eq!(*blinded[0].inverse, octets(&big(&inverse), public), "{scheme}");
        let signed = right(rsa.blind_sign(&key, &[&blinded[0].message]).unwrap());
        assert_eq!(signed[0], field(vector, "blind_sig"), "{scheme}");
        let signatures =
            right(rsa.finalize(public, scheme, &prepared, &signed, &[&blinded[0].inverse]).unwrap());
        assert_eq!(signatures[0], field(vector, "sig"), "{scheme}");
        for other in BlindScheme::all() {
            let verdict = rsa.verify(public, other.signature_scheme(), &prepared, &signatures).unwrap();
            assert_eq!(verdict[0].is_ok(), other.signature_scheme() == scheme.signature_scheme(), "{other}");
        }
    }
    // All blinded messages in one batch.
    let [blinded, expected] = ["blinded_msg", "blind_sig"]
        .map(|name| vectors.iter().map(|vector| field(vector, name)).collect::<Vec<_>>());
    assert_eq!(right(rsa.blind_sign(&key, &blinded).unwrap()), expected);
}

/// Messages of many lengths, the empty one included, blinded, signed and finished on `client` and `signer`.
fn round_trip(client: &Rsa<'_>, signer: &Rsa<'_>, keys: &[&PrivateKey], scheme: BlindScheme) {
    let publics: Vec<&PublicKey> = keys.iter().map(|key| key.public_key()).collect();
    let prepared: Vec<Vec<u8>> =
        (0..keys.len()).map(|item| scheme.prepare(&vec![item as u8; 5 * item]).unwrap()).collect();
    let blinded = right(client.blind(&publics[..], scheme, &prepared).unwrap());
    let (messages, inverses) = parts(&blinded);
    let signed = right(signer.blind_sign(keys, &messages).unwrap());
    let tasks: Vec<PrivateTask> =
        messages.iter().map(|blinded| PrivateTask::Raw { number: blinded.to_vec().into() }).collect();
    let by_tasks = right(signer.private_tasks(keys, &tasks).unwrap());
    assert!(by_tasks.iter().map(|signed| &signed[..]).eq(signed.iter().map(|signed| &signed[..])));
    let signatures = right(client.finalize(&publics[..], scheme, &prepared, &signed, &inverses).unwrap());
    let verdicts = client.verify(&publics[..], scheme.signature_scheme(), &prepared, &signatures).unwrap();
    assert!(verdicts.iter().all(Result::is_ok));
    for (item, public) in publics.iter().enumerate() {
        let (n, e) = (big(public.modulus_bytes()), big(&public.exponent_bytes()));
        let inverse = big(inverses[item]);
        assert_eq!(big(&signed[item]).modpow(&e, &n), big(messages[item]));
        assert_eq!(big(&signed[item]) * &inverse % &n, big(&signatures[item]));
        // The factor is new for every item.
        assert!(!inverses[..item].contains(&inverses[item]) && inverse > BigUint::from(1u8));
    }
    if scheme == BlindScheme::PssZeroDeterministic {
        // The signature is the one that the key makes by itself.
        assert_eq!(signatures, right(signer.sign(keys, scheme.signature_scheme(), &prepared).unwrap()));
    }
}

#[test]
fn blinded_messages_are_signed_as_the_messages() {
    for scheme in BlindScheme::all() {
        let rsa = Rsa::new(&ENGINE);
        let mixed: Vec<&PrivateKey> = (0..11).map(|item| &KEYS[item % 4]).collect();
        round_trip(&rsa, &rsa.blinding(true), &mixed, scheme);
        round_trip(&rsa, &rsa, &[&KEYS[0]; 9], scheme);
        round_trip(&rsa, &rsa, &[&KEYS[2]; 1], scheme);
    }
}

#[test]
fn a_gpu_signs_blindly_as_the_cpu_does() {
    let Some(gpu) = devices::gpu() else { return };
    let (cpu, keys) = (devices::cpu(), devices::keys(2));
    let mixed: Vec<&PrivateKey> = (0..10).map(|item| &keys[item % 2]).collect();
    // Without a salt, because the keys are short.
    for scheme in [BlindScheme::PssZeroRandomized, BlindScheme::PssZeroDeterministic] {
        round_trip(&Rsa::new(&cpu), &Rsa::new(&gpu), &mixed, scheme);
    }
    round_trip(&Rsa::new(&gpu), &Rsa::new(&cpu), &[&keys[0]; 6], BlindScheme::PssZeroRandomized);
    assert!(kernel_seconds(&gpu) > 0.0, "kernels computed it");
    assert_eq!(gpu.faults(), [""; 0]);
}

#[test]
fn messages_are_blinded_differently_every_time() {
    let (rsa, key, scheme) = (Rsa::new(&ENGINE), &KEYS[0], BlindScheme::PssRandomized);
    let prepared = [scheme.prepare(b"").unwrap(), scheme.prepare(b"message").unwrap()];
    assert_eq!(prepared.each_ref().map(Vec::len), [32, 39]);
    assert_ne!(scheme.prepare(b"").unwrap(), prepared[0]);
    assert!(BlindScheme::PssDeterministic.prepare(b"").unwrap().is_empty());
    let blinded = right(rsa.blind(key.public_key(), scheme, &prepared).unwrap());
    assert_ne!(blinded, right(rsa.blind(key.public_key(), scheme, &prepared).unwrap()));
    assert_eq!(format!("{:?}", blinded[0]), "Blinded(256 bytes)");
    let (messages, inverses) = parts(&blinded);
    let signed = right(rsa.blind_sign(key, &messages).unwrap());
    assert!(
        rsa.finalize(key.public_key(), scheme, &prepared, &signed, &inverses)
            .unwrap()
            .iter()
            .all(Result::is_ok)
    );
}

#[test]
fn every_number_below_the_modulus_is_signed_and_no_other() {
    let rsa = Rsa::new(&ENGINE);
    for key in [&KEYS[0], &KEYS[2]] {
        let (public, size) = (key.public_key(), key.public_key().size());
        let n = big(public.modulus_bytes());
        let fixed = [BigUint::ZERO, BigUint::from(1u8), &n - 1u8].map(|number| octets(&number, public));
        let above = [n.clone(), &n + 1u8].map(|number| octets(&number, public));
        let others = [vec![0xff; size], vec![0; size - 1], vec![0; size + 1], vec![]];
        let blinded: Vec<&Vec<u8>> = fixed.iter().chain(&above).chain(&others).chain(&fixed).collect();
        let answers = rsa.blind_sign(key, &blinded).unwrap();
        let wrong = |found| Err(ItemError::WrongLength { expected: size, found });
        // The private exponent is odd, so that 0, 1 and -1 are their own powers.
        let fixed = fixed.map(Ok);
        assert_eq!(answers[..3], fixed);
        assert_eq!(answers[3..6], [const { Err(ItemError::OutOfRange) }; 3]);
        assert_eq!(answers[6..9], [wrong(size - 1), wrong(size + 1), wrong(0)]);
        assert_eq!(answers[9..], fixed);
    }
}

#[test]
fn wrong_blind_signatures_do_not_affect_the_others() {
    let (rsa, scheme) = (Rsa::new(&ENGINE), BlindScheme::PssDeterministic);
    let (key, public) = (&KEYS[0], KEYS[0].public_key());
    let size = public.size();
    let prepared: Vec<String> = (0..9).map(|item| format!("message {item}")).collect();
    let blinded = right(rsa.blind(public, scheme, &prepared).unwrap());
    let (messages, mut inverses) = parts(&blinded);
    let mut signed = right(rsa.blind_sign(key, &messages).unwrap());
    signed[1][7] ^= 1;
    signed[2].pop();
    signed[3] = public.modulus_bytes().to_vec();
    signed[4] = octets(&(big(&signed[4]) >> 1), public);
    inverses[5] = &inverses[4][1..];
    inverses.swap(6, 7);
    let answers = rsa.finalize(public, scheme, &prepared, &signed, &inverses).unwrap();
    let wrong_length = Err(ItemError::WrongLength { expected: size, found: size - 1 });
    let wrong = Err(ItemError::Verification);
    assert_eq!(
        answers[1..8],
        [
            wrong.clone(),
            wrong_length.clone(),
            Err(ItemError::OutOfRange),
            wrong.clone(),
            wrong_length,
            wrong.clone(),
            wrong
        ]
    );
    for item in [0, 8] {
        let signature = answers[item].as_ref().unwrap();
        let verdict = rsa.verify(public, scheme.signature_scheme(), &[&prepared[item]], &[signature]);
        assert_eq!(verdict.unwrap(), [Ok(())]);
    }
    // Another key, another message, another variant.
    let other = KEYS[1].public_key();
    let below: Vec<Vec<u8>> = signed.iter().map(|signed| vec![1; signed.len()]).collect();
    for (key, scheme, prepared) in [
        (other, scheme, &prepared[..1]),
        (public, scheme, &prepared[1..2]),
        (public, BlindScheme::PssZeroDeterministic, &prepared[..1]),
    ] {
        let answers = rsa.finalize(key, scheme, prepared, &below[..1], &[&[1; 256]]).unwrap();
        assert_eq!(answers, [Err(ItemError::Verification)]);
        let answers = rsa.finalize(key, scheme, prepared, &signed[..1], &inverses[..1]).unwrap();
        assert!(matches!(answers[0], Err(ItemError::Verification | ItemError::OutOfRange)), "{answers:?}");
    }
}

#[test]
fn numbers_without_an_inverse_are_refused() {
    let (rsa, key, scheme) = (Rsa::new(&ENGINE), rfc_key(), BlindScheme::PssZeroDeterministic);
    let public = key.public_key();
    let [p, q] = ["p", "q"].map(|name| octets(&big(&field(&RFC["key"], name)), public));
    let (one, zero, n) =
        (octets(&1u8.into(), public), vec![0; public.size()], public.modulus_bytes().to_vec());
    let factors = [one.clone(), p, one.clone(), q, zero, n, vec![1], one];
    let answers = hazmat::blind(&rsa, public, scheme, &["message"; 8], &[""; 8], &factors).unwrap();
    let kinds: Vec<Option<ItemError>> = answers.iter().map(|answer| answer.as_ref().err().copied()).collect();
    let (none, length) = (Some(ItemError::NotInvertible), ItemError::WrongLength { expected: 512, found: 1 });
    assert_eq!(kinds, [None, none, None, none, none, Some(ItemError::OutOfRange), Some(length), None]);
    // A factor of 1 hides nothing, and its inverse is 1.
    assert!(answers[0] == answers[2] && answers[0] == answers[7]);
    let salts =
        hazmat::blind(&rsa, public, BlindScheme::PssRandomized, &["message"], &["salt"], &[vec![1; 512]]);
    assert_eq!(salts.unwrap(), [Err(ItemError::WrongLength { expected: 48, found: 4 })]);

    // A third of all messages, and of all factors, share a factor with a modulus that 3 divides.
    let broken = PublicKey::new(&[0xff; 256], &[1, 0, 1], Sizes::Standard).unwrap();
    let prepared: Vec<String> = (0..60).map(|item| format!("message {item}")).collect();
    let answers = rsa.blind(&broken, scheme, &prepared).unwrap();
    let right = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!((1..50).contains(&right), "{right} of 60");
    assert!(
        answers
            .iter()
            .flat_map(|answer| answer.as_ref().err())
            .all(|error| *error == ItemError::NotInvertible)
    );
}

#[test]
fn shapes_of_blind_calls() {
    let (rsa, scheme) = (Rsa::new(&ENGINE), BlindScheme::PssRandomized);
    let (key, public) = (&KEYS[0], KEYS[0].public_key());
    let none: [&[u8]; 0] = [];
    assert_eq!(rsa.blind(public, scheme, &none).unwrap(), []);
    assert_eq!(rsa.blind_sign(key, &none).unwrap(), []);
    assert_eq!(rsa.finalize(public, scheme, &none, &none, &none).unwrap(), []);
    let mismatch = |what, expected, found| Error::LengthMismatch { what, expected, found };
    let refused = rsa.blind(&[public; 2][..], scheme, &["one"]).unwrap_err();
    assert_eq!(refused, mismatch("keys", 1, 2));
    let refused = rsa.blind_sign(&[key; 2][..], &none).unwrap_err();
    assert_eq!(refused, mismatch("keys", 0, 2));
    let refused = rsa.finalize(public, scheme, &["one"], &none, &["one"]).unwrap_err();
    assert_eq!(refused, mismatch("blind signatures", 1, 0));
    let refused = rsa.finalize(public, scheme, &["one"], &["one"], &none).unwrap_err();
    assert_eq!(refused, mismatch("inverses", 1, 0));
    let refused = rsa.finalize(&[public; 2][..], scheme, &["one"], &["one"], &["one"]).unwrap_err();
    assert_eq!(refused, mismatch("keys", 1, 2));
    let refused = hazmat::blind(&rsa, public, scheme, &["one"], &none, &["one"]).unwrap_err();
    assert_eq!(refused, mismatch("salts", 1, 0));

    // A key too short for the salt, in a batch with one that is long enough.
    let short = PrivateKey::generate(&ENGINE, 512, Sizes::AllowSmall).unwrap();
    let answers = rsa.blind(&[short.public_key(), public][..], scheme, &["one", "two"]).unwrap();
    assert_eq!(answers[0], Err(ItemError::KeyTooShort));
    assert!(answers[1].is_ok());
    assert!("RSABSSA-SHA256-PSS-Randomized".parse::<BlindScheme>().unwrap_err().contains("PSSZERO"));
}

/// Accepts only types that are zeroized when they are dropped.
fn assert_zeroized<T: zeroize::ZeroizeOnDrop>(_: &T) {}

#[test]
fn inverses_are_zeroized_when_dropped() {
    let rsa = Rsa::new(&ENGINE);
    let blinded = right(rsa.blind(KEYS[0].public_key(), BlindScheme::PssDeterministic, &[""]).unwrap());
    assert_zeroized(&blinded[0].inverse);
}
