use super::*;
use crate::{Error, KeyError, Paillier};
use base64ct::{Base64UrlUnpadded, Encoding};
use modmill::{Engine, number};
use modmill_testing::oracle::{gcd, number as big};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};

#[test]
fn generated_keys_follow_the_rules() {
    let engine = Engine::new().unwrap();
    let one = BigUint::from(1u8);
    // 1026 and 1090 are no multiples of 64.
    for (bits, randomness) in [
        (1024, Randomness::Full),
        (1026, Randomness::Short),
        (1090, Randomness::Full),
        (2048, Randomness::Short),
        (1024, Randomness::Subgroup),
        (1090, Randomness::Subgroup),
    ] {
        let key = PrivateKey::generate(&engine, bits, randomness).unwrap();
        let [p, q] = key.primes().map(big);
        let n = &p * &q;
        assert_eq!((key.bits(), n.bits()), (bits, bits as u64));
        assert_eq!((p.bits(), q.bits()), (bits as u64 / 2, bits as u64 / 2));
        assert_eq!((&p % 4u8, &q % 4u8), (BigUint::from(3u8), BigUint::from(3u8)));
        assert_eq!(gcd(&(&p - &one), &(&q - &one)), BigUint::from(2u8));
        assert_eq!(gcd(&n, &((&p - &one) * (&q - &one))), one);
        assert_eq!(big(key.public_key().modulus().value()), n);
        assert_eq!(big(key.public_key().square().value()), &n * &n);
        assert_eq!(big(key.public_key().greatest_signed()), &n / 3u8 - &one);
        assert!(BigUint::from(1u8) << key.public_key().signed_bits() <= &n / 3u8);
        assert_eq!(key.public_key().short_base().is_some(), randomness != Randomness::Full);
        assert_eq!(key.subgroup().is_some(), randomness == Randomness::Subgroup);
        if let Some(base) = key.public_key().short_base() {
            // An n-th power to lambda is 1.
            assert_eq!(big(base).modpow(&((&p - &one) * (&q - &one)), &(&n * &n)), one);
        }
        key.check(&engine).unwrap();
        for factor in [key.p(), key.q()] {
            let prime = big(factor.prime.value());
            let other = &n / &prime;
            assert_eq!(big(&factor.inverse) * &prime % (&other * &other), one);
            assert_eq!((big(&factor.full.scale) * &other + &one) % &prime, BigUint::ZERO);
            let square = &prime * &prime;
            for unmasking in [Some(&factor.full), factor.short.as_ref()].into_iter().flatten() {
                let order = big(&unmasking.exponent);
                assert!(order.bits() <= unmasking.bits as u64);
                assert_eq!(big(&unmasking.scale) * &order * &other % &prime, one);
                assert_eq!((big(&unmasking.check) + &order * &n) % &square, BigUint::ZERO);
            }
            // The base of a subgroup has the order 2 u modulo p^2, and so not the order 2 or u.
            let (Some(short), Some(base)) = (&factor.short, key.public_key().short_base()) else { continue };
            let (base, order) = (big(base), big(&short.exponent));
            assert_eq!(base.modpow(&order, &square), one);
            assert_ne!(base.modpow(&BigUint::from(2u8), &square), one);
            assert_ne!(base.modpow(&(&order / 2u8), &square), one);
            let bits = key.public_key().short_exponent_bits();
            assert_eq!((bits, order.bits()), (if n.bits() <= 1024 { 320 } else { 448 }, bits as u64 / 2 + 1));
        }
    }
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    let engine = Engine::new().unwrap();
    for bits in [0, 512, 1022, 8194, 100_000] {
        let refused = PrivateKey::generate(&engine, bits, Randomness::Full).unwrap_err();
        assert!(matches!(refused, Error::Key(KeyError::Length { bits: found }) if found == bits));
    }
    let refused = PrivateKey::generate(&engine, 1025, Randomness::Full).unwrap_err();
    assert!(matches!(refused, Error::Key(KeyError::OddLength(1025))), "{refused}");
    assert_eq!(PublicKey::new(&[]).unwrap_err(), KeyError::Length { bits: 0 });
    assert_eq!(PublicKey::new(&[0xfe; 128]).unwrap_err(), KeyError::Even);
    assert!(matches!(PrivateKey::new(&[0xff; 5000], &[0xff; 5000]), Err(KeyError::Length { .. })));
}

