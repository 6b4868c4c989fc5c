//! The bodies of the fuzz targets. They are here so that plain `cargo test` runs them too.

use crate::oracle;
use modmill::{Batch, Engine, Error, ItemErrorKind, Modulus, Public, hex};
use modmill_rsa::{AnyKey, PrivateKey, PublicKey, Sizes};
use num_bigint::BigUint;
use std::sync::OnceLock;

/// Text to numbers and back: nothing panics, what is accepted is what was written, and what is
/// refused has a reason that names its place.
///
/// The input is cut at whatever separates fields in JSON Lines, so that mutations of real files
/// reach the parser.
///
/// # Panics
/// When the parser is wrong.
pub fn parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let fields: Vec<&str> = text.split(['\n', '"', ',', ':', '{', '}']).collect();
    let mut good = Vec::new();
    for field in &fields {
        let body = field.strip_prefix("0x").or_else(|| field.strip_prefix("0X")).unwrap_or(field);
        let is_number = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_hexdigit());
        match hex::parse(field) {
            Ok(limbs) => {
                assert!(is_number, "accepted {field:?}");
                assert_eq!(limbs.len(), hex::declared_bits(field).div_ceil(64));
                let canonical = body.trim_start_matches('0').to_ascii_lowercase();
                let canonical = if canonical.is_empty() { "0".to_owned() } else { canonical };
                assert_eq!(hex::format(&limbs), canonical);
                assert_eq!(BigUint::parse_bytes(body.as_bytes(), 16), Some(oracle::number(&limbs)));
                good.push((*field, canonical));
            }
            Err(reason) => {
                assert!(!is_number, "refused {field:?}: {reason}");
                if let hex::HexError::Digit { character, position } = reason {
                    assert_eq!(field.chars().nth(position), Some(character), "{field:?}");
                }
            }
        }
    }
    match Batch::from_hex(&fields) {
        Ok(batch) => assert_eq!((good.len(), batch.len()), (fields.len(), fields.len())),
        Err(Error::Hex { index, .. }) => assert!(hex::parse(fields[index]).is_err()),
        Err(other) => panic!("unexpected error {other}"),
    }
    let batch = Batch::from_hex(good.iter().map(|(field, _)| field)).expect("all fields are numbers");
    for (index, (field, canonical)) in good.iter().enumerate() {
        assert_eq!(&batch.to_hex(index), canonical);
        assert!(hex::declared_bits(field) <= batch.bits());
        let bytes = batch.to_be_bytes(index);
        assert_eq!(Batch::from_be_bytes([&bytes]).to_hex(0), *canonical);
    }
}

/// Powers of arbitrary bases, exponents and moduli, lengths and all, on every path of this
/// machine, against the slow reference.
///
/// # Panics
/// When an answer is wrong.
pub fn pow(data: &[u8]) {
    let mut rest = data;
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count.min(rest.len()));
        rest = left;
        taken
    };
    let (mut bases, mut exponents, mut moduli) = (Vec::new(), Vec::new(), Vec::new());
    while let &[lengths, modulus_length, exponent_length] = take(3) {
        moduli.push(take(usize::from(modulus_length % 80)));
        exponents.push(take(usize::from(exponent_length % 12)));
        bases.push(take(usize::from(lengths) * 2 / 3));
        if moduli.len() == 20 {
            break;
        }
    }
    let numbers =
        |items: &[&[u8]]| -> Vec<BigUint> { items.iter().map(|item| BigUint::from_bytes_be(item)).collect() };
    let [bases, exponents, moduli] =
        [bases, exponents, moduli].map(|items| (Batch::from_be_bytes(&items), numbers(&items)));
    let expected: Vec<Option<BigUint>> = (0..moduli.1.len())
        .map(|item| {
            let is_zero = moduli.1[item] == BigUint::ZERO;
            (!is_zero).then(|| oracle::reference_pow(&bases.1[item], &exponents.1[item], &moduli.1[item]))
        })
        .collect();
    for engine in engines() {
        let path = engine.paths();
        for found in [
            engine.pow(&bases.0, &exponents.0, &moduli.0),
            engine.pow(&bases.0, Public(&exponents.0), &moduli.0),
            engine.multi_pow(&[(&bases.0).into()], &[(&exponents.0).into()], &moduli.0),
        ] {
            let (answers, failed) = match found {
                Ok(answers) => (answers, Vec::new()),
                Err(Error::Items(partial)) => (partial.answers, partial.failed),
                Err(other) => panic!("{path:?}: {other}"),
            };
            for (item, expected) in expected.iter().enumerate() {
                let error = failed.iter().find(|error| error.index == item).map(|error| error.kind);
                let found = oracle::number(answers.get(item));
                match expected {
                    Some(expected) => assert_eq!((&found, error), (expected, None), "{path:?}, item {item}"),
                    None => assert_eq!(error, Some(ItemErrorKind::ZeroModulus), "{path:?}, item {item}"),
                }
            }
        }
        fixed_base(engine, &bases.0, &exponents.0, &moduli.0);
    }
}

