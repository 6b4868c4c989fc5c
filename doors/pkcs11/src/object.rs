//! Objects: keys, certificates and data, each a set of attributes.

use crate::attributes::{self, Value};
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_client::Key;
use modmill_rsa::{KeyError, PrivateKey, PrivateParts, PublicKey, Sizes};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The fewest bits of public keys, which verify old signatures. Keys that sign or encrypt have 2048 bits at
/// least.
pub(crate) const OLD_BITS: usize = 1024;

/// The attributes of an object.
pub(crate) type Attributes = BTreeMap<CK_ATTRIBUTE_TYPE, Value>;

/// An object. It never changes: a program that changes an attribute gets a new object under the old handle.
pub(crate) struct Object {
    attributes: Attributes,
    /// The private key, made of the attributes at its first use, or held elsewhere.
    private: OnceLock<Key>,
    public: OnceLock<PublicKey>,
}

impl Object {
    /// The object with these attributes, which [`crate::template`] has checked.
    pub(crate) fn new(attributes: Attributes) -> Self {
        Self { attributes, private: OnceLock::new(), public: OnceLock::new() }
    }

    /// The private key object with these attributes, whose key is `key`.
    pub(crate) fn with_key(attributes: Attributes, key: Key) -> Self {
        Self { attributes, private: OnceLock::from(key), public: OnceLock::new() }
    }

    pub(crate) fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    pub(crate) fn class(&self) -> CK_OBJECT_CLASS {
        self.number(CKA_CLASS).unwrap_or(CK_UNAVAILABLE_INFORMATION as u64) as CK_OBJECT_CLASS
    }

    /// The value of a flag. An absent flag is false.
    pub(crate) fn flag(&self, attribute: CK_ATTRIBUTE_TYPE) -> bool {
        matches!(self.attributes.get(&attribute), Some(Value::Flag(true)))
    }

    pub(crate) fn number(&self, attribute: CK_ATTRIBUTE_TYPE) -> Option<u64> {
        match self.attributes.get(&attribute) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The bytes of an attribute, none if it is absent.
    pub(crate) fn bytes(&self, attribute: CK_ATTRIBUTE_TYPE) -> &[u8] {
        match self.attributes.get(&attribute) {
            Some(Value::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    /// Whether the key may be used with a mechanism. A key without a list, or with an empty one, may be used
    /// with all.
    pub(crate) fn allows(&self, mechanism: CK_MECHANISM_TYPE) -> bool {
        match self.attributes.get(&CKA_ALLOWED_MECHANISMS) {
            Some(Value::Numbers(allowed)) => allowed.is_empty() || allowed.contains(&(mechanism as u64)),
            _ => true,
        }
    }

    pub(crate) fn is_private(&self) -> bool {
        self.flag(CKA_PRIVATE)
    }

    pub(crate) fn is_on_token(&self) -> bool {
        self.flag(CKA_TOKEN)
    }

    fn is_key(&self, class: CK_OBJECT_CLASS, key_type: CK_KEY_TYPE) -> bool {
        self.class() == class && self.number(CKA_KEY_TYPE) == Some(key_type as u64)
    }

    /// Whether the program may not read this attribute, although the object has it.
    pub(crate) fn hides(&self, attribute: CK_ATTRIBUTE_TYPE) -> bool {
        attributes::is_secret(self.class(), attribute)
            && (self.flag(CKA_SENSITIVE) || !self.flag(CKA_EXTRACTABLE))
    }

    /// The value of an attribute as a program may read it.
    pub(crate) fn readable(&self, attribute: CK_ATTRIBUTE_TYPE) -> Answer<&Value> {
        if self.hides(attribute) {
            return refuse(CKR_ATTRIBUTE_SENSITIVE, format!("the attribute {attribute:#x} is not shown"));
        }
        self.attributes.get(&attribute).ok_or_else(|| {
            Refusal::new(CKR_ATTRIBUTE_TYPE_INVALID, format!("the object has no attribute {attribute:#x}"))
        })
    }

    /// Whether the object has these values. A search for the value of a hidden attribute finds nothing.
    pub(crate) fn matches(&self, template: &[(CK_ATTRIBUTE_TYPE, Value)]) -> bool {
        template.iter().all(|(attribute, value)| self.readable(*attribute).is_ok_and(|own| own == value))
    }

    /// The private half of an RSA key.
    pub(crate) fn private_key(&self) -> Answer<&Key> {
        if let Some(key) = self.private.get() {
            return Ok(key);
        }
        if !self.is_key(CKO_PRIVATE_KEY, CKK_RSA) {
            return refuse(CKR_KEY_TYPE_INCONSISTENT, "the object is not an RSA private key");
        }
        let optional = |attribute| Some(self.bytes(attribute)).filter(|bytes| !bytes.is_empty());
        let parts = PrivateParts {
            modulus: self.bytes(CKA_MODULUS),
            public_exponent: self.bytes(CKA_PUBLIC_EXPONENT),
            private_exponent: self.bytes(CKA_PRIVATE_EXPONENT),
            prime1: self.bytes(CKA_PRIME_1),
            prime2: self.bytes(CKA_PRIME_2),
            exponent1: optional(CKA_EXPONENT_1),
            exponent2: optional(CKA_EXPONENT_2),
            coefficient: optional(CKA_COEFFICIENT),
        };
        let key = Key::local(PrivateKey::new(&parts, Sizes::Standard)?);
        Ok(self.private.get_or_init(|| key))
    }

    /// The public half of an RSA key, of a public key object or a private one. It may be a short one that
    /// verifies old signatures.
    pub(crate) fn public_key(&self) -> Answer<&PublicKey> {
        if let Some(key) = self.public.get() {
            return Ok(key);
        }
        if !self.is_key(CKO_PUBLIC_KEY, CKK_RSA) && !self.is_key(CKO_PRIVATE_KEY, CKK_RSA) {
            return refuse(CKR_KEY_TYPE_INCONSISTENT, "the object is not an RSA key");
        }
        let (modulus, exponent) = (self.bytes(CKA_MODULUS), self.bytes(CKA_PUBLIC_EXPONENT));
        let key = PublicKey::new(modulus, exponent, Sizes::AllowSmall)?;
        if key.bits() < OLD_BITS {
            return Err(KeyError::TooShort { bits: key.bits(), limit: OLD_BITS }.into());
        }
        Ok(self.public.get_or_init(|| key))
    }

    /// The public half of an RSA key that is long enough to encrypt.
    pub(crate) fn encryption_key(&self) -> Answer<&PublicKey> {
        let (key, limit) = (self.public_key()?, Sizes::Standard.min_bits());
        match key.bits() < limit {
            true => refuse(
                CKR_KEY_SIZE_RANGE,
                format!("the key has {} bits: less than {limit} verify and do not encrypt", key.bits()),
            ),
            false => Ok(key),
        }
    }

    /// The value of an AES key.
    pub(crate) fn aes_key(&self) -> Answer<&[u8]> {
        match self.is_key(CKO_SECRET_KEY, CKK_AES) {
            true => Ok(self.bytes(CKA_VALUE)),
            false => refuse(CKR_KEY_TYPE_INCONSISTENT, "the object is not an AES key"),
        }
    }
}
