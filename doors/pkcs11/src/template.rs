//! From a program's template to an object.

mod complete;

pub(crate) use complete::{AES_LENGTHS, private_numbers};

use crate::attributes::{self, Use, Value};
use crate::object::{Attributes, Object};
use crate::refusal::{Answer, refuse};
use cryptoki_sys::*;
use modmill_client::Key;
use modmill_rsa::Hash;

/// The attributes that a program gives, in its order.
pub(crate) type Template = Vec<(CK_ATTRIBUTE_TYPE, Value)>;

/// The origin of a new object's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The program gave them.
    Imported,
    /// This module drew them, by this mechanism.
    Generated(CK_MECHANISM_TYPE),
    /// They were unwrapped.
    Unwrapped,
}

/// The value of `attribute` in a template.
pub(crate) fn given(template: &Template, attribute: CK_ATTRIBUTE_TYPE) -> Option<&Value> {
    template.iter().find(|(name, _)| *name == attribute).map(|(_, value)| value)
}

/// The class that a template names.
pub(crate) fn class(template: &Template) -> Option<CK_OBJECT_CLASS> {
    match given(template, CKA_CLASS) {
        Some(Value::Number(class)) => Some(*class as CK_OBJECT_CLASS),
        _ => None,
    }
}

/// Makes an object of `class` from `template` and from `numbers`, which this module gives. `trusted` says
/// whether the attribute CKA_TRUSTED may be set.
pub(crate) fn build(
    class: CK_OBJECT_CLASS,
    template: &Template,
    numbers: Attributes,
    origin: Origin,
    trusted: bool,
) -> Answer<Object> {
    if !attributes::is_known_class(class) {
        return refuse(CKR_ATTRIBUTE_VALUE_INVALID, format!("objects of class {class} are not supported"));
    }
    let mut own = Attributes::from([(CKA_CLASS, Value::from(class as u64))]);
    for (attribute, value) in template {
        attributes::check(class, *attribute, Use::Create, None, value)?;
        if own.get(attribute).is_some_and(|other| other != value) {
            let reason = format!("the attribute {attribute:#x} has two values");
            return refuse(CKR_TEMPLATE_INCONSISTENT, reason);
        }
        own.insert(*attribute, value.clone());
    }
    for (attribute, value) in numbers {
        if own.get(&attribute).is_some_and(|other| !same_number(other, &value)) {
            let reason =
                format!("the attribute {attribute:#x} follows from the key, which has another value");
            return refuse(CKR_TEMPLATE_INCONSISTENT, reason);
        }
        own.insert(attribute, value);
    }
    check_trust(None, &own, trusted)?;
    complete::add_defaults(class, &mut own);
    let mut own = complete::complete(class, own)?;
    if class == CKO_PRIVATE_KEY || class == CKO_SECRET_KEY {
        hold_secret(&mut own, origin)?;
    }
    if class != CKO_DATA && class != CKO_CERTIFICATE {
        let mechanism = match origin {
            Origin::Generated(mechanism) => mechanism,
            _ => CK_UNAVAILABLE_INFORMATION,
        };
        own.insert(CKA_LOCAL, (mechanism != CK_UNAVAILABLE_INFORMATION).into());
        own.insert(CKA_KEY_GEN_MECHANISM, Value::from(mechanism as u64));
    }
    own.insert(CKA_UNIQUE_ID, unique()?);
    Ok(Object::new(own))
}

/// The copy of `object` with the changes of `template`.
pub(crate) fn copy(object: &Object, template: &Template, trusted: bool) -> Answer<Object> {
    if !object.flag(CKA_COPYABLE) {
        return refuse(CKR_ACTION_PROHIBITED, "the object has CKA_COPYABLE false");
    }
    let mut own = changed(object, template, Use::Copy, trusted)?;
    own.insert(CKA_UNIQUE_ID, unique()?);
    Ok(Object::new(own))
}

/// The object that takes the place of `object` after the changes of `template`.
pub(crate) fn change(object: &Object, template: &Template, trusted: bool) -> Answer<Object> {
    if !object.flag(CKA_MODIFIABLE) {
        return refuse(CKR_ACTION_PROHIBITED, "the object has CKA_MODIFIABLE false");
    }
    changed(object, template, Use::Change, trusted).map(Object::new)
}

fn changed(object: &Object, template: &Template, usage: Use, trusted: bool) -> Answer<Attributes> {
    let mut own = object.attributes().clone();
    for (attribute, value) in template {
        attributes::check(object.class(), *attribute, usage, own.get(attribute), value)?;
        own.insert(*attribute, value.clone());
    }
    check_trust(Some(object), &own, trusted)?;
    check_private(object.is_private(), &own)?;
    Ok(own)
}

