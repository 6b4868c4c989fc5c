//! The attributes of objects: of which kind each is, which objects have it, and who may set and change it.

use crate::refusal::{Answer, refuse};
use cryptoki_sys::*;
use zeroize::Zeroizing;

/// The value of an attribute. Bytes are overwritten when dropped.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A `CK_BBOOL`.
    Flag(bool),
    /// A `CK_ULONG`, or a type that is one.
    Number(u64),
    /// Bytes, text, a number of any length or a date.
    Bytes(Zeroizing<Vec<u8>>),
    /// An array of numbers.
    Numbers(Vec<u64>),
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(Zeroizing::new(bytes.to_vec()))
    }
}

impl Value {
    /// The value as a program reads it.
    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::Flag(flag) => vec![CK_BBOOL::from(*flag)],
            Self::Number(number) => (*number as CK_ULONG).to_ne_bytes().to_vec(),
            Self::Bytes(bytes) => return bytes.clone(),
            Self::Numbers(numbers) => {
                numbers.iter().flat_map(|number| (*number as CK_ULONG).to_ne_bytes()).collect()
            }
        })
    }
}

/// The kind of an attribute's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Number,
    Bytes,
    /// An array of `CK_ULONG`, or of a type that is one.
    Numbers,
    /// Empty, or the eight digits of a `CK_DATE`.
    Date,
}

/// The one who sets an attribute, and the changes that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// The program sets it with the object. It stays as it is, and a copy of the object has the same value.
    Fixed,
    /// The program sets it with the object. A copy may have another value.
    Copied,
    /// The program sets it, and may change it.
    Free,
    /// The program may change it from false to true.
    Up,
    /// The program may change it from true to false.
    Down,
    /// This module sets it.
    Module,
}

use Access::{Copied, Down, Fixed, Free, Module, Up};

/// Sets of classes of objects.
const DATA: u8 = 1;
const CERTIFICATE: u8 = 2;
const PUBLIC: u8 = 4;
const PRIVATE: u8 = 8;
const SECRET: u8 = 16;
const KEYS: u8 = PUBLIC | PRIVATE | SECRET;
const ALL: u8 = DATA | CERTIFICATE | KEYS;

/// An attribute, its kind, the classes that have it, and its access.
type Rule = (CK_ATTRIBUTE_TYPE, Kind, u8, Access);

