//! Why a request was not signed as it should be.

/// Why a request is not authenticated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigV4Error {
    /// There is no signature.
    #[error("Missing Authentication Token")]
    Missing,
    /// The signature cannot be read, or something that it needs is not there.
    #[error("{0}")]
    Incomplete(String),
    /// Nobody has this access key, or there is a session token.
    #[error("The security token included in the request is invalid.")]
    Unrecognized,
    /// The signature is of another region, service, day or time.
    #[error("{0}")]
    Scope(String),
    /// The signature is wrong.
    #[error(
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and \
         signing method. Consult the service documentation for details."
    )]
    Mismatch,
}

impl SigV4Error {
    /// The name that AWS has for the error.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "MissingAuthenticationTokenException",
            Self::Incomplete(_) => "IncompleteSignatureException",
            Self::Unrecognized => "UnrecognizedClientException",
            Self::Scope(_) | Self::Mismatch => "InvalidSignatureException",
        }
    }
}
