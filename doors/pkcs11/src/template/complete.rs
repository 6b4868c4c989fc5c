//! The values that an object of each class has besides those that the program gave.

use crate::attributes::Value;
use crate::object::{Attributes, Object};
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_rsa::PrivateKey;
use pkcs1::RsaPrivateKeyRef;
use pkcs1::der::Decode;

/// The lengths of AES keys, in bytes.
pub(crate) const AES_LENGTHS: [usize; 3] = [16, 24, 32];

/// Adds the values that a program left out.
pub(super) fn add_defaults(class: CK_OBJECT_CLASS, own: &mut Attributes) {
    let secret = class == CKO_PRIVATE_KEY || class == CKO_SECRET_KEY;
    let mut default = |attribute, value: Value| {
        own.entry(attribute).or_insert(value);
    };
    let empty = || Value::from(&[][..]);
    default(CKA_TOKEN, false.into());
    default(CKA_PRIVATE, (secret || class == CKO_DATA).into());
    for attribute in [CKA_MODIFIABLE, CKA_COPYABLE, CKA_DESTROYABLE] {
        default(attribute, true.into());
    }
    default(CKA_LABEL, empty());
    let (flags_on, flags_off, texts): (&[_], &[_], &[_]) = match class {
        CKO_DATA => (&[], &[], &[CKA_APPLICATION, CKA_OBJECT_ID, CKA_VALUE]),
        CKO_CERTIFICATE => {
            default(CKA_CERTIFICATE_CATEGORY, Value::from(0));
            (
                &[],
                &[CKA_TRUSTED],
                &[CKA_ID, CKA_SUBJECT, CKA_ISSUER, CKA_SERIAL_NUMBER, CKA_START_DATE, CKA_END_DATE],
            )
        }
        CKO_PUBLIC_KEY => (
            &[CKA_ENCRYPT, CKA_VERIFY, CKA_VERIFY_RECOVER],
            &[CKA_WRAP, CKA_TRUSTED, CKA_DERIVE],
            &[CKA_ID, CKA_SUBJECT, CKA_START_DATE, CKA_END_DATE],
        ),
        CKO_PRIVATE_KEY => (
            &[CKA_DECRYPT, CKA_SIGN, CKA_SENSITIVE],
            &[
                CKA_SIGN_RECOVER,
                CKA_UNWRAP,
                CKA_EXTRACTABLE,
                CKA_WRAP_WITH_TRUSTED,
                CKA_ALWAYS_AUTHENTICATE,
                CKA_DERIVE,
            ],
            &[CKA_ID, CKA_SUBJECT, CKA_START_DATE, CKA_END_DATE],
        ),
        _ => (
            &[CKA_WRAP, CKA_UNWRAP, CKA_SENSITIVE],
            &[
                CKA_ENCRYPT,
                CKA_DECRYPT,
                CKA_SIGN,
                CKA_VERIFY,
                CKA_EXTRACTABLE,
                CKA_WRAP_WITH_TRUSTED,
                CKA_TRUSTED,
                CKA_DERIVE,
            ],
            &[CKA_ID, CKA_START_DATE, CKA_END_DATE],
        ),
    };
    flags_on.iter().for_each(|attribute| default(*attribute, true.into()));
    flags_off.iter().for_each(|attribute| default(*attribute, false.into()));
    texts.iter().for_each(|attribute| default(*attribute, empty()));
}

/// Adds what follows from the attributes of an object of `class`, and refuses an object that lacks something.
pub(super) fn complete(class: CK_OBJECT_CLASS, mut own: Attributes) -> Answer<Attributes> {
    match class {
        CKO_DATA => {}
        CKO_CERTIFICATE => complete_certificate(&own)?,
        CKO_PUBLIC_KEY => own = complete_public(own)?,
        CKO_PRIVATE_KEY => own = complete_private(own)?,
        _ => complete_secret(&mut own)?,
    }
    Ok(own)
}

fn complete_certificate(own: &Attributes) -> Answer {
    match [CKA_CERTIFICATE_TYPE, CKA_VALUE].iter().all(|attribute| own.contains_key(attribute)) {
        true => Ok(()),
        false => refuse(CKR_TEMPLATE_INCOMPLETE, "a certificate has CKA_CERTIFICATE_TYPE and CKA_VALUE"),
    }
}

