//! The kinds of content.

use std::fmt;

/// The kind of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A public key.
    PublicKey,
    /// A secret key.
    SecretKey,
    /// Encrypted bits.
    Ciphertexts,
}

impl Kind {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::PublicKey => 1,
            Self::SecretKey => 2,
            Self::Ciphertexts => 3,
        }
    }

    pub(super) fn of_code(code: u8) -> Option<Self> {
        let known = [Self::PublicKey, Self::SecretKey, Self::Ciphertexts];
        known.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::PublicKey => "a public key",
            Self::SecretKey => "a secret key",
            Self::Ciphertexts => "ciphertexts",
        })
    }
}
