//! Keys: every format, and every way in which a key can be wrong.

use modmill::{Engine, primality};
use modmill_rsa::{AnyKey, Error, KeyError, ModulusFlaw, PrivateKey, PrivateParts, PublicKey, Sizes};
use num_bigint::BigUint;
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());
static KEY: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(&ENGINE, 2048, Sizes::Standard).unwrap());

/// The numbers of a key, which tests change.
#[derive(Clone)]
struct Numbers {
    n: BigUint,
    e: BigUint,
    d: BigUint,
    p: BigUint,
    q: BigUint,
    dp: Option<BigUint>,
    dq: Option<BigUint>,
    qi: Option<BigUint>,
}

impl Numbers {
    fn from_primes(p: BigUint, q: BigUint, e: u32) -> Self {
        let e = BigUint::from(e);
        let d = e.modinv(&((&p - 1u8) * (&q - 1u8))).unwrap();
        Self { n: &p * &q, e, d, p, q, dp: None, dq: None, qi: None }
    }

    fn read(&self, sizes: Sizes) -> Result<PrivateKey, KeyError> {
        let bytes = |number: &BigUint| number.to_bytes_be();
        let option = |number: &Option<BigUint>| number.as_ref().map(bytes);
        let [n, e, d, p, q] = [&self.n, &self.e, &self.d, &self.p, &self.q].map(bytes);
        let (dp, dq, qi) = (option(&self.dp), option(&self.dq), option(&self.qi));
        let parts = PrivateParts {
            modulus: &n,
            public_exponent: &e,
            private_exponent: &d,
            prime1: &p,
            prime2: &q,
            exponent1: dp.as_deref(),
            exponent2: dq.as_deref(),
            coefficient: qi.as_deref(),
        };
        PrivateKey::new(&parts, sizes)
    }
}

fn prime(bits: usize, seed: u64) -> BigUint {
    let mut candidate = modmill_testing::rng::Rng::new(seed).exact(bits);
    candidate.set_bit(bits as u64 - 2, true);
    candidate.set_bit(0, true);
    loop {
        let batch = modmill_testing::oracle::batch(std::slice::from_ref(&candidate));
        if primality::is_probable_prime(&ENGINE, &batch, &[2, 3, 5, 7]).unwrap()[0]
            && &candidate % 65_537u32 != BigUint::from(1u8)
        {
            return candidate;
        }
        candidate += 2u8;
    }
}

#[test]
fn keys_come_back_from_every_format() {
    let key = &*KEY;
    let der = key.to_der().unwrap();
    let written: Vec<(Vec<u8>, Option<&[u8]>)> = vec![
        (der.to_vec(), None),
        (key.to_pem().unwrap().as_bytes().to_vec(), None),
        (key.to_pkcs1_der().unwrap().to_vec(), None),
        (key.to_pkcs1_pem().unwrap().as_bytes().to_vec(), None),
        (key.to_encrypted_der(b"secret").unwrap(), Some(b"secret")),
        (key.to_encrypted_pem(b"secret").unwrap().into_bytes(), Some(b"secret")),
        (key.to_jwk().unwrap().as_bytes().to_vec(), None),
        ([b"some text\n\n", key.to_pem().unwrap().as_bytes(), b"\n\n"].concat(), None),
    ];
    for (bytes, password) in written {
        let read = PrivateKey::read(&bytes, password, Sizes::Standard).unwrap();
        assert_eq!(read.to_der().unwrap(), der);
    }
    let public = key.public_key();
    for bytes in [
        public.to_der().unwrap(),
        public.to_pem().unwrap().into_bytes(),
        public.to_pkcs1_der().unwrap(),
        public.to_pkcs1_pem().unwrap().into_bytes(),
        public.to_jwk().unwrap().into_bytes(),
        der.to_vec(),
    ] {
        assert_eq!(PublicKey::read(&bytes, Sizes::Standard).unwrap(), *public);
    }
    let refused = PrivateKey::read(&public.to_der().unwrap(), None, Sizes::Standard).unwrap_err();
    assert_eq!(refused, KeyError::NotPrivate);
}