fn need_key_type(own: &Attributes, key_type: CK_KEY_TYPE, name: &str) -> Answer {
    match own.get(&CKA_KEY_TYPE) {
        None => refuse(CKR_TEMPLATE_INCOMPLETE, "a key has CKA_KEY_TYPE"),
        Some(value) if *value == Value::from(key_type as u64) => Ok(()),
        Some(_) => refuse(CKR_ATTRIBUTE_VALUE_INVALID, format!("keys of this class are {name} keys")),
    }
}

fn complete_public(own: Attributes) -> Answer<Attributes> {
    need_key_type(&own, CKK_RSA, "RSA")?;
    let object = Object::new(own);
    if object.bytes(CKA_MODULUS).is_empty() || object.bytes(CKA_PUBLIC_EXPONENT).is_empty() {
        return refuse(CKR_TEMPLATE_INCOMPLETE, "an RSA public key has CKA_MODULUS and CKA_PUBLIC_EXPONENT");
    }
    let key = object.public_key()?;
    if object.number(CKA_MODULUS_BITS).is_some_and(|bits| bits != key.bits() as u64) {
        return refuse(CKR_TEMPLATE_INCONSISTENT, "CKA_MODULUS_BITS is not the length of CKA_MODULUS");
    }
    let mut own = object.attributes().clone();
    own.insert(CKA_MODULUS, key.modulus_bytes().into());
    own.insert(CKA_PUBLIC_EXPONENT, key.exponent_bytes()[..].into());
    own.insert(CKA_MODULUS_BITS, Value::from(key.bits() as u64));
    own.insert(CKA_PUBLIC_KEY_INFO, key.to_der()?[..].into());
    Ok(own)
}

fn complete_private(own: Attributes) -> Answer<Attributes> {
    need_key_type(&own, CKK_RSA, "RSA")?;
    let object = Object::new(own);
    for (attribute, name) in [(CKA_MODULUS, "CKA_MODULUS"), (CKA_PUBLIC_EXPONENT, "CKA_PUBLIC_EXPONENT")] {
        if object.bytes(attribute).is_empty() {
            return refuse(CKR_TEMPLATE_INCOMPLETE, format!("an RSA private key has {name}"));
        }
    }
    let key = object.private_key()?;
    let private =
        key.private_key().ok_or_else(|| Refusal::new(CKR_GENERAL_ERROR, "the key is held elsewhere"))?;
    let mut own = object.attributes().clone();
    own.extend(private_numbers(private)?);
    Ok(own)
}

/// The numbers of a private key, as attributes.
pub(crate) fn private_numbers(key: &PrivateKey) -> Answer<Attributes> {
    let der = key.to_pkcs1_der()?;
    let parts = RsaPrivateKeyRef::from_der(&der)
        .map_err(|error| Refusal::new(CKR_GENERAL_ERROR, format!("the key cannot be written: {error}")))?;
    let bytes = |number: pkcs1::UintRef<'_>| Value::from(number.as_bytes());
    Ok(Attributes::from([
        (CKA_MODULUS, bytes(parts.modulus)),
        (CKA_PUBLIC_EXPONENT, bytes(parts.public_exponent)),
        (CKA_PRIVATE_EXPONENT, bytes(parts.private_exponent)),
        (CKA_PRIME_1, bytes(parts.prime1)),
        (CKA_PRIME_2, bytes(parts.prime2)),
        (CKA_EXPONENT_1, bytes(parts.exponent1)),
        (CKA_EXPONENT_2, bytes(parts.exponent2)),
        (CKA_COEFFICIENT, bytes(parts.coefficient)),
        (CKA_PUBLIC_KEY_INFO, key.public_key().to_der()?[..].into()),
    ]))
}

fn complete_secret(own: &mut Attributes) -> Answer {
    need_key_type(own, CKK_AES, "AES")?;
    let len = match own.get(&CKA_VALUE) {
        Some(Value::Bytes(bytes)) => bytes.len(),
        _ => return refuse(CKR_TEMPLATE_INCOMPLETE, "an AES key has CKA_VALUE"),
    };
    if !AES_LENGTHS.contains(&len) {
        return refuse(
            CKR_ATTRIBUTE_VALUE_INVALID,
            format!("an AES key has 16, 24 or 32 bytes, and this has {len}"),
        );
    }
    let len = Value::from(len as u64);
    if own.insert(CKA_VALUE_LEN, len.clone()).is_some_and(|given| given != len) {
        return refuse(CKR_TEMPLATE_INCONSISTENT, "CKA_VALUE_LEN is not the length of CKA_VALUE");
    }
    Ok(())
}
