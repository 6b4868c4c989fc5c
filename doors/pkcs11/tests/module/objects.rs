//! Objects and attributes.

use crate::common::{USER, key_pair, module, pin, refused, session, slot};
use cryptoki::error::RvError;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{
    Attribute, AttributeInfo, AttributeType, CertificateType, KeyType, ObjectClass, ObjectHandle,
};
use cryptoki::session::{Session, UserType};

fn label(text: &str) -> Attribute {
    Attribute::Label(text.as_bytes().to_vec())
}

fn read(session: &Session, object: ObjectHandle, attribute: AttributeType) -> Vec<Attribute> {
    session.get_attributes(object, &[attribute]).unwrap()
}

#[test]
fn data_and_certificates_are_kept() {
    let session = session(slot());
    let data = [
        Attribute::Class(ObjectClass::DATA),
        Attribute::Token(true),
        label("data"),
        Attribute::Value(vec![7; 3000]),
    ];
    let certificate = [
        Attribute::Class(ObjectClass::CERTIFICATE),
        Attribute::CertificateType(CertificateType::X_509),
        Attribute::Token(true),
        Attribute::Id(vec![1]),
        Attribute::Value(vec![0x30; 100]),
        Attribute::Subject(vec![0x30, 0]),
    ];
    let data = session.create_object(&data).unwrap();
    let certificate = session.create_object(&certificate).unwrap();
    assert_eq!(read(&session, data, AttributeType::Value), [Attribute::Value(vec![7; 3000])]);
    session.logout().unwrap();
    // Certificates are there before a login, and data is not.
    assert_eq!(session.find_objects(&[]).unwrap(), [certificate]);
    assert_eq!(session.find_objects(&[Attribute::Id(vec![1])]).unwrap(), [certificate]);
    assert!(session.find_objects(&[Attribute::Id(vec![2])]).unwrap().is_empty());
    assert_eq!(refused(session.get_attributes(data, &[AttributeType::Value])), RvError::ObjectHandleInvalid);
}

#[test]
fn secrets_are_not_shown() {
    let session = session(slot());
    let (_, private) = key_pair(&session, &[]);
    for secret in [
        AttributeType::PrivateExponent,
        AttributeType::Prime1,
        AttributeType::Prime2,
        AttributeType::Exponent1,
        AttributeType::Exponent2,
        AttributeType::Coefficient,
    ] {
        let info = session.get_attribute_info(private, &[secret]).unwrap();
        assert!(matches!(info[..], [AttributeInfo::Sensitive]), "{secret:?}");
        assert!(session.get_attributes(private, &[secret]).unwrap().is_empty(), "{secret:?}");
    }
    let flags = [AttributeType::Sensitive, AttributeType::Extractable, AttributeType::NeverExtractable];
    let expected =
        [Attribute::Sensitive(true), Attribute::Extractable(false), Attribute::NeverExtractable(true)];
    assert_eq!(session.get_attributes(private, &flags).unwrap(), expected);
    for wish in [Attribute::Sensitive(false), Attribute::Extractable(true), Attribute::Modulus(vec![1])] {
        assert_eq!(refused(session.update_attributes(private, &[wish])), RvError::AttributeReadOnly);
    }
    // A copy is as secret as its original.
    for wish in [Attribute::Sensitive(false), Attribute::Extractable(true), Attribute::Private(false)] {
        assert!(session.copy_object(private, &[wish]).is_err());
    }
}

#[test]
fn searches_tell_nothing_of_secrets() {
    let session = session(slot());
    let (_, private) = key_pair(&session, &[Attribute::Sensitive(false), Attribute::Extractable(true)]);
    let prime = read(&session, private, AttributeType::Prime1);
    assert_eq!(session.find_objects(&prime).unwrap(), [private]);
    session.update_attributes(private, &[Attribute::Sensitive(true)]).unwrap();
    assert!(session.find_objects(&prime).unwrap().is_empty());
}

#[test]
fn keys_are_imported_and_their_numbers_checked() {
    let session = session(slot());
    let (_, made) = key_pair(&session, &[Attribute::Sensitive(false), Attribute::Extractable(true)]);
    let parts = [
        AttributeType::Modulus,
        AttributeType::PublicExponent,
        AttributeType::PrivateExponent,
        AttributeType::Prime1,
        AttributeType::Prime2,
        AttributeType::Exponent1,
        AttributeType::Exponent2,
        AttributeType::Coefficient,
    ];
    let numbers = session.get_attributes(made, &parts).unwrap();
    let kind = [Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::KeyType(KeyType::RSA)];
    let import = |numbers: &[Attribute]| session.create_object(&[&kind, numbers].concat());
    // Without the primes they are computed.
    for numbers in [&numbers[..], &numbers[..3]] {
        let object = import(numbers).unwrap();
        let sign = |key| session.sign(&Mechanism::Sha256RsaPkcs, key, b"message").unwrap();
        assert_eq!(sign(object), sign(made));
        let local =
            session.get_attributes(object, &[AttributeType::Local, AttributeType::AlwaysSensitive]).unwrap();
        assert_eq!(local, [Attribute::Local(false), Attribute::AlwaysSensitive(false)]);
    }
    let mut wrong = numbers.clone();
    let Attribute::Prime1(prime) = &mut wrong[3] else { panic!("the fourth number is the first prime") };
    prime[5] ^= 1;
    assert_eq!(refused(import(&wrong)), RvError::AttributeValueInvalid);
    assert_eq!(refused(import(&numbers[..1])), RvError::TemplateIncomplete);
    let short = [Attribute::Modulus(vec![0xff; 64]), Attribute::PublicExponent(vec![1, 0, 1])];
    let public = [Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::KeyType(KeyType::RSA)];
    assert_eq!(
        refused(session.create_object(&[&public[..], &short].concat())),
        RvError::AttributeValueInvalid
    );
    let open = [&kind[..], &numbers, &[Attribute::Private(false), Attribute::Token(true)]].concat();
    assert_eq!(refused(session.create_object(&open)), RvError::TemplateInconsistent);
}

