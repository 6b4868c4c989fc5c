//! Restrictions of keys: mechanisms, logins and lengths.

use crate::common::{key_pair, module, refused, session, slot};
use cryptoki::error::RvError;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass};
use modmill_client::with_engine;
use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};

fn pss() -> Mechanism<'static> {
    Mechanism::Sha256RsaPkcsPss(PkcsPssParams {
        hash_alg: MechanismType::SHA256,
        mgf: PkcsMgfType::MGF1_SHA256,
        s_len: 32.into(),
    })
}

#[test]
fn a_key_is_used_with_its_mechanisms_only() {
    let session = session(slot());
    let allowed = Attribute::AllowedMechanisms(vec![MechanismType::SHA256_RSA_PKCS_PSS]);
    let (public, private) = key_pair(&session, std::slice::from_ref(&allowed));
    let read = session.get_attributes(private, &[AttributeType::AllowedMechanisms]).unwrap();
    assert_eq!(read, std::slice::from_ref(&allowed));
    assert_eq!(session.find_objects(std::slice::from_ref(&allowed)).unwrap(), [private]);
    let signature = session.sign(&pss(), private, b"message").unwrap();
    session.verify(&pss(), public, b"message", &signature).unwrap();
    for other in [Mechanism::Sha256RsaPkcs, Mechanism::RsaPkcs, Mechanism::RsaX509] {
        assert_eq!(refused(session.sign_init(&other, private)), RvError::MechanismInvalid, "{other:?}");
    }
    assert_eq!(refused(session.decrypt_init(&Mechanism::RsaPkcs, private)), RvError::MechanismInvalid);
    // Nobody takes the restriction off, and copies have it too.
    let wider = Attribute::AllowedMechanisms(vec![MechanismType::RSA_PKCS]);
    let change = session.update_attributes(private, std::slice::from_ref(&wider));
    assert_eq!(refused(change), RvError::AttributeReadOnly);
    assert_eq!(
        refused(session.copy_object(private, std::slice::from_ref(&wider))),
        RvError::AttributeReadOnly
    );
    let copy = session.copy_object(private, &[Attribute::Token(false)]).unwrap();
    assert_eq!(refused(session.sign_init(&Mechanism::RsaPkcs, copy)), RvError::MechanismInvalid);
    // Public and secret keys have it as well. An empty list is none.
    let modulus = session.get_attributes(public, &[AttributeType::Modulus]).unwrap();
    let kind = [Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::KeyType(KeyType::RSA)];
    let import = |more: &[Attribute]| {
        let exponent = Attribute::PublicExponent(vec![1, 0, 1]);
        session.create_object(&[&kind[..], &modulus, &[exponent], more].concat()).unwrap()
    };
    let restricted = import(&[wider]);
    let verify = |key| session.verify(&pss(), key, b"message", &signature);
    assert_eq!(refused(verify(restricted)), RvError::MechanismInvalid);
    verify(import(&[Attribute::AllowedMechanisms(vec![])])).unwrap();
    let wrapper =
        [Attribute::ValueLen(32.into()), Attribute::AllowedMechanisms(vec![MechanismType::AES_KEY_WRAP_PAD])];
    let wrapper = session.generate_key(&Mechanism::AesKeyGen, &wrapper).unwrap();
    let (_, open) = key_pair(&session, &[Attribute::Extractable(true)]);
    session.wrap_key(&Mechanism::AesKeyWrapPad, wrapper, open).unwrap();
    assert_eq!(refused(session.wrap_key(&Mechanism::AesKeyWrap, wrapper, open)), RvError::MechanismInvalid);
}

#[test]
fn session_keys_need_no_login() {
    let slot = slot();
    let session = module().open_rw_session(slot).unwrap();
    let public = [Attribute::ModulusBits(2048.into())];
    let generate =
        |private: &[Attribute]| session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, private);
    let open = Attribute::Private(false);
    let (_, key) = generate(std::slice::from_ref(&open)).unwrap();
    assert_eq!(session.sign(&Mechanism::Sha256RsaPkcs, key, b"message").unwrap().len(), 256);
    session.generate_key(&Mechanism::AesKeyGen, &[Attribute::ValueLen(16.into()), open.clone()]).unwrap();
    // A key that is private needs the login, and one on the token is private.
    assert_eq!(refused(generate(&[])), RvError::UserNotLoggedIn);
    assert_eq!(refused(generate(&[open.clone(), Attribute::Token(true)])), RvError::TemplateInconsistent);
    assert_eq!(refused(session.copy_object(key, &[Attribute::Token(true)])), RvError::TemplateInconsistent);
    let kept = [Attribute::Token(true), Attribute::Private(true)];
    assert_eq!(refused(session.copy_object(key, &kept)), RvError::UserNotLoggedIn);
    let asking = generate(&[open, Attribute::AlwaysAuthenticate(true)]);
    assert_eq!(refused(asking), RvError::TemplateInconsistent);
}

#[test]
fn short_public_keys_verify_and_do_nothing_else() {
    let session = session(slot());
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    for bits in [1024, 1536] {
        let (key, signature) = with_engine(|engine| {
            let key = PrivateKey::generate(engine, bits, Sizes::AllowSmall).unwrap();
            let signature = Rsa::new(engine).sign(&key, scheme, &["message"]).unwrap().remove(0).unwrap();
            (key, signature)
        })
        .unwrap();
        let public = [
            Attribute::Class(ObjectClass::PUBLIC_KEY),
            Attribute::KeyType(KeyType::RSA),
            Attribute::Token(true),
            Attribute::Wrap(true),
            Attribute::Modulus(key.public_key().modulus_bytes().to_vec()),
            Attribute::PublicExponent(key.public_key().exponent_bytes()),
        ];
        let public = session.create_object(&public).unwrap();
        session.verify(&Mechanism::Sha256RsaPkcs, public, b"message", &signature).unwrap();
        let encrypt = session.encrypt_init(&Mechanism::RsaPkcs, public);
        assert_eq!(refused(encrypt), RvError::KeySizeRange);
        let secret = [Attribute::ValueLen(16.into()), Attribute::Extractable(true)];
        let secret = session.generate_key(&Mechanism::AesKeyGen, &secret).unwrap();
        assert_eq!(refused(session.wrap_key(&Mechanism::RsaPkcs, public, secret)), RvError::KeySizeRange);
    }
}
