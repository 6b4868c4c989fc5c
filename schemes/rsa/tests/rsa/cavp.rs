//! NIST's CAVP vectors of RSA signatures, from the folder that `MODMILL_CAVP` names. The folder holds the
//! files `SigGen15_186-3.rsp`, `SigGenPSS_186-3.rsp`, `SigVer15_186-3.rsp` and `SigVerPSS_186-3.rsp`. NIST
//! publishes them, and the package `cryptography-vectors` of PyPI has them under `asymmetric/RSA/FIPS_186-2`;
//! `.ci/run` installs it. No crate has them, so the test is skipped where the variable is not set.

use crate::key_of;
use modmill::Engine;
use modmill_rsa::{Hash, Pss, PublicKey, Rsa, SaltLength, SignatureScheme, Sizes};
use std::collections::HashMap;
use std::path::PathBuf;

/// A vector: names and values, including those of its key.
type Vector = HashMap<String, String>;

/// Reads the vectors of a file. A value holds until it is set again, and the name `last` ends a vector.
fn vectors(text: &str, last: &str) -> Vec<Vector> {
    let (mut values, mut found) = (Vector::new(), Vec::new());
    for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
        values.insert(name.trim().to_owned(), value.trim().to_owned());
        if name.trim() == last {
            found.push(values.clone());
        }
    }
    found
}

fn bytes(vector: &Vector, name: &str) -> Vec<u8> {
    let text = vector[name].trim_start_matches('0');
    let text = if text.len() % 2 == 1 { format!("0{text}") } else { text.to_owned() };
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The bytes of a value, with its leading zeros.
fn octets(vector: &Vector, name: &str) -> Vec<u8> {
    let text = &vector[name];
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn hash(vector: &Vector) -> Hash {
    vector["SHAAlg"].parse().unwrap()
}

/// Whether the signature of a vector verifies. A key that is refused verifies nothing.
fn verifies(engine: &Engine, vector: &Vector, scheme: SignatureScheme) -> bool {
    let Ok(key) = PublicKey::new(&bytes(vector, "n"), &bytes(vector, "e"), Sizes::AllowSmall) else {
        return false;
    };
    let mut signature = octets(vector, "S");
    // Some signatures are written without their leading zeros.
    signature.splice(0..0, vec![0; key.size().saturating_sub(signature.len())]);
    Rsa::new(engine).verify(&key, scheme, &[octets(vector, "Msg")], &[signature]).unwrap()[0].is_ok()
}

#[test]
fn signatures_of_nist() {
    let Some(folder) = std::env::var_os("MODMILL_CAVP").map(PathBuf::from) else {
        return println!("skipped: MODMILL_CAVP names no folder");
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let engine = Engine::new().unwrap();
    let pkcs1 = SignatureScheme::Pkcs1v15;
    let pss = |hash| SignatureScheme::Pss(Pss { hash, mask_hash: hash, salt: SaltLength::Any });
    let (mut generated, mut verified, mut signed) = (0, 0, 0);
    for (name, scheme) in
        [("SigGen15_186-3.rsp", &pkcs1 as &dyn Fn(Hash) -> _), ("SigGenPSS_186-3.rsp", &pss)]
    {
        for vector in vectors(&read(name), "S") {
            assert!(verifies(&engine, &vector, scheme(hash(&vector))), "{name}: {}", vector["S"]);
            generated += 1;
        }
    }
    for (name, scheme) in
        [("SigVer15_186-3.rsp", &pkcs1 as &dyn Fn(Hash) -> _), ("SigVerPSS_186-3.rsp", &pss)]
    {
        for vector in vectors(&read(name), "Result") {
            let (hash, passes) = (hash(&vector), vector["Result"].starts_with('P'));
            assert_eq!(verifies(&engine, &vector, scheme(hash)), passes, "{name}: {}", vector["S"]);
            verified += 1;
            // PKCS #1 v1.5 has one right signature, and the private key makes it. SHA-1 does not sign.
            if passes && name.starts_with("SigVer15") && hash != Hash::Sha1 {
                let numbers = ["n", "e", "d", "p", "q"].map(|name| bytes(&vector, name));
                let key = key_of(numbers.each_ref().map(Vec::as_slice), Sizes::AllowSmall);
                let signatures =
                    Rsa::new(&engine).sign(&key, pkcs1(hash), &[octets(&vector, "Msg")]).unwrap();
                assert_eq!(*signatures[0].as_ref().unwrap(), octets(&vector, "S"));
                signed += 1;
            }
        }
    }
    println!("{generated} signatures verified, {verified} judged, {signed} made again");
    assert!(generated >= 200 && verified >= 500 && signed >= 50, "{generated}, {verified}, {signed}");
}