#[test]
fn inconsistent_keys_are_refused() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Short).unwrap();
    let [p, q] = key.primes().map(number::to_short_be_bytes);
    let base = number::to_short_be_bytes(key.public_key().short_base().unwrap());
    assert!(PrivateKey::with_short_base(&p, &q, &base).unwrap().check(&engine).is_ok());
    for (p, q) in [(&p[..], &p[..]), (&[], &q), (&[1], &q), (&p, &[0xfe; 64])] {
        assert!(matches!(PrivateKey::new(p, q), Err(KeyError::Inconsistent(_) | KeyError::Length { .. })));
    }
    // A composite factor, and a base that is no n-th power.
    let prime: BigUint = (BigUint::from(1u8) << 256) - 189u8;
    let composite = BigUint::to_bytes_be(&(&prime * &prime));
    assert_eq!(PrivateKey::new(&p, &composite).unwrap_err(), KeyError::NotPrime("q"));
    let refused = PrivateKey::with_short_base(&p, &q, &[3]).unwrap_err();
    assert_eq!(refused, KeyError::Inconsistent("hs is no n-th power"));
    // Bases out of range, and one that shares a factor with n.
    let n = number::to_short_be_bytes(key.public_key().modulus().value());
    let square = number::to_short_be_bytes(key.public_key().square().value());
    for base in [&[][..], &[0], &[1], &square, &[0xff; 300], &p] {
        assert!(matches!(PublicKey::with_short_base(&n, base), Err(KeyError::Inconsistent(_))), "{base:?}");
    }
    // Bases that are 1 or -1 modulo n: whoever knows n can make them, and reads what they mask.
    let n = big(key.public_key().modulus().value());
    for base in [&n + 1u8, &n - 1u8, &n * 7u8 + 1u8, &n * 7u8 - 1u8, &n * &n - 1u8] {
        let refused = PublicKey::with_short_base(&n.to_bytes_be(), &base.to_bytes_be()).unwrap_err();
        assert!(refused.to_string().contains("1 or -1 modulo n"), "{refused}");
        let json = key.public_key().to_json("").unwrap();
        let [ours, theirs] = [key.public_key().short_base().unwrap(), &base.to_u64_digits()].map(encode);
        let refused = PublicKey::from_json(&json.replace(&ours, &theirs)).unwrap_err();
        assert!(refused.to_string().contains("1 or -1 modulo n"), "{refused}");
    }
}

fn encode(number: &[u64]) -> String {
    Base64UrlUnpadded::encode_string(&number::to_short_be_bytes(number))
}

