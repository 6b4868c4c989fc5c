//! Why a function of the provider fails, as OpenSSL's error queue has it.

use crate::ffi::Item;
use std::ffi::c_uint;
use thiserror::Error;

/// The reason why a function fails.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A parameter of the caller cannot be used.
    #[error("{0}")]
    Parameter(String),
    /// The key cannot be used.
    #[error("{0}")]
    Key(String),
    /// The operation gave no result.
    #[error(transparent)]
    Operation(#[from] modmill_client::Error),
    /// The provider does not have what is asked for.
    #[error("{0}")]
    Unsupported(String),
    /// The caller's memory is too short.
    #[error("the result has {needed} bytes, and there is room for {room}")]
    Room {
        /// The length of the result.
        needed: usize,
        /// The length of the caller's memory.
        room: usize,
    },
    /// A key that is to be generated is too short.
    #[error("a key of {bits} bits")]
    ShortKey {
        /// The bits that were asked for.
        bits: i64,
    },
    /// The hash of a mask is given where there is no mask.
    #[error("only the padding pss has the hash of a mask")]
    Mask,
    /// A function was called before the one that prepares it.
    #[error("the operation was not initialised with a key")]
    NotInitialised,
}

impl Failure {
    /// The number of the reason in [`REASONS`].
    pub(crate) fn reason(&self) -> c_uint {
        match self {
            Self::Parameter(_) => 1,
            Self::Key(_) => 2,
            Self::Operation(_) => 3,
            Self::Unsupported(_) => 4,
            Self::Room { .. } => 5,
            Self::NotInitialised => 6,
            Self::ShortKey { .. } => 7,
            Self::Mask => 8,
        }
    }
}

impl From<modmill_rsa::KeyError> for Failure {
    fn from(error: modmill_rsa::KeyError) -> Self {
        Self::Key(error.to_string())
    }
}

impl From<modmill_rsa::ItemError> for Failure {
    fn from(error: modmill_rsa::ItemError) -> Self {
        Self::Operation(error.into())
    }
}

impl From<modmill_rsa::Error> for Failure {
    fn from(error: modmill_rsa::Error) -> Self {
        Self::Operation(modmill_client::Error::Engine(error.to_string()))
    }
}

/// The texts of all reasons, which OpenSSL prints before the details.
pub(crate) static REASONS: [Item; 9] = [
    Item { id: 1, text: c"wrong parameter".as_ptr() },
    Item { id: 2, text: c"unusable key".as_ptr() },
    Item { id: 3, text: c"operation failed".as_ptr() },
    Item { id: 4, text: c"not supported by this provider".as_ptr() },
    Item { id: 5, text: c"output too short".as_ptr() },
    Item { id: 6, text: c"not initialised".as_ptr() },
    // These two are compared by programs, and have OpenSSL's words.
    Item { id: 7, text: c"key size too small".as_ptr() },
    Item { id: 8, text: c"invalid mgf1 md".as_ptr() },
    Item { id: 0, text: std::ptr::null() },
];