/// The public and the private object of a key that the service holds under `name`. The private one signs and
/// does nothing else.
pub(crate) fn held_elsewhere(name: &str, key: Key) -> Answer<[Object; 2]> {
    let public = key.public_key();
    // Programs pair the objects of a key by CKA_ID.
    let id = Hash::Sha256.digest(&[public.modulus_bytes()]);
    let common = [
        (CKA_KEY_TYPE, Value::from(CKK_RSA as u64)),
        (CKA_MODULUS, public.modulus_bytes().into()),
        (CKA_PUBLIC_EXPONENT, public.exponent_bytes()[..].into()),
        (CKA_PUBLIC_KEY_INFO, public.to_der()?[..].into()),
        (CKA_ID, id.as_ref()[..20].into()),
        (CKA_LABEL, name.as_bytes().into()),
        (CKA_TOKEN, true.into()),
        (CKA_MODIFIABLE, false.into()),
        (CKA_COPYABLE, false.into()),
        (CKA_DESTROYABLE, false.into()),
        (CKA_LOCAL, false.into()),
        (CKA_KEY_GEN_MECHANISM, Value::from(CK_UNAVAILABLE_INFORMATION as u64)),
        (CKA_UNIQUE_ID, name.as_bytes().into()),
    ];
    let object = |class: CK_OBJECT_CLASS, more: &[(CK_ATTRIBUTE_TYPE, Value)]| {
        let class_value = [(CKA_CLASS, Value::from(class as u64))];
        let mut own: Attributes = common.iter().chain(&class_value).chain(more).cloned().collect();
        complete::add_defaults(class, &mut own);
        own
    };
    let bits = (CKA_MODULUS_BITS, Value::from(public.bits() as u64));
    let secret = [(CKA_DECRYPT, false), (CKA_ALWAYS_SENSITIVE, true), (CKA_NEVER_EXTRACTABLE, true)];
    let secret = secret.map(|(attribute, flag)| (attribute, flag.into()));
    let private = object(CKO_PRIVATE_KEY, &secret);
    Ok([Object::new(object(CKO_PUBLIC_KEY, &[bits])), Object::with_key(private, key)])
}

/// Numbers may be written with zeros in front.
fn same_number(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Bytes(one), Value::Bytes(other)) => without_zeros(one) == without_zeros(other),
        _ => one == other,
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..]
}

/// Only the security officer says whom the token trusts.
fn check_trust(before: Option<&Object>, own: &Attributes, trusted: bool) -> Answer {
    let was = before.is_some_and(|object| object.flag(CKA_TRUSTED));
    match own.get(&CKA_TRUSTED) == Some(&Value::Flag(true)) && !was && !trusted {
        true => refuse(CKR_ATTRIBUTE_READ_ONLY, "only the security officer sets CKA_TRUSTED"),
        false => Ok(()),
    }
}

/// A key on the token that anybody may use before a login would not be sealed by the PIN. A session key is
/// never stored, and need not be private. One that `was_private` stays so.
fn check_private(was_private: bool, own: &Attributes) -> Answer {
    let class = own.get(&CKA_CLASS);
    let holds_secret =
        [CKO_PRIVATE_KEY, CKO_SECRET_KEY].iter().any(|key| class == Some(&Value::from(*key as u64)));
    let is = |attribute| own.get(&attribute) == Some(&Value::Flag(true));
    if !holds_secret || is(CKA_PRIVATE) {
        return Ok(());
    }
    if is(CKA_TOKEN) || was_private || is(CKA_ALWAYS_AUTHENTICATE) {
        let reason =
            "private and secret keys have CKA_PRIVATE true, but for session keys that ask for no PIN";
        return refuse(CKR_TEMPLATE_INCONSISTENT, reason);
    }
    Ok(())
}

/// Sets and checks the attributes that all secret keys have.
fn hold_secret(own: &mut Attributes, origin: Origin) -> Answer {
    check_private(false, own)?;
    let generated = matches!(origin, Origin::Generated(_));
    let is = |attribute| own.get(&attribute) == Some(&Value::Flag(true));
    let (sensitive, extractable) = (is(CKA_SENSITIVE), is(CKA_EXTRACTABLE));
    own.insert(CKA_ALWAYS_SENSITIVE, (generated && sensitive).into());
    own.insert(CKA_NEVER_EXTRACTABLE, (generated && !extractable).into());
    Ok(())
}

/// A new value of CKA_UNIQUE_ID: 32 digits.
fn unique() -> Answer<Value> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(text.as_bytes().into())
}
