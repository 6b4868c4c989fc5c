//! Keys under keys.

use crate::common::{key_pair, refused, session, slot};
use cryptoki::error::RvError;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;

fn aes_key(session: &Session, more: &[Attribute]) -> ObjectHandle {
    let template = [&[Attribute::ValueLen(32.into())], more].concat();
    session.generate_key(&Mechanism::AesKeyGen, &template).unwrap()
}

fn oaep() -> Mechanism<'static> {
    Mechanism::RsaPkcsOaep(PkcsOaepParams::new(
        MechanismType::SHA256,
        PkcsMgfType::MGF1_SHA256,
        PkcsOaepSource::empty(),
    ))
}

const PRIVATE: [Attribute; 2] =
    [Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::KeyType(KeyType::RSA)];
const SECRET: [Attribute; 2] = [Attribute::Class(ObjectClass::SECRET_KEY), Attribute::KeyType(KeyType::AES)];

#[test]
fn a_private_key_travels_under_an_aes_key() {
    let session = session(slot());
    let (_, private) = key_pair(&session, &[Attribute::Extractable(true)]);
    let wrapper = aes_key(&session, &[]);
    // The DER of a key of 2048 bits is seldom a multiple of eight bytes, as the form without padding needs.
    let mechanism = Mechanism::AesKeyWrapPad;
    let wrapped = session.wrap_key(&mechanism, wrapper, private).unwrap();
    let back = session.unwrap_key(&mechanism, wrapper, &wrapped, &PRIVATE).unwrap();
    let sign = |key| session.sign(&Mechanism::Sha256RsaPkcs, key, b"message").unwrap();
    assert_eq!(sign(back), sign(private));
    let flags = [AttributeType::Sensitive, AttributeType::Extractable, AttributeType::Local];
    let expected = [Attribute::Sensitive(true), Attribute::Extractable(false), Attribute::Local(false)];
    assert_eq!(session.get_attributes(back, &flags).unwrap(), expected);
    for bit in [0, 70, 8 * wrapped.len() - 1] {
        let mut wrong = wrapped.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        let unwrapped = session.unwrap_key(&mechanism, wrapper, &wrong, &PRIVATE);
        assert_eq!(refused(unwrapped), RvError::WrappedKeyInvalid);
    }
    let other = session.unwrap_key(&mechanism, aes_key(&session, &[]), &wrapped, &PRIVATE);
    assert_eq!(refused(other), RvError::WrappedKeyInvalid);
}

#[test]
fn an_aes_key_travels_under_rsa() {
    let session = session(slot());
    let (public, private) = key_pair(&session, &[Attribute::Unwrap(true)]);
    let key = aes_key(&session, &[Attribute::Extractable(true), Attribute::Sensitive(false)]);
    let value = |key| session.get_attributes(key, &[AttributeType::Value]).unwrap();
    assert_eq!(refused(session.wrap_key(&oaep(), public, key)), RvError::KeyFunctionNotPermitted);
    session.update_attributes(public, &[Attribute::Wrap(true)]).unwrap();
    let open = [&SECRET[..], &[Attribute::Extractable(true), Attribute::Sensitive(false)]].concat();
    for mechanism in [oaep(), Mechanism::RsaPkcs] {
        let wrapped = session.wrap_key(&mechanism, public, key).unwrap();
        let back = session.unwrap_key(&mechanism, private, &wrapped, &open).unwrap();
        assert_eq!(value(back), value(key));
    }
    // The other way round, and under another AES key without padding.
    let wrapper = aes_key(&session, &[]);
    let wrapped = session.wrap_key(&Mechanism::AesKeyWrap, wrapper, key).unwrap();
    assert_eq!(wrapped.len(), 40);
    let back = session.unwrap_key(&Mechanism::AesKeyWrap, wrapper, &wrapped, &open).unwrap();
    assert_eq!(value(back), value(key));
    assert_eq!(
        refused(session.wrap_key(&Mechanism::AesKeyWrap, public, key)),
        RvError::WrappingKeyTypeInconsistent
    );
    assert_eq!(refused(session.unwrap_key(&oaep(), private, &[1; 256], &SECRET)), RvError::WrappedKeyInvalid);
}

#[test]
fn keys_that_stay_are_not_wrapped() {
    let session = session(slot());
    let (_, private) = key_pair(&session, &[]);
    let wrapper = aes_key(&session, &[]);
    let wrap = |key| session.wrap_key(&Mechanism::AesKeyWrap, wrapper, key);
    assert_eq!(refused(wrap(private)), RvError::KeyUnextractable);
    let trusting = aes_key(&session, &[Attribute::Extractable(true), Attribute::WrapWithTrusted(true)]);
    assert_eq!(refused(wrap(trusting)), RvError::KeyNotWrappable);
    let trusted = session.update_attributes(wrapper, &[Attribute::Trusted(true)]);
    assert_eq!(refused(trusted), RvError::AttributeReadOnly);
}
