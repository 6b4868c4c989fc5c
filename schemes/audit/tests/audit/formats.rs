//! Keys in every form, and entries that are none.

use crate::common::{key, primes};
use modmill::Engine;
use modmill_audit::{Audit, Collection, EntryError, Format, Progress, Recovered, recover};
use modmill_rsa::{AnyKey, PrivateKey, PublicKey, Sizes};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::path::Path;
use std::process::Command;

fn engine() -> Engine {
    Engine::builder().threads(1).build().unwrap()
}

fn base64(bytes: &[u8]) -> String {
    use base64ct::{Base64, Encoding};
    Base64::encode_string(bytes)
}

/// Strings of SSH, each after its length.
fn strings(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| [&(part.len() as u32).to_be_bytes(), *part].concat()).collect()
}

#[test]
fn public_keys_are_read_from_every_form() {
    let engine = engine();
    let private = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall).unwrap();
    let public = private.public_key();
    let expected = modmill_audit::Key::new(public.modulus_bytes(), &public.exponent_bytes()).unwrap();
    let one = |bytes: &[u8]| {
        let format = Format::detect(bytes).expect("a format");
        let mut entries = format.read("file", bytes);
        assert_eq!(entries.len(), 1);
        entries.remove(0).1
    };
    for text in [public.to_pem().unwrap(), public.to_pkcs1_pem().unwrap(), public.to_jwk().unwrap()] {
        assert_eq!(one(text.as_bytes()), Ok(expected.clone()));
        assert_eq!(one(format!("\u{feff}{text}").as_bytes()), Ok(expected.clone()));
    }
    for der in [public.to_der().unwrap(), public.to_pkcs1_der().unwrap()] {
        assert_eq!(one(&der), Ok(expected.clone()));
    }
    // Private keys in every form, of which nothing may be left.
    let encrypted = private.to_encrypted_pem(b"password").unwrap();
    let texts = [
        private.to_pem().unwrap(),
        private.to_pkcs1_pem().unwrap(),
        private.to_jwk().unwrap(),
        encrypted.into(),
    ];
    for text in texts {
        assert_eq!(one(text.as_bytes()), Err(EntryError::Private));
    }
    for der in [private.to_der().unwrap().to_vec(), private.to_encrypted_der(b"password").unwrap()] {
        assert_eq!(one(&der), Err(EntryError::Private));
    }
    assert_eq!(one(br#"{"kty":"oct","k":"AAEC"}"#), Err(EntryError::Private));
}

#[test]
fn lines_of_openssh_are_read() {
    let modulus = BigUint::from(65_537u32) * 65_539u32;
    let bytes = [&[0][..], &modulus.to_bytes_be()].concat();
    let plain = base64(&strings(&[b"ssh-rsa", &[1, 0, 1], &bytes]));
    let name = "ssh-rsa-cert-v01@openssh.com";
    let certificate = base64(&strings(&[name.as_bytes(), &[7; 32], &[1, 0, 1], &bytes, &[0; 8]]));
    let other = base64(&strings(&[b"ssh-ed25519", &[9; 32]]));
    let text = format!(
        "# comment\n\nssh-rsa {plain} user@host\nssh-rsa {plain}\n\
         |1|abc=|def= ssh-rsa {plain}\nhost,10.0.0.1 ssh-rsa {plain}\n@cert-authority *.example {name} {certificate}\n\
         command=\"echo ssh-rsa AA\",no-pty ssh-rsa {plain} robot\nhost ssh-ed25519 {other}\nnothing\n\
         host ssh-rsa {}\nhost ssh-rsa AAAA*\n",
        &plain[..20]
    );
    assert_eq!(Format::detect(text.as_bytes()), Some(Format::Ssh));
    let entries = Format::Ssh.read("keys", text.as_bytes());
    let good: Vec<&str> =
        entries.iter().filter(|(_, entry)| *entry == Ok(key(&modulus))).map(|(id, _)| id.as_str()).collect();
    let names =
        ["keys:3 user@host", "keys:4", "keys:5", "keys:6 host,10.0.0.1", "keys:7 *.example", "keys:8 robot"];
    assert_eq!(good, names);
    let errors: Vec<String> =
        entries.iter().filter_map(|(id, entry)| Some(format!("{id}: {}", entry.as_ref().err()?))).collect();
    let expected = [
        "keys:9 host: the key is for ssh-ed25519, not for RSA",
        "keys:10: there is no key of OpenSSH in this line",
        "keys:11 host: the key is cut short",
        "keys:12 host: the key is not base64",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn sets_of_json_web_keys_are_read() {
    let text = br#"{"keys": [
        {"kty":"RSA","kid":"one","n":"AQACAAM","e":"AQAB"},
        {"kty":"EC","crv":"P-256","x":"AA","y":"AA"},
        {"kty":"RSA","n":"AQACAAM","e":"AQAB","d":"c2VjcmV0"},
        {"kty":"RSA","n":"**","e":"AQAB"},
        {"kty":1}
    ]}"#;
    let entries = Format::Jwk.read("set", text);
    let told: Vec<String> = entries
        .iter()
        .map(|(id, entry)| match entry {
            Ok(key) => format!("{id}: {:x?}", key.modulus()),
            Err(error) => format!("{id}: {error}"),
        })
        .collect();
    let expected = [
        "set#1 one: [100020003]",
        "set#2: the key is for the type \"EC\" of JSON Web Keys, not for RSA",
        "set#3: this is a private key, which does not belong in a collection of public ones",
        "set#4: the modulus is not base64url",
        "set#5: bad JSON Web Key at line 1, column 8",
    ];
    assert_eq!(told, expected);
    // The text of an error has nothing of the input.
    assert!(
        !format!("{:?}", Format::Jwk.read("key", b"{\"kty\":\"RSA\",\"d\":\"secret\"")).contains("secret")
    );
}

#[test]
fn blocks_are_entries_of_their_own() {
    let public = PublicKey::new(&[0xff; 256], &[1, 0, 1], Sizes::Standard).unwrap().to_pem().unwrap();
    let text = format!(
        "{public}text\n-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n\
         -----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n\
         -----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n-----BEGIN CERTIFICATE-----\nAAAA\n"
    );
    let entries = Format::Pem.read("bundle", text.as_bytes());
    let told: Vec<String> = entries
        .iter()
        .map(|(id, entry)| {
            format!("{id}: {}", entry.as_ref().err().map_or("a key".to_owned(), ToString::to_string))
        })
        .collect();
    assert_eq!(told[0], "bundle#1: a key");
    assert!(told[1].starts_with("bundle#2: ") && told[1].contains("X509 CRL"), "{told:?}");
    assert!(told[2].contains("private key"));
    assert!(told[3].contains("no certificate, no request and no key"), "{told:?}");
    assert!(told[4].contains("has no END line"), "{told:?}");
    assert_eq!(Format::Pem.read("empty", b"").len(), 1);
}

/// Certificates, requests and keys of other algorithms, made by the program `openssl`.
#[test]
fn what_openssl_writes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let openssl = |arguments: &str| {
        let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder.path()).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !openssl("genrsa -out key.pem 1024") {
        println!("skipped: no openssl");
        return;
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let AnyKey::Private(private) = AnyKey::read(&read("key.pem"), None, Sizes::AllowSmall).unwrap() else {
        panic!("a private key")
    };
    let public = private.public_key();
    let expected = modmill_audit::Key::new(public.modulus_bytes(), &public.exponent_bytes()).unwrap();
    for (command, name) in [
        ("req -x509 -new -key key.pem -subj /CN=test -out certificate", "certificate"),
        ("x509 -in certificate -outform DER -out certificate.der", "certificate.der"),
        ("x509 -in certificate -trustout -addtrust serverAuth -out trusted", "trusted"),
        ("req -new -key key.pem -subj /CN=test -out request", "request"),
        ("req -in request -outform DER -out request.der", "request.der"),
    ] {
        assert!(openssl(command), "{command}");
        let bytes = read(name);
        let entries = Format::detect(&bytes).unwrap().read(name, &bytes);
        assert_eq!(entries, [(name.to_owned(), Ok(expected.clone()))], "{command}");
    }
    if openssl("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024 -out pss.pem") {
        assert!(openssl("pkey -in pss.pem -pubout -out pss"));
        assert!(Format::Pem.read("pss", &read("pss"))[0].1.is_ok());
    }
    for (algorithm, name) in
        [("ed25519", "Ed25519"), ("EC -pkeyopt ec_paramgen_curve:P-256", "elliptic curves")]
    {
        assert!(openssl(&format!("genpkey -algorithm {algorithm} -out other.pem")));
        assert!(openssl("pkey -in other.pem -pubout -out other"));
        assert_eq!(
            Format::Pem.read("other", &read("other"))[0].1,
            Err(EntryError::Algorithm(name.to_owned()))
        );
        assert_eq!(Format::Pem.read("other", &read("other.pem"))[0].1, Err(EntryError::Private));
    }
}

#[test]
fn private_keys_are_recovered() {
    let engine = engine();
    let p = primes(&engine, &mut Rng::new(41), 260, 4);
    let moduli = [&p[0] * &p[1], &p[0] * &p[2], &p[3] * &p[3], &p[3] * 15u8];
    let named = moduli.iter().enumerate().map(|(index, modulus)| (index.to_string(), key(modulus)));
    let collection = Collection::new(named);
    let findings = Audit::new(&engine, &Progress::new()).run(&collection).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recovered = recover(&engine, &collection, &findings, folder.path()).unwrap();
    assert_eq!(recovered.len(), 4);
    for (recovered, modulus) in recovered[..2].iter().zip(&moduli) {
        let Recovered::Written(path) = recovered else { panic!("{recovered:?}") };
        let private = PrivateKey::read(&std::fs::read(path).unwrap(), None, Sizes::AllowSmall).unwrap();
        assert_eq!(BigUint::from_bytes_be(private.public_key().modulus_bytes()), *modulus);
        assert_eq!(mode(path), 0o600);
    }
    assert!(recovered[2..].iter().all(|found| matches!(found, Recovered::Refused(_))), "{recovered:?}");
    // No file is written over.
    let Recovered::Written(path) = &recovered[0] else { panic!() };
    std::fs::write(path, "mine").unwrap();
    let again = recover(&engine, &collection, &findings, folder.path()).unwrap();
    assert_eq!(again[0], Recovered::Present(path.clone()));
    assert_eq!(std::fs::read(path).unwrap(), b"mine");
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &Path) -> u32 {
    0o600
}