#[test]
fn attributes_change_and_objects_end() {
    let session = session(slot());
    let (public, private) = key_pair(&session, &[label("before")]);
    session.update_attributes(private, &[label("after"), Attribute::Sign(false)]).unwrap();
    assert_eq!(read(&session, private, AttributeType::Label), [label("after")]);
    let sign = session.sign(&Mechanism::Sha256RsaPkcs, private, b"message");
    assert_eq!(refused(sign), RvError::KeyFunctionNotPermitted);
    let copy = session
        .copy_object(private, &[label("copy"), Attribute::Token(false), Attribute::Sign(true)])
        .unwrap();
    assert_eq!(session.sign(&Mechanism::Sha256RsaPkcs, copy, b"message").unwrap().len(), 256);
    session.destroy_object(private).unwrap();
    assert_eq!(refused(session.destroy_object(private)), RvError::ObjectHandleInvalid);
    assert_eq!(session.find_objects(&[]).unwrap(), [public, copy]);
    let fixed =
        [Attribute::Class(ObjectClass::DATA), Attribute::Modifiable(false), Attribute::Destroyable(false)];
    let fixed = session.create_object(&fixed).unwrap();
    assert_eq!(refused(session.update_attributes(fixed, &[label("x")])), RvError::ActionProhibited);
    assert_eq!(refused(session.destroy_object(fixed)), RvError::ActionProhibited);
    assert_eq!(refused(session.copy_object(private, &[])), RvError::ObjectHandleInvalid);
}

#[test]
fn session_objects_end_with_their_session() {
    let slot = slot();
    let first = session(slot);
    let second = module().open_rw_session(slot).unwrap();
    let object = second.create_object(&[Attribute::Class(ObjectClass::DATA), label("loose")]).unwrap();
    assert_eq!(first.find_objects(&[label("loose")]).unwrap(), [object]);
    second.close().unwrap();
    assert!(first.find_objects(&[label("loose")]).unwrap().is_empty());
    // A private one ends with the login.
    first.create_object(&[Attribute::Class(ObjectClass::DATA), label("loose")]).unwrap();
    first.logout().unwrap();
    first.login(UserType::User, Some(&pin(USER))).unwrap();
    assert!(first.find_objects(&[label("loose")]).unwrap().is_empty());
}

#[test]
fn templates_that_make_no_sense_are_refused() {
    let session = session(slot());
    let class = |class| Attribute::Class(class);
    for (template, code) in [
        (vec![], RvError::TemplateIncomplete),
        (vec![class(ObjectClass::DATA), Attribute::Sign(true)], RvError::TemplateInconsistent),
        (vec![class(ObjectClass::DATA), label("a"), label("b")], RvError::TemplateInconsistent),
        (vec![class(ObjectClass::CERTIFICATE)], RvError::TemplateIncomplete),
        (vec![class(ObjectClass::PUBLIC_KEY)], RvError::TemplateIncomplete),
        (
            vec![class(ObjectClass::PUBLIC_KEY), Attribute::KeyType(KeyType::EC)],
            RvError::AttributeValueInvalid,
        ),
        (vec![class(ObjectClass::HARDWARE_FEATURE)], RvError::AttributeValueInvalid),
        (vec![class(ObjectClass::DATA), Attribute::Local(true)], RvError::TemplateInconsistent),
        (
            vec![
                class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::AES),
                Attribute::Value(vec![1; 15]),
            ],
            RvError::AttributeValueInvalid,
        ),
    ] {
        assert_eq!(refused(session.create_object(&template)), code, "{template:?}");
    }
    let few = [Attribute::ModulusBits(1024.into())];
    let pair = |public: &[Attribute]| session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, public, &[]);
    assert_eq!(refused(pair(&few)), RvError::KeySizeRange);
    assert_eq!(refused(pair(&[])), RvError::TemplateIncomplete);
    let exponent = [Attribute::ModulusBits(2048.into()), Attribute::PublicExponent(vec![3])];
    assert_eq!(refused(pair(&exponent)), RvError::AttributeValueInvalid);
}