#[test]
fn passwords_are_asked_for_and_checked() {
    let encrypted = KEY.to_encrypted_pem(b"secret").unwrap();
    let read = |password| PrivateKey::read(encrypted.as_bytes(), password, Sizes::Standard).unwrap_err();
    assert_eq!(read(None), KeyError::PasswordNeeded);
    assert_eq!(read(Some(b"Secret")), KeyError::WrongPassword);
    assert_eq!(read(Some(b"")), KeyError::WrongPassword);
}

#[test]
fn a_changed_key_is_refused_or_the_same_key() {
    let der = KEY.to_der().unwrap();
    for len in (0..der.len()).step_by(7) {
        assert!(AnyKey::read(&der[..len], None, Sizes::Standard).is_err(), "{len} bytes");
    }
    // Every number is checked against the others. Only the few bytes around the numbers may change.
    for place in (0..der.len()).step_by(3) {
        let mut bytes = der.to_vec();
        bytes[place] ^= 1 << (place % 8);
        if let Ok(AnyKey::Private(key)) = AnyKey::read(&bytes, None, Sizes::AllowSmall) {
            assert_eq!(key.to_der().unwrap(), der, "byte {place}");
        }
    }
    let longer = [&der[..], &[0]].concat();
    assert!(AnyKey::read(&longer, None, Sizes::Standard).is_err());
}

#[test]
fn inconsistent_keys_are_refused_with_the_reason() {
    let good = Numbers::from_primes(prime(300, 1), prime(300, 2), 65_537);
    assert!(good.read(Sizes::AllowSmall).is_ok());
    let mut wrong: Vec<(Numbers, &str)> = Vec::new();
    let mut add = |reason, change: &dyn Fn(&mut Numbers)| {
        let mut numbers = good.clone();
        change(&mut numbers);
        wrong.push((numbers, reason));
    };
    add("the modulus is not the product", &|k| k.n += 2u8);
    add("the modulus is not the product", &|k| k.p += 2u8);
    // The product of two factors of 32 Mbit would take minutes.
    add("the modulus is not the product", &|k| k.p.set_bit(1 << 25, true));
    add("the modulus is not the product", &|k| {
        k.p.set_bit(1 << 25, true);
        k.q.set_bit(1 << 25, true);
    });
    add("the modulus is even", &|k| k.n += 1u8);
    add("even or one", &|k| (k.p, k.q) = (k.n.clone(), BigUint::from(1u8)));
    add("not the inverse", &|k| k.d += 2u8);
    add("not the inverse", &|k| k.d = BigUint::from(0u8));
    add("longer than the modulus", &|k| k.d += BigUint::from(1u8) << 700);
    add("the first exponent", &|k| k.dp = Some(k.d.clone()));
    add("the second exponent", &|k| k.dq = Some(&k.d % &k.q));
    add("the coefficient", &|k| k.qi = Some(k.p.modinv(&k.q).unwrap()));
    add("no second prime factor", &|k| k.p = BigUint::ZERO);
    add("they cannot be computed", &|k| (k.p, k.q, k.d) = (BigUint::ZERO, BigUint::ZERO, &k.d + 2u8));
    add("the public exponent is even", &|k| k.e = BigUint::from(65_536u32));
    add("less than 3", &|k| k.e = BigUint::from(1u8));
    add("more than 256 bits", &|k| k.e = (BigUint::from(1u8) << 256) + 1u8);
    add("share a factor", &|k| {
        (k.q, k.n) = (k.p.clone(), &k.p * &k.p);
    });
    for (numbers, reason) in wrong {
        let error = numbers.read(Sizes::AllowSmall).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}; expected {reason}");
    }
}

