//! Signatures, encryption and digests, with the program `openssl` as a judge where it is found.

use crate::common::{key_pair, refused, session, slot};
use cryptoki::error::RvError;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, ObjectHandle};
use cryptoki::session::Session;
use std::io::Write;
use std::process::{Command, Stdio};

/// A key on a token, and its public half in a file for `openssl`.
struct Fixture {
    session: Session,
    public: ObjectHandle,
    private: ObjectHandle,
    folder: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let session = session(slot());
    let (public, private) = key_pair(&session, &[]);
    let folder = tempfile::tempdir().unwrap();
    let info = session.get_attributes(public, &[AttributeType::PublicKeyInfo]).unwrap();
    let [Attribute::PublicKeyInfo(der)] = &info[..] else { panic!("{info:?}") };
    std::fs::write(folder.path().join("public.der"), der).unwrap();
    Fixture { session, public, private, folder }
}

/// The output of `openssl` with these arguments, `NAME` standing for files in the fixture's folder; `None`
/// without `openssl`.
fn openssl(fixture: &Fixture, arguments: &[&str], input: &[u8]) -> Option<(bool, Vec<u8>)> {
    let started = Command::new("openssl")
        .args(arguments)
        .current_dir(fixture.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("LEFT OUT: there is no program openssl");
        return None;
    };
    // A program that ends early closes its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Some((output.status.success(), output.stdout))
}

fn pss(hash_alg: MechanismType, mgf: PkcsMgfType, salt: u64) -> PkcsPssParams {
    PkcsPssParams { hash_alg, mgf, s_len: salt.into() }
}

#[test]
fn openssl_verifies_every_signature() {
    let fixture = fixture();
    let Fixture { session, private, public, folder } = &fixture;
    let pss256 = |salt| pss(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, salt);
    let mixed = pss(MechanismType::SHA384, PkcsMgfType::MGF1_SHA256, 7);
    let cases: Vec<(Mechanism<'_>, &str, &[&str])> = vec![
        (Mechanism::Sha224RsaPkcs, "-sha224", &[]),
        (Mechanism::Sha256RsaPkcs, "-sha256", &[]),
        (Mechanism::Sha384RsaPkcs, "-sha384", &[]),
        (Mechanism::Sha512RsaPkcs, "-sha512", &[]),
        (Mechanism::Sha256RsaPkcsPss(pss256(32)), "-sha256", &["rsa_padding_mode:pss", "rsa_pss_saltlen:32"]),
        (Mechanism::Sha256RsaPkcsPss(pss256(0)), "-sha256", &["rsa_padding_mode:pss", "rsa_pss_saltlen:0"]),
        (
            Mechanism::Sha256RsaPkcsPss(pss256(222)),
            "-sha256",
            &["rsa_padding_mode:pss", "rsa_pss_saltlen:222"],
        ),
        (
            Mechanism::Sha384RsaPkcsPss(mixed),
            "-sha384",
            &["rsa_padding_mode:pss", "rsa_pss_saltlen:7", "rsa_mgf1_md:sha256"],
        ),
    ];
    let message = vec![b'm'; 10_000];
    for (mechanism, hash, options) in cases {
        let signature = session.sign(&mechanism, *private, &message).unwrap();
        // In pieces, also empty ones, the signature is one of the same message.
        session.sign_init(&mechanism, *private).unwrap();
        message.chunks(999).chain([&[][..]]).for_each(|piece| session.sign_update(piece).unwrap());
        let in_pieces = session.sign_final().unwrap();
        for signature in [&signature, &in_pieces] {
            session.verify(&mechanism, *public, &message, signature).unwrap();
            std::fs::write(folder.path().join("signature"), signature).unwrap();
            let mut arguments =
                vec!["dgst", hash, "-keyform", "DER", "-verify", "public.der", "-signature", "signature"];
            options.iter().for_each(|option| arguments.extend(["-sigopt", option]));
            assert!(openssl(&fixture, &arguments, &message).is_none_or(|(right, _)| right), "{mechanism:?}");
        }
        let mut wrong = signature.clone();
        wrong[100] ^= 1;
        assert_eq!(refused(session.verify(&mechanism, *public, &message, &wrong)), RvError::SignatureInvalid);
        let short = session.verify(&mechanism, *public, &message, &wrong[1..]);
        assert_eq!(refused(short), RvError::SignatureLenRange);
        session.verify_init(&mechanism, *public).unwrap();
        session.verify_update(b"another message").unwrap();
        assert_eq!(refused(session.verify_final(&signature)), RvError::SignatureInvalid);
    }
}