#[test]
fn moduli_that_anyone_can_factor_are_refused() {
    let prime: BigUint = (BigUint::from(1u8) << 512) - 569u32;
    let (power, short): (BigUint, BigUint) = (prime.pow(2), (BigUint::from(1u8) << 256) - 189u32);
    for (n, reason) in [
        (BigUint::from(3u8).pow(700), "divisible by 3"),
        (power.clone(), "perfect power with exponent 2"),
        (&power * 65_521u32, "divisible by 65521"),
        (short.pow(5), "perfect power with exponent 5"),
    ] {
        let refused = PublicKey::new(&n.to_bytes_be()).unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
        let json = format!(r#"{{"kty":"DAJ","alg":"PAI-GN1","n":"{}"}}"#, encode(&n.to_u64_digits()));
        assert!(PublicKey::from_json(&json).unwrap_err().to_string().contains(reason));
        let file = PublicKey::of_number(&n.to_u64_digits(), None).unwrap().to_bytes().unwrap();
        assert!(PublicKey::from_bytes(&file).unwrap_err().to_string().contains(reason));
    }
}

/// The base and the length of its exponents tell keys apart; ciphertexts of all keys with one n go together.
#[test]
fn keys_with_other_bases_are_other_keys() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Short).unwrap();
    let public = key.public_key();
    let [n, hs] = [public.modulus().value(), public.short_base().unwrap()].map(number::to_short_be_bytes);
    let plain = PublicKey::new(&n).unwrap();
    let longer = PublicKey::with_subgroup_base(&n, &hs, 600).unwrap();
    let other = public.with_new_base(&engine).unwrap();
    let keys = [public, &plain, &longer, &other];
    for (i, a) in keys.iter().enumerate() {
        for (j, b) in keys.iter().enumerate() {
            assert_eq!((a == b, a.fingerprint() == b.fingerprint()), (i == j, i == j));
            assert!(a.has_modulus_of(b));
        }
    }
    assert_eq!(PublicKey::with_short_base(&n, &hs).unwrap(), *public);
    let paillier = Paillier::new(&engine);
    let column = |key: &PublicKey| paillier.encrypt(key, &modmill::Batch::from_values([[5u64]])).unwrap();
    let sum = keys.iter().skip(1).fold(column(public), |sum, key| paillier.add(&sum, &column(key)).unwrap());
    assert_eq!(paillier.decrypt(&key, &sum).unwrap().get(0)[0], 20);
    // A file of another base is refused. One with the fingerprint of n alone is of a key without a base, or
    // of an earlier version.
    for (key, is_read) in [(public, true), (&plain, true), (&longer, false), (&other, false)] {
        let read = crate::Ciphertexts::from_bytes(public, &column(key).to_bytes().unwrap());
        assert_eq!(read.is_ok(), is_read, "{read:?}");
        assert!(is_read || matches!(read, Err(Error::WrongKey { .. })));
    }
}

/// Files of earlier versions have the fingerprint of n, whatever the base.
#[test]
fn keys_of_earlier_versions_are_read() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Subgroup).unwrap();
    let plain = PublicKey::of_number(key.public_key().modulus().value(), None).unwrap();
    let earlier = |file: &[u8]| {
        let [new, old] = [key.public_key(), &plain].map(PublicKey::fingerprint);
        let place = file.windows(32).position(|octets| octets == new).unwrap();
        let mut changed = file[..file.len() - 32].to_vec();
        changed[place..place + 32].copy_from_slice(old);
        let checksum = Sha256::digest(&changed);
        [&changed[..], &checksum].concat()
    };
    let public = PublicKey::from_bytes(&earlier(&key.public_key().to_bytes().unwrap())).unwrap();
    assert_eq!(public, *key.public_key());
    assert_eq!(PrivateKey::from_bytes(&earlier(&key.to_bytes().unwrap())).unwrap().primes(), key.primes());
}

#[test]
fn wrong_subgroups_are_refused() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Subgroup).unwrap();
    let [p, q] = key.primes().map(number::to_short_be_bytes);
    let [u, v] = key.subgroup().unwrap().map(|order| number::to_short_be_bytes(&order));
    let base = number::to_short_be_bytes(key.public_key().short_base().unwrap());
    let with = |u: &[u8], v: &[u8], bits: usize| PrivateKey::with_subgroup([&p, &q], [u, v], &base, bits);
    with(&u, &v, 320).unwrap().check(&engine).unwrap();
    let product = BigUint::to_bytes_be(&(big(&key.subgroup().unwrap()[0]) * 3u8));
    // The orders of each other's primes, even ones, one, nothing, and one that is too long.
    for wrong in [&v[..], &[2], &[1], &[], &[3], &p, &product] {
        assert!(matches!(with(wrong, &v, 320), Err(KeyError::Inconsistent(_))), "{wrong:?}");
    }
    // Exponents that are too short for n or longer than n.
    for bits in [0, 319, 1025, usize::MAX] {
        assert!(matches!(with(&u, &v, bits), Err(KeyError::Inconsistent(_))), "{bits}");
    }
    // A base of the whole group.
    let n = number::to_short_be_bytes(key.public_key().modulus().value());
    let whole = PublicKey::new(&n).unwrap().with_new_base(&engine).unwrap();
    let base = number::to_short_be_bytes(whole.short_base().unwrap());
    let refused = PrivateKey::with_subgroup([&p, &q], [&u, &v], &base, 320).unwrap_err();
    assert_eq!(refused, KeyError::Inconsistent("hs is no n-th power"));
    assert!(PrivateKey::with_short_base(&p, &q, &base).unwrap().check(&engine).is_ok());
    let json = key.to_json("").unwrap().replacen("\"u\":", "\"w\":", 1);
    assert!(PrivateKey::from_json(&json).unwrap_err().to_string().contains("one of u and v"));
}