/// The powers of the first base by all exponents modulo the first modulus are those of [`Engine::pow`].
fn fixed_base(engine: &Engine, bases: &Batch, exponents: &Batch, moduli: &Batch) {
    if moduli.is_empty() {
        return;
    }
    let Ok(modulus) = Modulus::new(moduli.get(0)) else { return };
    let powers = engine.pow(bases.shared(0), exponents, &modulus);
    let fixed = engine.fixed_base(bases.shared(0), &modulus, exponents.bits()).expect("it is one number");
    let path = engine.paths();
    assert_eq!(engine.pow_fixed_base(&fixed, exponents), powers, "{path:?}");
    assert_eq!(engine.pow_fixed_base(&fixed, Public(exponents)), powers, "{path:?}");
}

/// An engine for each path of this machine, one thread each.
fn engines() -> &'static [Engine] {
    static ENGINES: OnceLock<Vec<Engine>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let paths = Engine::new().expect("some path works").paths();
        let engine = |path| Engine::builder().path(path).threads(1).build();
        paths.into_iter().map(|path| engine(path).expect("a path that was reported works")).collect()
    })
}

/// Reads an RSA key from any bytes, without and with a password: nothing panics, and a key that is read comes
/// back from every format that it is written in.
///
/// # Panics
/// When a key does not come back.
pub fn rsa_key(data: &[u8]) {
    for password in [None, Some(PASSWORD)] {
        read_rsa_key(data, password);
    }
}

/// The password of the encrypted keys in the corpus.
const PASSWORD: &[u8] = b"secret";

fn read_rsa_key(data: &[u8], password: Option<&[u8]>) {
    let written = "a key that was read can be written";
    match AnyKey::read(data, password, Sizes::AllowSmall) {
        Ok(AnyKey::Private(key)) => {
            let der = key.to_der().expect(written);
            let (pem, jwk) = (key.to_pem().expect(written), key.to_jwk().expect(written));
            for bytes in [&der[..], pem.as_bytes(), jwk.as_bytes(), &key.to_pkcs1_der().expect(written)] {
                let read = PrivateKey::read(bytes, None, Sizes::AllowSmall).expect("our own key");
                assert_eq!(read.to_der().expect(written), der);
            }
        }
        Ok(AnyKey::Public(key)) => {
            let (pem, jwk) = (key.to_pem().expect(written), key.to_jwk().expect(written));
            for bytes in [&key.to_der().expect(written)[..], pem.as_bytes(), jwk.as_bytes()] {
                assert_eq!(PublicKey::read(bytes, Sizes::AllowSmall), Ok(key.clone()));
            }
        }
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn random_text_is_parsed_or_refused() {
        let mut rng = Rng::new(31);
        let alphabet = b"0123456789abcdefABCDEFxX0x\n\",:{}g- \xc3\xa9";
        for _ in 0..3000 {
            let length = rng.below(120);
            let text: Vec<u8> = (0..length).map(|_| *rng.pick(alphabet)).collect();
            parse(&text);
            parse(&rng.bytes(20));
        }
        parse(b"");
        parse(br#"{"base":"0x10001","exp":"3","mod":"ff"}"#);
    }

    #[test]
    fn random_bytes_as_powers_agree_with_the_reference() {
        let mut rng = Rng::new(32);
        for _ in 0..150 {
            let length = rng.below(600);
            let mut bytes = rng.bytes(length);
            // Zeros and ones in a row, as a fuzzer likes them.
            let (at, count) = (rng.below(length + 1), rng.below(100));
            let end = (at + count).min(length);
            bytes[at..end].fill(*rng.pick(&[0, 0xff]));
            pow(&bytes);
        }
        pow(&[]);
    }
    #[test]
    fn spoilt_keys_are_read_or_refused() {
        let key = PrivateKey::generate(&engines()[0], 512, Sizes::AllowSmall).unwrap();
        // Keys under a password with little work in it, so that changed ones are read quickly.
        let [scrypt, pbkdf2] = ["scrypt.der", "pbkdf2.der"].map(|name| {
            let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/fuzz/corpus/rsa_key");
            std::fs::read(format!("{corpus}/{name}")).unwrap()
        });
        for encrypted in [&scrypt, &pbkdf2] {
            assert!(AnyKey::read(encrypted, Some(PASSWORD), Sizes::AllowSmall).is_ok());
        }
        let seeds = [
            scrypt,
            pbkdf2,
            key.to_der().unwrap().to_vec(),
            key.to_pem().unwrap().as_bytes().to_vec(),
            key.to_jwk().unwrap().as_bytes().to_vec(),
            key.public_key().to_der().unwrap(),
            key.public_key().to_pkcs1_pem().unwrap().into_bytes(),
        ];
        let mut rng = Rng::new(33);
        for seed in &seeds {
            rsa_key(seed);
            for _ in 0..400 {
                let mut bytes = seed.clone();
                for _ in 0..=rng.below(3) {
                    let at = rng.below(bytes.len());
                    match rng.below(4) {
                        0 => bytes[at] = rng.word() as u8,
                        1 => bytes[at] ^= 1 << rng.below(8),
                        2 => bytes.truncate(at + 1),
                        _ => bytes.insert(at, rng.word() as u8),
                    }
                }
                rsa_key(&bytes);
            }
        }
        rsa_key(b"");
        rsa_key(&rng.bytes(200));
        // The cost N of scrypt is zero.
        let at = seeds[0].windows(4).position(|window| window == [2, 1, 16, 2]).expect("N = 16");
        let mut zero = seeds[0].clone();
        zero[at + 2] = 0;
        rsa_key(&zero);
    }
}
