//! Errors as AWS names them.

use crate::batch::Refused;
use crate::body::Unread;
use crate::changes::Failure;
use crate::key_cache::KeyCacheError;
use crate::records::RecordsError;
use crate::sigv4::SigV4Error;
use crate::store::StoreError;
use http::StatusCode;
use modmill_rsa::ItemError;

/// The characters of a wrong value that are repeated.
const SHOWN: usize = 1024;

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct KmsError {
    /// The name, which clients make an exception of.
    pub name: &'static str,
    /// The status.
    pub status: StatusCode,
    /// The message. Some errors have none, so that nothing can be learnt from it.
    pub message: String,
}

impl KmsError {
    /// An error of the client: status 400.
    pub fn new(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Something in the request is out of its range.
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new("ValidationException", message)
    }

    /// `value` of `member` does not satisfy a constraint. It is repeated to its sender, as far as it can be
    /// read at a glance.
    pub fn constraint(value: impl std::fmt::Display, member: &str, constraint: &str) -> Self {
        let mut value = value.to_string();
        if let Some((end, _)) = value.char_indices().nth(SHOWN) {
            value.truncate(end);
            value.push_str("...");
        }
        Self::validation(format!(
            "1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: {constraint}"
        ))
    }

    /// The value of `member`, which may be a secret and is not repeated, does not satisfy a constraint.
    pub fn secret_constraint(member: &str, constraint: &str) -> Self {
        Self::validation(format!(
            "1 validation error detected: Value at '{member}' failed to satisfy constraint: {constraint}"
        ))
    }

    /// `member` is missing.
    pub fn missing(member: &str) -> Self {
        Self::validation(format!(
            "1 validation error detected: Value null at '{member}' failed to satisfy constraint: Member must not be null"
        ))
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new("NotFoundException", message)
    }

    /// The key's state does not allow the operation.
    pub fn state(message: impl Into<String>) -> Self {
        Self::new("KMSInvalidStateException", message)
    }

    /// The operation is not for this kind of key, or not for this service.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new("UnsupportedOperationException", message)
    }

    /// The ciphertext does not decrypt. There is no message.
    #[must_use]
    pub fn ciphertext() -> Self {
        Self::new("InvalidCiphertextException", "")
    }

    /// Too many requests: clients wait and try again.
    #[must_use]
    pub fn throttling() -> Self {
        Self::new("ThrottlingException", "Rate exceeded")
    }

    /// The service failed. Clients try again. `reason` goes to the log, not to the client.
    pub fn internal(reason: &dyn std::fmt::Display) -> Self {
        tracing::error!(%reason, "a request failed");
        Self::new("KMSInternalException", "The request failed. Try again.")
            .with_status(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The body is longer than the limit.
    #[must_use]
    pub fn too_large() -> Self {
        Self::new("RequestEntityTooLargeException", "The request's body is too large.")
            .with_status(StatusCode::PAYLOAD_TOO_LARGE)
    }
}

impl Failure for KmsError {
    fn outcome(&self) -> String {
        self.name.to_owned()
    }

    fn unaudited(reason: &str) -> Self {
        Self::internal(&reason)
    }
}

impl From<Unread> for KmsError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::TooLong => Self::too_large(),
            Unread::Full => Self::throttling(),
            // A name that clients try again.
            Unread::Slow => Self::new("RequestTimeoutException", "The request's body came too slowly.")
                .with_status(StatusCode::REQUEST_TIMEOUT),
            Unread::Incomplete => Self::new("IncompleteBodyException", "The request's body ended early."),
        }
    }
}

impl From<SigV4Error> for KmsError {
    fn from(error: SigV4Error) -> Self {
        Self::new(error.name(), error.to_string())
    }
}

impl From<RecordsError> for KmsError {
    fn from(error: RecordsError) -> Self {
        match error {
            RecordsError::Store(StoreError::Conflict) => Self::throttling(),
            error => Self::internal(&error),
        }
    }
}

impl From<Refused> for KmsError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Overloaded(_) => Self::throttling(),
            Refused::Late => Self::new("DependencyTimeoutException", refused.to_string())
                .with_status(StatusCode::SERVICE_UNAVAILABLE),
            Refused::Draining => Self::new("ServiceUnavailableException", refused.to_string())
                .with_status(StatusCode::SERVICE_UNAVAILABLE),
            Refused::Item(error) => error.into(),
            error => Self::internal(&error),
        }
    }
}

impl From<ItemError> for KmsError {
    fn from(error: ItemError) -> Self {
        match error {
            ItemError::Verification => Self::new("KMSInvalidSignatureException", ""),
            ItemError::Fault => Self::internal(&error),
            ItemError::MessageTooLong { .. } | ItemError::KeyTooShort => Self::validation(error.to_string()),
            // Wrong lengths and numbers are those of ciphertexts: signatures of other lengths are wrong ones.
            _ => Self::ciphertext(),
        }
    }
}

impl From<KeyCacheError> for KmsError {
    fn from(error: KeyCacheError) -> Self {
        Self::internal(&error)
    }
}

impl From<getrandom::Error> for KmsError {
    fn from(error: getrandom::Error) -> Self {
        Self::internal(&error)
    }
}
