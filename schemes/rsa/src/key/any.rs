//! A key of either kind.

use super::{PrivateKey, PublicKey};

/// A public or a private key.
#[derive(Debug, Clone)]
pub enum AnyKey {
    /// A public key.
    Public(PublicKey),
    /// A private key.
    Private(PrivateKey),
}

impl AnyKey {
    /// The public key, or the public half of the private key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public_key(),
        }
    }
}
