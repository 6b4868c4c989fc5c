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

/// The error of OpenSSL's own providers with the number `reason` of `proverr.h`, with `ERR_LIB_PROV` before
/// it as in `err.h`. OpenSSL has its text.
const fn of_openssl(reason: c_uint) -> c_uint {
    57 << 23 | reason
}

impl Failure {
    /// The number of the reason in [`REASONS`], or that of OpenSSL's own providers where programs compare it.
    pub(crate) fn reason(&self) -> c_uint {
        match self {
            Self::Parameter(_) => 1,
            Self::Key(_) => 2,
            Self::Operation(_) => 3,
            Self::Unsupported(_) => 4,
            Self::NotInitialised => 5,
            Self::Room { .. } => of_openssl(106),
            Self::Mask => of_openssl(167),
            Self::ShortKey { .. } => of_openssl(171),
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

/// The texts of the provider's own reasons, which OpenSSL prints before the details.
pub(crate) static REASONS: [Item; 6] = [
    Item { id: 1, text: c"wrong parameter".as_ptr() },
    Item { id: 2, text: c"unusable key".as_ptr() },
    Item { id: 3, text: c"operation failed".as_ptr() },
    Item { id: 4, text: c"not supported by this provider".as_ptr() },
    Item { id: 5, text: c"not initialised".as_ptr() },
    Item { id: 0, text: std::ptr::null() },
];