#[test]
fn lengths_are_limited() {
    let small = Numbers::from_primes(prime(512, 3), prime(512, 4), 3 + 65_534);
    let refused = small.read(Sizes::Standard).unwrap_err();
    assert_eq!(refused, KeyError::TooShort { bits: 1024, limit: 2048 });
    assert!(small.read(Sizes::AllowSmall).is_ok());
    let tiny = PublicKey::new(&[0xff; 63], &[3], Sizes::AllowSmall).unwrap_err();
    assert_eq!(tiny, KeyError::TooShort { bits: 504, limit: 512 });
    assert!(PublicKey::new(&[0xff; 2048], &[3], Sizes::Standard).is_ok());
    let long = PublicKey::new(&[&[1u8][..], &[0xff; 2048]].concat(), &[3], Sizes::Standard).unwrap_err();
    assert_eq!(long, KeyError::TooLong { bits: 16_385, limit: 16_384 });
}

#[test]
fn factors_that_are_not_prime_are_found() {
    KEY.check_primes(&ENGINE).unwrap();
    // Reading a key does not notice that a factor is a product of two primes.
    let (a, b) = (prime(150, 5), prime(151, 6));
    let (p, q) = (&a * &b, prime(300, 7));
    let mut numbers = Numbers::from_primes(p, q, 65_537);
    numbers.e = BigUint::from(65_537u32);
    let key = numbers.read(Sizes::AllowSmall).unwrap();
    assert_eq!(key.check_primes(&ENGINE), Err(Error::Key(KeyError::NotPrime("p"))));
}

