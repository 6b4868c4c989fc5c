//! A credential as the store holds it, and who it stands for.

use crate::records::Document;
use crate::secret::SecretBytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A permission of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Every KMS operation on every key whose policy lets the account decide. Without it, a credential may do
    /// what key policies and grants say of its name.
    Kms,
    /// The transit interface.
    Transit,
    /// The bulk endpoint.
    Bulk,
    /// Blind signatures of token requests.
    Issue,
    /// The live page and the metrics.
    Watch,
}

/// A credential: a document whose identifier is the access key's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Credential {
    /// The access key's identifier, 20 capital letters and digits.
    pub access_key_id: String,
    /// The secret access key, from which both sides derive the keys of SigV4. The store seals it.
    pub secret_access_key: SecretBytes,
    /// SHA-256 of the token for interfaces that take a token.
    pub token_hash: [u8; 32],
    /// The name of the principal. Several credentials may have the same name.
    pub name: String,
    /// The rights of the credential.
    pub rights: BTreeSet<Right>,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: u64,
}

impl Document for Credential {
    const KIND: &'static str = "credential";

    fn id(&self) -> &str {
        &self.access_key_id
    }
}

/// The caller of an operation: an authenticated credential, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The name, for policies, fairness, limits and the audit log.
    pub name: String,
    /// The access key's identifier, for the audit log.
    pub access_key_id: String,
    /// The rights of the credential.
    pub rights: BTreeSet<Right>,
}

impl Principal {
    /// The principal of a credential.
    #[must_use]
    pub fn of(credential: &Credential) -> Self {
        let Credential { access_key_id, name, rights, .. } = credential;
        Self { name: name.clone(), access_key_id: access_key_id.clone(), rights: rights.clone() }
    }

    /// Whether the credential has `right`.
    #[must_use]
    pub fn may(&self, right: Right) -> bool {
        self.rights.contains(&right)
    }
}