/// PKCS #11 3.0, sections 4.4 to 4.10, without what is for other kinds of keys.
const RULES: &[Rule] = &[
    (CKA_CLASS, Kind::Number, ALL, Fixed),
    (CKA_TOKEN, Kind::Flag, ALL, Copied),
    (CKA_PRIVATE, Kind::Flag, ALL, Copied),
    (CKA_MODIFIABLE, Kind::Flag, ALL, Copied),
    (CKA_COPYABLE, Kind::Flag, ALL, Down),
    (CKA_DESTROYABLE, Kind::Flag, ALL, Copied),
    (CKA_LABEL, Kind::Bytes, ALL, Free),
    (CKA_UNIQUE_ID, Kind::Bytes, ALL, Module),
    (CKA_APPLICATION, Kind::Bytes, DATA, Free),
    (CKA_OBJECT_ID, Kind::Bytes, DATA, Free),
    (CKA_VALUE, Kind::Bytes, DATA, Free),
    (CKA_VALUE, Kind::Bytes, CERTIFICATE | SECRET, Fixed),
    (CKA_CERTIFICATE_TYPE, Kind::Number, CERTIFICATE, Fixed),
    (CKA_CERTIFICATE_CATEGORY, Kind::Number, CERTIFICATE, Fixed),
    (CKA_JAVA_MIDP_SECURITY_DOMAIN, Kind::Number, CERTIFICATE, Fixed),
    (CKA_NAME_HASH_ALGORITHM, Kind::Number, CERTIFICATE, Fixed),
    (CKA_URL, Kind::Bytes, CERTIFICATE, Fixed),
    (CKA_HASH_OF_SUBJECT_PUBLIC_KEY, Kind::Bytes, CERTIFICATE, Fixed),
    (CKA_HASH_OF_ISSUER_PUBLIC_KEY, Kind::Bytes, CERTIFICATE, Fixed),
    (CKA_ISSUER, Kind::Bytes, CERTIFICATE, Free),
    (CKA_SERIAL_NUMBER, Kind::Bytes, CERTIFICATE, Free),
    (CKA_SUBJECT, Kind::Bytes, CERTIFICATE | PUBLIC | PRIVATE, Free),
    (CKA_CHECK_VALUE, Kind::Bytes, CERTIFICATE, Fixed),
    (CKA_TRUSTED, Kind::Flag, CERTIFICATE | PUBLIC | SECRET, Free),
    (CKA_ID, Kind::Bytes, CERTIFICATE | KEYS, Free),
    (CKA_START_DATE, Kind::Date, CERTIFICATE | KEYS, Free),
    (CKA_END_DATE, Kind::Date, CERTIFICATE | KEYS, Free),
    (CKA_PUBLIC_KEY_INFO, Kind::Bytes, CERTIFICATE, Fixed),
    (CKA_PUBLIC_KEY_INFO, Kind::Bytes, PUBLIC | PRIVATE, Module),
    (CKA_KEY_TYPE, Kind::Number, KEYS, Fixed),
    (CKA_ALLOWED_MECHANISMS, Kind::Numbers, KEYS, Fixed),
    (CKA_DERIVE, Kind::Flag, KEYS, Free),
    (CKA_LOCAL, Kind::Flag, KEYS, Module),
    (CKA_KEY_GEN_MECHANISM, Kind::Number, KEYS, Module),
    (CKA_ENCRYPT, Kind::Flag, PUBLIC | SECRET, Free),
    (CKA_VERIFY, Kind::Flag, PUBLIC | SECRET, Free),
    (CKA_VERIFY_RECOVER, Kind::Flag, PUBLIC, Free),
    (CKA_WRAP, Kind::Flag, PUBLIC | SECRET, Free),
    (CKA_DECRYPT, Kind::Flag, PRIVATE | SECRET, Free),
    (CKA_SIGN, Kind::Flag, PRIVATE | SECRET, Free),
    (CKA_SIGN_RECOVER, Kind::Flag, PRIVATE, Free),
    (CKA_UNWRAP, Kind::Flag, PRIVATE | SECRET, Free),
    (CKA_SENSITIVE, Kind::Flag, PRIVATE | SECRET, Up),
    (CKA_EXTRACTABLE, Kind::Flag, PRIVATE | SECRET, Down),
    (CKA_WRAP_WITH_TRUSTED, Kind::Flag, PRIVATE | SECRET, Up),
    (CKA_ALWAYS_SENSITIVE, Kind::Flag, PRIVATE | SECRET, Module),
    (CKA_NEVER_EXTRACTABLE, Kind::Flag, PRIVATE | SECRET, Module),
    (CKA_ALWAYS_AUTHENTICATE, Kind::Flag, PRIVATE, Fixed),
    (CKA_MODULUS, Kind::Bytes, PUBLIC | PRIVATE, Fixed),
    (CKA_MODULUS_BITS, Kind::Number, PUBLIC, Fixed),
    (CKA_PUBLIC_EXPONENT, Kind::Bytes, PUBLIC | PRIVATE, Fixed),
    (CKA_PRIVATE_EXPONENT, Kind::Bytes, PRIVATE, Fixed),
    (CKA_PRIME_1, Kind::Bytes, PRIVATE, Fixed),
    (CKA_PRIME_2, Kind::Bytes, PRIVATE, Fixed),
    (CKA_EXPONENT_1, Kind::Bytes, PRIVATE, Fixed),
    (CKA_EXPONENT_2, Kind::Bytes, PRIVATE, Fixed),
    (CKA_COEFFICIENT, Kind::Bytes, PRIVATE, Fixed),
    (CKA_VALUE_LEN, Kind::Number, SECRET, Fixed),
];

/// The attributes that a key with CKA_SENSITIVE, or without CKA_EXTRACTABLE, does not show.
const SECRETS: [CK_ATTRIBUTE_TYPE; 7] = [
    CKA_VALUE,
    CKA_PRIVATE_EXPONENT,
    CKA_PRIME_1,
    CKA_PRIME_2,
    CKA_EXPONENT_1,
    CKA_EXPONENT_2,
    CKA_COEFFICIENT,
];

