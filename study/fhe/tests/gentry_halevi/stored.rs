//! Keys and ciphertexts as parts, sound and hostile.

use super::{bits, check, engine, scheme};
use modmill_fhe::gentry_halevi::{Ciphertexts, Error, GentryHalevi, PublicKey, SecretKey, Section};

fn pairs(sections: &[Section]) -> Vec<(&str, &[u8])> {
    sections.iter().map(|section| (section.name, &section.bytes[..])).collect()
}

#[test]
fn parts_make_the_same_keys_and_ciphertexts() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (32, 100, 8));
    let public = PublicKey::from_sections(pairs(&scheme.key().sections())).unwrap();
    assert_eq!(public.sections(), scheme.key().sections());
    assert!(public.verify(&engine).unwrap());
    let secret = SecretKey::from_sections(pairs(&secret.sections()), &public).unwrap();
    let bits = bits(20);
    let encrypted = scheme.encrypt(&bits).unwrap();
    let again = Ciphertexts::from_sections(&engine, &public, pairs(&encrypted.sections().unwrap())).unwrap();
    let other = GentryHalevi::new(&engine, public).unwrap();
    check(&other, &secret, &again, &bits);
    check(&other, &secret, &other.recrypt(&again).unwrap(), &bits);
    let none = other.encrypt(&[]).unwrap();
    assert!(
        Ciphertexts::from_sections(&engine, other.key(), pairs(&none.sections().unwrap()))
            .unwrap()
            .is_empty()
    );
}

/// Whatever is done to a part, the answer is an error or a key, never a panic.
#[test]
fn hostile_parts_are_refused() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (32, 64, 8));
    let encrypted = scheme.encrypt(&[true, false]).unwrap().sections().unwrap();
    type Read<'a> = &'a dyn Fn(&[(&str, &[u8])]) -> Result<(), Error>;
    let public: Read<'_> = &|parts| PublicKey::from_sections(parts.iter().copied()).map(|_| ());
    let private: Read<'_> =
        &|parts| SecretKey::from_sections(parts.iter().copied(), scheme.key()).map(|_| ());
    let numbers: Read<'_> =
        &|parts| Ciphertexts::from_sections(&engine, scheme.key(), parts.iter().copied()).map(|_| ());
    for (sections, read) in
        [(scheme.key().sections(), public), (secret.sections(), private), (encrypted, numbers)]
    {
        let good = pairs(&sections);
        read(&good).unwrap();
        assert!(read(&[]).is_err());
        for (index, (name, bytes)) in good.iter().enumerate() {
            let with = |bytes: &[u8]| {
                let mut parts = good.clone();
                parts[index].1 = bytes;
                read(&parts)
            };
            let mut missing = good.clone();
            missing.remove(index);
            assert!(read(&missing).is_err(), "{name} is missing");
            let twice: Vec<(&str, &[u8])> = good.iter().chain([&good[index]]).copied().collect();
            assert!(read(&twice).is_err(), "{name} is there twice");
            assert!(with(&[]).is_err(), "{name} is empty");
            assert!(with(&bytes[1..]).is_err(), "{name} is short");
            let long: Vec<u8> = bytes.iter().copied().chain([1]).collect();
            assert!(with(&long).is_err(), "{name} is long");
            // All ones make another odd modulus, and nothing else.
            assert_eq!(with(&vec![0xff; bytes.len()]).is_ok(), *name == "modulus", "{name} is all ones");
            // Zeros make good numbers, and nothing else.
            let zeros = with(&vec![0; bytes.len()]);
            let numbers = ["root", "multipliers", "selectors", "secret", "numbers", "bounds", "noise"];
            assert_eq!(zeros.is_ok(), numbers.contains(name), "{name} is all zeros");
        }
    }
}

#[test]
fn parts_out_of_range_are_named() {
    let engine = engine();
    let (scheme, _) = scheme(&engine, (32, 64, 8));
    let sections = scheme.key().sections();
    let replaced = |name: &str, bytes: &[u8]| {
        let mut parts = pairs(&sections);
        parts.iter_mut().filter(|part| part.0 == name).for_each(|part| part.1 = bytes);
        PublicKey::from_sections(parts).unwrap_err()
    };
    let modulus = sections.iter().find(|section| section.name == "modulus").unwrap().bytes.to_vec();
    let even: Vec<u8> = modulus
        .iter()
        .enumerate()
        .map(|(index, byte)| if index == 0 { byte & 0xfe } else { *byte })
        .collect();
    assert!(replaced("modulus", &even).to_string().contains("even"));
    assert!(replaced("root", &modulus).to_string().contains("not below the modulus"));
    assert!(replaced("modulus", &vec![1; 100_000]).to_string().contains("longer"));
    assert!(replaced("modulus", &[1]).to_string().contains("short"));
    for bits in [f64::NAN, f64::INFINITY, 1e300, -1e300] {
        let noise = [bits, 10.0].into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
        assert!(replaced("noise", &noise).to_string().contains("range"), "{bits}");
    }
    let setting: Vec<u8> = [33u32, 64, 8].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(replaced("setting", &setting), Error::Dimension(33));
    // A root that is none is noticed by the check that costs products.
    let mut parts = pairs(&sections);
    let zero = vec![0; modulus.len()];
    parts.iter_mut().filter(|part| part.0 == "root").for_each(|part| part.1 = &zero);
    assert!(!PublicKey::from_sections(parts).unwrap().verify(&engine).unwrap());
    assert!(scheme.key().verify(&engine).unwrap());
}

#[test]
fn secrets_are_not_shown() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (32, 64, 8));
    let shown = format!("{secret:?} {:?} {:?}", secret.sections(), scheme.key());
    assert!(shown.contains("dimension 32") && shown.len() < 300, "{shown}");
}