#[test]
fn data_is_signed_as_it_is() {
    let fixture = fixture();
    let Fixture { session, private, public, folder } = &fixture;
    for len in [0, 1, 51, 245] {
        let data = vec![0xa5; len];
        let signature = session.sign(&Mechanism::RsaPkcs, *private, &data).unwrap();
        session.verify(&Mechanism::RsaPkcs, *public, &data, &signature).unwrap();
        std::fs::write(folder.path().join("signature"), &signature).unwrap();
        let recover = [
            "pkeyutl",
            "-verifyrecover",
            "-keyform",
            "DER",
            "-pubin",
            "-inkey",
            "public.der",
            "-in",
            "signature",
        ];
        assert!(openssl(&fixture, &recover, &[]).is_none_or(|found| found == (true, data)), "{len}");
    }
    assert_eq!(refused(session.sign(&Mechanism::RsaPkcs, *private, &[1; 246])), RvError::DataLenRange);
    let wrong = session.verify(&Mechanism::RsaPkcs, *public, b"x", &[0xff; 256]);
    assert_eq!(refused(wrong), RvError::SignatureInvalid);
    // A digest of another length than the hash of the parameters.
    let mechanism = Mechanism::RsaPkcsPss(pss(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, 32));
    assert_eq!(session.sign(&mechanism, *private, &[1; 32]).unwrap().len(), 256);
    assert_eq!(refused(session.sign(&mechanism, *private, &[1; 31])), RvError::DataLenRange);
    // The hash of the mechanism and that of its parameters differ; the salt has no room.
    let differs = Mechanism::Sha512RsaPkcsPss(pss(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, 32));
    assert_eq!(refused(session.sign_init(&differs, *private)), RvError::MechanismParamInvalid);
    let long = Mechanism::RsaPkcsPss(pss(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, 223));
    assert_eq!(refused(session.sign(&long, *private, &[1; 32])), RvError::KeySizeRange);
    assert_eq!(refused(session.sign_init(&Mechanism::Sha1RsaPkcs, *private)), RvError::MechanismInvalid);
    assert_eq!(refused(session.sign_init(&Mechanism::RsaPkcs, *public)), RvError::KeyTypeInconsistent);
}

#[test]
fn numbers_without_a_padding() {
    let Fixture { session, private, public, .. } = fixture();
    let ciphertext = session.encrypt(&Mechanism::RsaX509, public, b"\x01number").unwrap();
    let plain = session.decrypt(&Mechanism::RsaX509, private, &ciphertext).unwrap();
    assert_eq!((plain.len(), &plain[249..]), (256, &b"\x01number"[..]));
    let signature = session.sign(&Mechanism::RsaX509, private, b"number").unwrap();
    session.verify(&Mechanism::RsaX509, public, b"number", &signature).unwrap();
    assert_eq!(refused(session.encrypt(&Mechanism::RsaX509, public, &[0xff; 256])), RvError::DataLenRange);
    assert_eq!(
        refused(session.decrypt(&Mechanism::RsaX509, private, &[0xff; 256])),
        RvError::EncryptedDataInvalid
    );
}

