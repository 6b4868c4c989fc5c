//! Keys in every form.

use modmill_ec::{AnyKey, Curve, KeyError, PrivateKey, PublicKey};

#[test]
fn keys_are_read_as_they_are_written() {
    for curve in Curve::all() {
        let key = PrivateKey::generate(curve).unwrap();
        let mut forms = vec![
            key.to_der().unwrap().to_vec(),
            key.to_pem().unwrap().as_bytes().to_vec(),
            key.to_jwk().unwrap().as_bytes().to_vec(),
        ];
        if curve.is_weierstrass() {
            forms.push(key.to_sec1_der().unwrap().to_vec());
            forms.push(key.to_sec1_pem().unwrap().as_bytes().to_vec());
        } else {
            assert_eq!(key.to_sec1_der().unwrap_err(), KeyError::NoSec1(curve));
        }
        for form in forms {
            let read = PrivateKey::read(&form).unwrap();
            assert_eq!((read.to_raw(), read.public_key()), (key.to_raw(), key.public_key()));
            // Every cut is refused, and nothing panics.
            for len in 0..form.len() {
                assert!(AnyKey::read(&form[..len]).is_err() || form[len..].trim_ascii().is_empty());
            }
        }
        let public = key.public_key();
        for form in
            [public.to_der().unwrap(), public.to_pem().unwrap().into(), public.to_jwk().unwrap().into()]
        {
            assert_eq!(&PublicKey::read(&form).unwrap(), public);
            assert_eq!(PrivateKey::read(&form).unwrap_err(), KeyError::NotPrivate);
        }
        assert_eq!(PrivateKey::from_raw(curve, &key.to_raw()).unwrap().public_key(), public);
        assert_eq!(&PublicKey::from_raw(curve, public.as_ref()).unwrap(), public);
        assert_eq!(format!("{key:?}"), format!("PrivateKey({curve})"));
    }
}

#[test]
fn compressed_points_are_read() {
    for curve in Curve::all().filter(|curve| curve.is_weierstrass()) {
        for key in (0..4).map(|_| PrivateKey::generate(curve).unwrap()) {
            let bytes = key.public_key().as_ref();
            let prefix = 2 + (bytes.last().unwrap() & 1);
            let compressed = [&[prefix], &bytes[1..=curve.size()]].concat();
            assert_eq!(&PublicKey::from_raw(curve, &compressed).unwrap(), key.public_key());
        }
    }
}

#[test]
fn halves_that_do_not_belong_together_are_refused() {
    for curve in Curve::all() {
        let [a, b] = [(); 2].map(|()| PrivateKey::generate(curve).unwrap());
        let (of_a, of_b) = (a.to_jwk().unwrap(), b.to_jwk().unwrap());
        let secret = |jwk: &str| jwk[jwk.find("\"d\"").unwrap()..].to_owned();
        let mixed = of_a.replace(&secret(&of_a), &secret(&of_b));
        assert_eq!(AnyKey::read(mixed.as_bytes()).unwrap_err(), KeyError::Inconsistent, "{curve}");
    }
}

#[test]
fn other_things_are_refused_by_name() {
    for (text, part) in [
        ("", "neither PEM"),
        ("{}", "JSON"),
        (r#"{"kty":"EC","crv":"P-192","x":"AA"}"#, "P-192"),
        (r#"{"kty":"OKP","crv":"P-256","x":"AA"}"#, "OKP"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAEC\n-----END ENCRYPTED PRIVATE KEY-----", "openssl pkey"),
        ("-----BEGIN RSA PRIVATE KEY-----\nAAEC\n-----END RSA PRIVATE KEY-----", "RSA PRIVATE KEY"),
    ] {
        let error = AnyKey::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
