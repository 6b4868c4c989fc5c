//! The documents that the KMS interface keeps.

use super::codec::Blob;
use crate::records::{Document, Kinds};
use crate::secret::SecretBytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Registers the kinds of documents.
#[must_use]
pub fn kinds(kinds: Kinds) -> Kinds {
    kinds.with::<KeyRecord>().with::<Alias>().with::<Grant>().with::<ImportToken>().with::<KeyUse>()
}

/// Names of a closed list, as AWS spells them.
macro_rules! names {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($(#[$item_doc:meta])* $item:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        $vis enum $name {
            $($(#[$item_doc])* #[serde(rename = $text)] $item,)+
        }

        impl $name {
            /// The name.
            #[must_use]
            $vis fn name(self) -> &'static str {
                match self { $(Self::$item => $text,)+ }
            }

            /// The value with this name.
            #[must_use]
            $vis fn of(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$item),)+ _ => None }
            }
        }
    };
}
pub(super) use names;

names! {
    /// The kind of a key.
    pub Spec {
        /// RSA with 2048 bits.
        Rsa2048 = "RSA_2048",
        /// RSA with 3072 bits.
        Rsa3072 = "RSA_3072",
        /// RSA with 4096 bits.
        Rsa4096 = "RSA_4096",
        /// 256 bits for AES.
        Symmetric = "SYMMETRIC_DEFAULT",
    }
}

impl Spec {
    /// The bits of an RSA key's modulus.
    #[must_use]
    pub fn rsa_bits(self) -> Option<usize> {
        match self {
            Self::Rsa2048 => Some(2048),
            Self::Rsa3072 => Some(3072),
            Self::Rsa4096 => Some(4096),
            Self::Symmetric => None,
        }
    }
}

names! {
    /// The use of a key.
    pub Usage {
        /// Signatures.
        Sign = "SIGN_VERIFY",
        /// Ciphertexts.
        Encrypt = "ENCRYPT_DECRYPT",
    }
}

names! {
    /// The source of a key's material.
    pub Origin {
        /// It was made here.
        Here = "AWS_KMS",
        /// It was imported.
        External = "EXTERNAL",
    }
}

names! {
    /// The state of a key, which says what can be done with it.
    pub KeyState {
        /// Everything.
        Enabled = "Enabled",
        /// Nothing until it is enabled.
        Disabled = "Disabled",
        /// Nothing: it will be deleted.
        PendingDeletion = "PendingDeletion",
        /// Nothing until material is imported.
        PendingImport = "PendingImport",
    }
}

/// The secret of a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Material {
    /// Its identifier, 64 hexadecimal digits. Other material has another one.
    pub id: String,
    /// PKCS #8 of an RSA key, or the 32 bytes of a symmetric one.
    pub secret: SecretBytes,
    /// `SubjectPublicKeyInfo` of an RSA key, else empty.
    pub public: Blob,
    /// The time at which imported material expires, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
}

/// A key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Its identifier, a UUID.
    pub id: String,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// A text for people.
    pub description: String,
    /// The use of the key.
    pub usage: Usage,
    /// The kind of the key.
    pub spec: Spec,
    /// The source of its material.
    pub origin: Origin,
    /// Whether it was disabled.
    pub enabled: bool,
    /// The secret. A key that waits for its import has none.
    pub material: Option<Material>,
    /// The identifier of the only material that may be imported, once some was.
    pub imported_id: Option<String>,
    /// The time of its deletion, in milliseconds since 1970, if it is to be deleted.
    pub deletion_ms: Option<u64>,
    /// The key policy.
    pub policy: String,
    /// The tags.
    pub tags: BTreeMap<String, String>,
}

impl KeyRecord {
    /// The secret, unless it expired by `now_ms`.
    #[must_use]
    pub fn material_at(&self, now_ms: u64) -> Option<&Material> {
        self.material.as_ref().filter(|material| material.expires_ms.is_none_or(|expires| now_ms < expires))
    }

    /// The state of the key at `now_ms`.
    #[must_use]
    pub fn state(&self, now_ms: u64) -> KeyState {
        if self.deletion_ms.is_some() {
            KeyState::PendingDeletion
        } else if self.material_at(now_ms).is_none() {
            KeyState::PendingImport
        } else if self.enabled {
            KeyState::Enabled
        } else {
            KeyState::Disabled
        }
    }
}

impl Document for KeyRecord {
    const KIND: &'static str = "kms_key";

    fn id(&self) -> &str {
        &self.id
    }
}

/// Another name of a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Alias {
    /// The name, with `alias/` in front.
    pub name: String,
    /// The key's identifier.
    pub key_id: String,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time at which it got its key, in milliseconds since 1970.
    pub updated_ms: u64,
}

impl Document for Alias {
    const KIND: &'static str = "kms_alias";

    fn id(&self) -> &str {
        &self.name
    }
}

/// A permission to use a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grant {
    /// Its identifier, 64 hexadecimal digits.
    pub id: String,
    /// The key's identifier.
    pub key_id: String,
    /// The name that a retried request finds it by, often empty.
    pub name: String,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
    /// The ARN of the principal that may use the key.
    pub grantee: String,
    /// The ARN of the principal that may give the permission up.
    pub retiring: Option<String>,
    /// The operations that are allowed, as IAM names them: `Sign`.
    pub operations: BTreeSet<String>,
    /// The encryption context must have these entries, and others it likes.
    pub context_subset: Option<BTreeMap<String, String>>,
    /// The encryption context must be this.
    pub context_equals: Option<BTreeMap<String, String>>,
}

impl Document for Grant {
    const KIND: &'static str = "kms_grant";

    fn id(&self) -> &str {
        &self.id
    }
}

/// A key pair that wraps material for an import.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImportToken {
    /// SHA-256 of the token, in hexadecimal. The token itself is known to the client alone.
    pub id: String,
    /// The key that may be imported into.
    pub key_id: String,
    /// How the material is wrapped, as AWS names it.
    pub algorithm: String,
    /// PKCS #8 of the pair.
    pub secret: SecretBytes,
    /// The time at which it expires, in milliseconds since 1970.
    pub expires_ms: u64,
}

impl Document for ImportToken {
    const KIND: &'static str = "kms_import_token";

    fn id(&self) -> &str {
        &self.id
    }
}

/// The last use of a key. It is written now and then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUse {
    /// The key's identifier.
    pub key_id: String,
    /// The operation.
    pub operation: String,
    /// The request.
    pub request_id: String,
    /// The time, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Document for KeyUse {
    const KIND: &'static str = "kms_key_use";

    fn id(&self) -> &str {
        &self.key_id
    }
}