#[test]
fn keys_survive_bytes_and_json() {
    let engine = Engine::new().unwrap();
    for randomness in [Randomness::Full, Randomness::Short, Randomness::Subgroup] {
        let key = PrivateKey::generate(&engine, 1024, randomness).unwrap();
        let public = key.public_key();
        for again in [
            PublicKey::from_bytes(&public.to_bytes().unwrap()).unwrap(),
            PublicKey::from_json(&public.to_json("k").unwrap()).unwrap(),
        ] {
            assert_eq!((&again, again.short_base()), (public, public.short_base()));
            assert_eq!(again.short_exponent_bits(), public.short_exponent_bits());
        }
        let bytes = key.to_bytes().unwrap();
        for again in [
            PrivateKey::from_bytes(&bytes).unwrap(),
            PrivateKey::from_json(&key.to_json("\u{1}\"").unwrap()).unwrap(),
        ] {
            assert_eq!(
                (again.primes(), again.public_key().short_base()),
                (key.primes(), public.short_base())
            );
            assert_eq!(again.subgroup(), key.subgroup());
        }
        // A changed byte is noticed wherever it is, and so is a missing one.
        for place in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.to_vec();
            changed[place] ^= 1;
            assert!(PrivateKey::from_bytes(&changed).is_err(), "{place}");
            assert!(PrivateKey::from_bytes(&bytes[..place]).is_err(), "{place}");
        }
        assert!(
            PublicKey::from_bytes(&bytes).is_err()
                && PrivateKey::from_bytes(&public.to_bytes().unwrap()).is_err()
        );
    }
}

#[test]
fn json_that_is_no_key_is_named() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Full).unwrap();
    let json = key.to_json("name").unwrap();
    let changed =
        |from: &str, to: &str| PrivateKey::from_json(&json.replacen(from, to, 1)).unwrap_err().to_string();
    assert!(changed("DAJ", "RSA").contains("\"RSA\" instead of \"DAJ\""));
    assert!(changed("PAI-GN1", "PAI-GN2").contains("PAI-GN2"));
    assert!(changed("\"p\":\"", "\"p\":\"*").contains("p is not base64url"));
    assert!(changed("\"q\":", "\"r\":").contains("missing field `q`"));
    let other = PrivateKey::generate(&engine, 1024, Randomness::Full).unwrap();
    let [ours, theirs] = [&key, &other].map(|key| PublicKey::to_json(key.public_key(), "name").unwrap());
    assert!(changed(&ours, &theirs).contains("n is not the product"));
    // A key of the other kind, and a document that is no key.
    assert!(changed(&json, &ours).contains("it is a public key where a private key was expected"));
    let refused = |text: &str| PublicKey::from_json(text).unwrap_err().to_string();
    assert!(refused(&json).contains("it is a private key where a public key was expected"));
    assert!(refused("{}").contains("it is no key of Paillier's encryption where a public key was expected"));
    assert!(refused(r#"{"kty":"RSA","n":"AQ"}"#).contains("\"RSA\" instead of \"DAJ\""));
    assert!(refused("[").contains("JSON"));
    assert!(!format!("{key:?} {:?}", key.public_key()).contains(&json[40..60]));
}
