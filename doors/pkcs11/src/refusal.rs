//! Refusals: a return value of PKCS #11 together with the reason in words.

use cryptoki_sys::*;
use modmill_client::Error;
use modmill_rsa::{ItemError, KeyError};
use std::borrow::Cow;

/// Why a call is refused. The program learns `code` alone, and the log has both.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The return value of the call.
    pub(crate) code: CK_RV,
    /// The reason, for a person.
    pub(crate) reason: Cow<'static, str>,
}

/// The result of a call.
pub(crate) type Answer<T = ()> = Result<T, Refusal>;

impl Refusal {
    /// The refusal with return value `code` because of `reason`.
    pub(crate) fn new(code: CK_RV, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { code, reason: reason.into() }
    }
}

/// A refused call.
pub(crate) fn refuse<T>(code: CK_RV, reason: impl Into<Cow<'static, str>>) -> Answer<T> {
    Err(Refusal::new(code, reason))
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Item(ItemError::Verification) => CKR_SIGNATURE_INVALID,
            Error::Item(ItemError::Decryption) => CKR_ENCRYPTED_DATA_INVALID,
            Error::Item(ItemError::Fault) => CKR_DEVICE_ERROR,
            Error::Item(ItemError::KeyTooShort) => CKR_KEY_SIZE_RANGE,
            Error::Item(ItemError::MessageTooLong { .. } | ItemError::WrongLength { .. }) => {
                CKR_DATA_LEN_RANGE
            }
            Error::Item(ItemError::OutOfRange) => CKR_DATA_INVALID,
            Error::Item(ItemError::UnsupportedHash { .. }) => CKR_MECHANISM_PARAM_INVALID,
            Error::Key(_) => CKR_ATTRIBUTE_VALUE_INVALID,
            Error::Refused(_) => CKR_FUNCTION_REJECTED,
            Error::NoSuchKey(_) => CKR_KEY_HANDLE_INVALID,
            Error::Unreachable { .. } => CKR_DEVICE_REMOVED,
            _ => CKR_DEVICE_ERROR,
        };
        Self::new(code, error.to_string())
    }
}

impl From<modmill_rsa::Error> for Refusal {
    fn from(error: modmill_rsa::Error) -> Self {
        let code = match &error {
            modmill_rsa::Error::Key(KeyError::Generate { .. }) => CKR_KEY_SIZE_RANGE,
            modmill_rsa::Error::Key(_) => CKR_ATTRIBUTE_VALUE_INVALID,
            modmill_rsa::Error::UnsupportedHash { .. } => CKR_MECHANISM_PARAM_INVALID,
            modmill_rsa::Error::Random(_) => CKR_RANDOM_NO_RNG,
            _ => CKR_DEVICE_ERROR,
        };
        Self::new(code, error.to_string())
    }
}

impl From<ItemError> for Refusal {
    fn from(error: ItemError) -> Self {
        Error::from(error).into()
    }
}

impl From<KeyError> for Refusal {
    fn from(error: KeyError) -> Self {
        Error::from(error).into()
    }
}

impl From<getrandom::Error> for Refusal {
    fn from(error: getrandom::Error) -> Self {
        Self::new(CKR_RANDOM_NO_RNG, format!("no random numbers: {error}"))
    }
}

macro_rules! names {
    ($($name:ident)*) => {
        /// The name of a return value, if this module uses it.
        pub(crate) fn name(code: CK_RV) -> &'static str {
            match code {
                $($name => stringify!($name),)*
                _ => "another return value",
            }
        }
    };
}

names! {
    CKR_ACTION_PROHIBITED CKR_ARGUMENTS_BAD CKR_ATTRIBUTE_READ_ONLY CKR_ATTRIBUTE_SENSITIVE CKR_ATTRIBUTE_TYPE_INVALID
    CKR_ATTRIBUTE_VALUE_INVALID CKR_BUFFER_TOO_SMALL CKR_CANT_LOCK CKR_CRYPTOKI_ALREADY_INITIALIZED
    CKR_CRYPTOKI_NOT_INITIALIZED CKR_DATA_INVALID CKR_DATA_LEN_RANGE CKR_DEVICE_ERROR CKR_DEVICE_MEMORY CKR_DEVICE_REMOVED
    CKR_ENCRYPTED_DATA_INVALID CKR_ENCRYPTED_DATA_LEN_RANGE CKR_FUNCTION_NOT_SUPPORTED CKR_FUNCTION_NOT_PARALLEL
    CKR_FUNCTION_REJECTED CKR_GENERAL_ERROR CKR_KEY_FUNCTION_NOT_PERMITTED CKR_KEY_HANDLE_INVALID CKR_KEY_NOT_WRAPPABLE
    CKR_KEY_SIZE_RANGE CKR_KEY_TYPE_INCONSISTENT CKR_KEY_UNEXTRACTABLE CKR_MECHANISM_INVALID CKR_MECHANISM_PARAM_INVALID
    CKR_NEED_TO_CREATE_THREADS CKR_NO_EVENT CKR_OBJECT_HANDLE_INVALID CKR_OPERATION_ACTIVE CKR_OPERATION_NOT_INITIALIZED
    CKR_PIN_INCORRECT CKR_PIN_INVALID CKR_PIN_LEN_RANGE CKR_RANDOM_NO_RNG CKR_RANDOM_SEED_NOT_SUPPORTED
    CKR_SESSION_EXISTS CKR_SESSION_HANDLE_INVALID CKR_SESSION_PARALLEL_NOT_SUPPORTED CKR_SESSION_READ_ONLY
    CKR_SESSION_READ_ONLY_EXISTS CKR_SESSION_READ_WRITE_SO_EXISTS CKR_SIGNATURE_INVALID CKR_SIGNATURE_LEN_RANGE
    CKR_SLOT_ID_INVALID CKR_TEMPLATE_INCOMPLETE CKR_TEMPLATE_INCONSISTENT CKR_TOKEN_NOT_RECOGNIZED
    CKR_TOKEN_WRITE_PROTECTED CKR_UNWRAPPING_KEY_HANDLE_INVALID CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT
    CKR_USER_ALREADY_LOGGED_IN CKR_USER_ANOTHER_ALREADY_LOGGED_IN CKR_USER_NOT_LOGGED_IN CKR_USER_PIN_NOT_INITIALIZED
    CKR_USER_TYPE_INVALID CKR_WRAPPED_KEY_INVALID CKR_WRAPPED_KEY_LEN_RANGE CKR_WRAPPING_KEY_HANDLE_INVALID
    CKR_WRAPPING_KEY_SIZE_RANGE CKR_WRAPPING_KEY_TYPE_INCONSISTENT
}