#[test]
fn openssl_encrypts_and_the_token_decrypts() {
    let fixture = fixture();
    let Fixture { session, private, public, folder } = &fixture;
    let label = b"label".to_vec();
    let oaep = |hash, mgf, label| Mechanism::RsaPkcsOaep(PkcsOaepParams::new(hash, mgf, label));
    let cases: Vec<(Mechanism<'_>, usize, Vec<&str>)> = vec![
        (Mechanism::RsaPkcs, 245, vec!["rsa_padding_mode:pkcs1"]),
        (
            oaep(MechanismType::SHA1, PkcsMgfType::MGF1_SHA1, PkcsOaepSource::empty()),
            214,
            vec!["rsa_padding_mode:oaep"],
        ),
        (
            oaep(MechanismType::SHA256, PkcsMgfType::MGF1_SHA1, PkcsOaepSource::data_specified(&label)),
            190,
            vec![
                "rsa_padding_mode:oaep",
                "rsa_oaep_md:sha256",
                "rsa_mgf1_md:sha1",
                "rsa_oaep_label:6c6162656c",
            ],
        ),
        (
            oaep(MechanismType::SHA512, PkcsMgfType::MGF1_SHA512, PkcsOaepSource::empty()),
            126,
            vec!["rsa_padding_mode:oaep", "rsa_oaep_md:sha512"],
        ),
    ];
    for (mechanism, longest, options) in cases {
        for len in [0, 1, longest] {
            let message = vec![0x5a; len];
            let own = session.encrypt(&mechanism, *public, &message).unwrap();
            assert_eq!(session.decrypt(&mechanism, *private, &own).unwrap(), message);
            std::fs::write(folder.path().join("message"), &message).unwrap();
            let mut arguments = vec![
                "pkeyutl",
                "-encrypt",
                "-keyform",
                "DER",
                "-pubin",
                "-inkey",
                "public.der",
                "-in",
                "message",
            ];
            options.iter().for_each(|option| arguments.extend(["-pkeyopt", option]));
            if let Some((encrypted, ciphertext)) = openssl(&fixture, &arguments, &[]) {
                assert!(encrypted, "{arguments:?}");
                session.decrypt_init(&mechanism, *private).unwrap();
                ciphertext
                    .chunks(100)
                    .for_each(|piece| assert!(session.decrypt_update(piece).unwrap().is_empty()));
                assert_eq!(session.decrypt_final().unwrap(), message, "{mechanism:?}");
            }
        }
        assert_eq!(
            refused(session.encrypt(&mechanism, *public, &vec![1; longest + 1])),
            RvError::DataLenRange
        );
        let short = session.decrypt(&mechanism, *private, &[1; 255]);
        assert_eq!(refused(short), RvError::EncryptedDataLenRange);
        // A wrong ciphertext: OAEP refuses it, and PKCS #1 v1.5 gives a substitute, the same each time.
        let wrong = || session.decrypt(&mechanism, *private, &[7; 256]);
        match mechanism {
            Mechanism::RsaPkcs => assert_eq!(wrong().unwrap(), wrong().unwrap()),
            _ => assert_eq!(refused(wrong()), RvError::EncryptedDataInvalid),
        }
    }
}

#[test]
fn digests_are_those_of_openssl() {
    let fixture = fixture();
    let session = &fixture.session;
    let message = vec![b'd'; 5000];
    for (mechanism, name) in [
        (Mechanism::Sha1, "-sha1"),
        (Mechanism::Sha224, "-sha224"),
        (Mechanism::Sha256, "-sha256"),
        (Mechanism::Sha384, "-sha384"),
        (Mechanism::Sha512, "-sha512"),
    ] {
        let digest = session.digest(&mechanism, &message).unwrap();
        session.digest_init(&mechanism).unwrap();
        message.chunks(77).for_each(|piece| session.digest_update(piece).unwrap());
        assert_eq!(session.digest_final().unwrap(), digest);
        let judge = openssl(&fixture, &["dgst", name, "-binary"], &message);
        assert!(judge.is_none_or(|judge| judge == (true, digest)), "{name}");
    }
}

#[test]
fn one_operation_of_a_sort_at_a_time() {
    let Fixture { session, private, public, .. } = fixture();
    let mechanism = Mechanism::Sha256RsaPkcs;
    assert_eq!(refused(session.sign_update(b"x")), RvError::OperationNotInitialized);
    session.sign_init(&mechanism, private).unwrap();
    assert_eq!(refused(session.sign_init(&mechanism, private)), RvError::OperationActive);
    // Operations of other sorts go on during it.
    session.verify_init(&mechanism, public).unwrap();
    session.digest_init(&Mechanism::Sha256).unwrap();
    session.find_objects(&[]).unwrap();
    session.sign_update(b"message").unwrap();
    let signature = session.sign_final().unwrap();
    session.verify_update(b"message").unwrap();
    session.verify_final(&signature).unwrap();
    assert_eq!(session.digest_final().unwrap().len(), 32);
    assert_eq!(refused(session.sign_final()), RvError::OperationNotInitialized);
    let random: Vec<Vec<u8>> = (0..2).map(|_| session.generate_random_vec(5000).unwrap()).collect();
    assert!(random[0].len() == 5000 && random[0] != random[1]);
}