fn class_bit(class: CK_OBJECT_CLASS) -> u8 {
    match class {
        CKO_DATA => DATA,
        CKO_CERTIFICATE => CERTIFICATE,
        CKO_PUBLIC_KEY => PUBLIC,
        CKO_PRIVATE_KEY => PRIVATE,
        CKO_SECRET_KEY => SECRET,
        _ => 0,
    }
}

/// Whether objects of `class` can be stored.
pub(crate) fn is_known_class(class: CK_OBJECT_CLASS) -> bool {
    class_bit(class) != 0
}

/// Whether `attribute` is a part of a private or secret key that the object may have to hide.
pub(crate) fn is_secret(class: CK_OBJECT_CLASS, attribute: CK_ATTRIBUTE_TYPE) -> bool {
    class_bit(class) & (PRIVATE | SECRET) != 0 && SECRETS.contains(&attribute)
}

fn rule(class: CK_OBJECT_CLASS, attribute: CK_ATTRIBUTE_TYPE) -> Option<&'static Rule> {
    RULES.iter().find(|(name, _, classes, _)| *name == attribute && classes & class_bit(class) != 0)
}

/// Reads the value of `attribute` from the bytes of a program. The kind of an attribute is the same in all
/// classes.
pub(crate) fn parse(attribute: CK_ATTRIBUTE_TYPE, bytes: &[u8]) -> Answer<Value> {
    let Some((_, kind, ..)) = RULES.iter().find(|(name, ..)| *name == attribute) else {
        return refuse(CKR_ATTRIBUTE_TYPE_INVALID, format!("the attribute {attribute:#x} is not known"));
    };
    let wrong = |what: &str| {
        let reason = format!("the attribute {attribute:#x} is {what}, and {} bytes were given", bytes.len());
        refuse(CKR_ATTRIBUTE_VALUE_INVALID, reason)
    };
    match kind {
        Kind::Flag => match bytes {
            // Any byte but zero is true in C.
            [byte] => Ok(Value::Flag(*byte != CK_FALSE)),
            _ => wrong("a CK_BBOOL"),
        },
        Kind::Number => match bytes.try_into() {
            Ok(bytes) => Ok(Value::Number(CK_ULONG::from_ne_bytes(bytes) as u64)),
            Err(_) => wrong("a CK_ULONG"),
        },
        Kind::Numbers => match bytes.as_chunks() {
            (numbers, []) => {
                let number = |bytes: &[u8; size_of::<CK_ULONG>()]| CK_ULONG::from_ne_bytes(*bytes) as u64;
                Ok(Value::Numbers(numbers.iter().map(number).collect()))
            }
            _ => wrong("an array of CK_ULONG"),
        },
        Kind::Date if !bytes.is_empty() && (bytes.len() != 8 || !bytes.iter().all(u8::is_ascii_digit)) => {
            wrong("a CK_DATE of eight digits")
        }
        Kind::Bytes | Kind::Date => Ok(Value::from(bytes)),
    }
}

/// The action of a program that gives an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It makes an object.
    Create,
    /// It makes a copy of an object.
    Copy,
    /// It changes an object.
    Change,
}

/// Refuses an attribute that objects of `class` do not have, or that the program may not give in this
/// `usage`. `before` is its value so far.
pub(crate) fn check(
    class: CK_OBJECT_CLASS,
    attribute: CK_ATTRIBUTE_TYPE,
    usage: Use,
    before: Option<&Value>,
    after: &Value,
) -> Answer {
    let Some((.., access)) = rule(class, attribute) else {
        let reason = format!("objects of class {class} have no attribute {attribute:#x}");
        return refuse(CKR_TEMPLATE_INCONSISTENT, reason);
    };
    let allowed = match (access, usage) {
        (Module, _) => false,
        (_, Use::Create) | (Free, _) | (Copied, Use::Copy) => true,
        // Absent is false.
        (Up, _) => before == Some(after) || *after == Value::Flag(true),
        (Down, _) => before == Some(after) || *after == Value::Flag(false),
        (Fixed | Copied, _) => before == Some(after),
    };
    match allowed {
        true => Ok(()),
        false => refuse(
            CKR_ATTRIBUTE_READ_ONLY,
            format!("the attribute {attribute:#x} cannot be set to this value"),
        ),
    }
}