#[test]
fn other_keys_and_other_files_are_named() {
    // An Ed25519 public key, RFC 8410, section 10.1.
    let ed25519 = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
                   -----END PUBLIC KEY-----\n";
    for (bytes, reason) in [
        (ed25519.as_bytes(), "Ed25519"),
        (b"hello", "neither PEM nor DER nor JSON"),
        (b"", "neither PEM nor DER nor JSON"),
        (b"\x30", "not a key"),
        (b"{}", "JSON"),
        (b"{\"kty\":\"EC\",\"n\":\"\",\"e\":\"\"}", "\"EC\""),
        (b"{\"kty\":\"RSA\",\"n\":\"AQAB\"}", "no public exponent"),
        (b"{\"kty\":\"RSA\",\"n\":\"*\",\"e\":\"AQAB\"}", "not base64url"),
        (b"{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"d\":\"AQAB\"}", "at least 2048"),
        (b"{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"oth\":[]}", "more than two primes"),
        (b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", "openssl x509"),
        (b"-----BEGIN DH PARAMETERS-----\nMAA=\n-----END DH PARAMETERS-----\n", "DH PARAMETERS"),
        (b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n", "openssl pkcs8"),
        (b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n", "no END line"),
        (b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no END line"),
        (b"-----BEGIN PRIVATE KEY-----\nA*AA\n-----END PRIVATE KEY-----\n", "not base64"),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n", "ssh-keygen -p"),
        (b"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ== user@host\n", "ssh-keygen -e"),
    ] {
        let error = AnyKey::read(bytes, None, Sizes::Standard).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}; expected {reason}");
    }
}

/// OpenSSL reads PEM in these shapes, too.
#[test]
fn pem_is_read_with_anything_around_it() {
    let (key, der) = (&*KEY, KEY.to_der().unwrap());
    let pem = key.to_pem().unwrap();
    let public = key.public_key().to_pem().unwrap();
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let with_body = |body: &str| format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let wrapped = |width: usize| {
        let lines: Vec<&str> =
            (0..body.len()).step_by(width).map(|at| &body[at..(at + width).min(body.len())]).collect();
        with_body(&lines.join("\n"))
    };
    let other = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for text in [
        with_body(&body),
        wrapped(1),
        wrapped(76),
        wrapped(1000),
        pem.replace('\n', "\r\n"),
        pem.replace('\n', "\r"),
        pem.replace('\n', "  \n\t "),
        format!("\u{feff}{}", *pem),
        format!("0 subject: someone\nissuer: someone else\n\n{}and more\n", *pem),
        format!("{other}{}{other}", *pem),
        // The private key is read, wherever it stands.
        format!("{public}{}", *pem),
        format!("-----BEGIN PRIVATE KEY-----\nComment: a header\n\n{body}\n-----END PRIVATE KEY-----"),
    ] {
        let read = PrivateKey::read(text.as_bytes(), None, Sizes::Standard)
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read.to_der().unwrap(), der);
    }
    // Text that is not UTF-8, and text that begins as DER does.
    for start in [&b"Fran\xe7ois\n"[..], b"0\x82\x01\x01\n"] {
        let read = PrivateKey::read(&[start, pem.as_bytes()].concat(), None, Sizes::Standard).unwrap();
        assert_eq!(read.to_der().unwrap(), der);
    }
    // Of several keys the first is read.
    let second = PrivateKey::generate(&ENGINE, 512, Sizes::AllowSmall).unwrap().to_pem().unwrap();
    let read = PrivateKey::read(format!("{}{}", *pem, *second).as_bytes(), None, Sizes::Standard).unwrap();
    assert_eq!(read.to_der().unwrap(), der);
}

#[test]
fn web_keys_without_factors_are_completed() {
    let jwk: serde_json::Value = serde_json::from_str(&KEY.to_jwk().unwrap()).unwrap();
    let keep = |names: &[&str]| {
        let members: serde_json::Map<String, serde_json::Value> =
            names.iter().map(|&name| (name.to_owned(), jwk[name].clone())).collect();
        serde_json::Value::Object(members).to_string()
    };
    let der = KEY.to_der().unwrap();
    for names in [&["kty", "n", "e", "d"][..], &["kty", "n", "e", "d", "p", "q"]] {
        let read = PrivateKey::read(keep(names).as_bytes(), None, Sizes::Standard).unwrap();
        assert_eq!(read.to_der().unwrap(), der);
    }
    let error =
        PrivateKey::read(keep(&["kty", "n", "e", "d", "p"]).as_bytes(), None, Sizes::Standard).unwrap_err();
    assert_eq!(error, KeyError::Missing("second prime factor"));
    // A private exponent that fits no factors.
    let text = keep(&["kty", "n", "e", "d"]).replace(jwk["d"].as_str().unwrap(), jwk["n"].as_str().unwrap());
    assert_eq!(PrivateKey::read(text.as_bytes(), None, Sizes::Standard).unwrap_err(), KeyError::NoFactors);
}

#[test]
fn flaws_of_moduli_are_named() {
    let check = |modulus: &BigUint| {
        let key = PublicKey::new(&modulus.to_bytes_be(), &[1, 0, 1], Sizes::AllowSmall).unwrap();
        key.check_modulus(&ENGINE)
    };
    let flaw = |flaw| Err(Error::Key(KeyError::Modulus(flaw)));
    let (p, q) = (prime(300, 8), prime(301, 9));
    assert_eq!(check(&(&p * &q)), Ok(()));
    assert_eq!(KEY.public_key().check_modulus(&ENGINE), Ok(()));
    assert_eq!(check(&p.pow(2)), flaw(ModulusFlaw::PerfectPower(2)));
    assert_eq!(check(&p.pow(3)), flaw(ModulusFlaw::PerfectPower(3)));
    assert_eq!(check(&(&p * &q).pow(5)), flaw(ModulusFlaw::PerfectPower(5)));
    assert_eq!(check(&BigUint::from(3u8).pow(1300)), flaw(ModulusFlaw::SmallFactor(3)));
    assert_eq!(check(&(&p * &q * 65_521u32)), flaw(ModulusFlaw::SmallFactor(65_521)));
    // The least prime above the limit of trial division.
    assert_eq!(check(&(&p * &q * 65_537u32)), Ok(()));
    assert_eq!(check(&BigUint::from(65_537u32).pow(37)), flaw(ModulusFlaw::PerfectPower(37)));
    assert_eq!(check(&prime(521, 10)), flaw(ModulusFlaw::Prime));
}
