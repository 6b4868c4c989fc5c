//! The parts that all interfaces of a server have in common for the load.

use crate::connection::{Connection, Incoming, Outgoing};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::mixture::Operation;
use bytes::Bytes;
use fastrand::Rng;
use http_body_util::Full;
use modmill_rsa::{Hash, PublicKey, SignatureScheme};
use std::fmt;
use std::str::FromStr;

/// A token, overwritten when dropped.
pub(super) type SecretText = zeroize::Zeroizing<String>;

/// The bytes of a digest. All schemes of the load hash with SHA-256.
pub(super) const DIGEST: usize = 32;

/// The padding of signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Padding {
    /// RSASSA-PKCS1-v1_5.
    #[default]
    Pkcs1v15,
    /// RSASSA-PSS.
    Pss,
}

impl Padding {
    pub(super) fn scheme(self) -> SignatureScheme {
        match self {
            Self::Pkcs1v15 => SignatureScheme::Pkcs1v15(Hash::Sha256),
            Self::Pss => SignatureScheme::pss(Hash::Sha256),
        }
    }
}

impl fmt::Display for Padding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pkcs1v15 => "pkcs1v15",
            Self::Pss => "pss",
        })
    }
}

impl FromStr for Padding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut found = [Self::Pkcs1v15, Self::Pss].into_iter().filter(|padding| padding.to_string() == text);
        found.next().ok_or_else(|| format!("unknown padding {text:?}; it is pkcs1v15 or pss"))
    }
}

/// A request, and what is needed to judge its answer.
pub(super) struct Asked {
    pub(super) request: Outgoing,
    pub(super) operation: Operation,
    /// The index of the key.
    pub(super) key: usize,
    /// The digests to be signed, side by side.
    pub(super) digests: Bytes,
}

impl Asked {
    /// How many signatures, or other answers, a right answer holds.
    pub(super) fn items(&self) -> u64 {
        (self.digests.len() / DIGEST).max(1) as u64
    }
}

/// An interface of a server, ready for requests.
pub(super) trait Door: Send + Sync {
    /// A new request. An error ends the run.
    fn ask(&self, random: &mut Rng) -> Result<Asked, Error>;

    /// Reads the answer to a request, and hands the signatures to `keep` in the order of the digests; `None`
    /// is an item that the server did not sign. A failure has the name under which it is counted.
    fn read(
        &self,
        asked: &Asked,
        answer: &Incoming,
        keep: &mut dyn FnMut(Option<Vec<u8>>),
    ) -> Result<(), String>;

    /// The public keys, in the order of their indices.
    fn public_keys(&self) -> &[PublicKey];

    /// Requests that remove what the set-up made.
    fn clean_up(&self) -> Result<Vec<Outgoing>, Error>;
}

/// An answer that is not what was asked for.
pub(super) const WRONG_ANSWER: &str = "wrong answer";

/// The start of a request. HTTP/1.1 names the host in a header, HTTP/2 in the URL.
pub(super) fn start(endpoint: &Endpoint, method: http::Method, path: &str) -> http::request::Builder {
    let builder = http::Request::builder().method(method);
    match endpoint.is_http2() {
        true => builder.uri(endpoint.url(path)),
        false => builder.uri(path).header("host", &endpoint.authority),
    }
}

/// A request of JSON, or without a body, for interfaces that take a token.
pub(super) fn with_token(
    endpoint: &Endpoint,
    (method, path): (http::Method, &str),
    token: &SecretText,
    body: Option<&serde_json::Value>,
) -> Result<Outgoing, Error> {
    let builder = start(endpoint, method, path).header("authorization", format!("Bearer {}", token.as_str()));
    let body = body.map_or_else(String::new, serde_json::Value::to_string);
    builder.header("content-type", "application/json").body(Full::from(body)).map_err(not_a_request)
}

/// A name or a token from the command line that cannot be part of a request.
pub(super) fn not_a_request(error: http::Error) -> Error {
    Error::Settings(format!("no request can be made of these settings: {error}"))
}

/// The name of a failure of which only the status is known.
pub(super) fn status_name(answer: &Incoming) -> String {
    format!("status {}", answer.status.as_u16())
}

/// Asks for something that the run needs beforehand.
pub(super) async fn set_up(
    connection: &mut Connection,
    what: &str,
    request: Outgoing,
) -> Result<serde_json::Value, Error> {
    let failed = |failure: String| Error::SetUp { what: what.to_owned(), failure };
    let answer = connection.send(request).await.map_err(|failure| failed(failure.to_owned()))?;
    if !answer.status.is_success() {
        let text: String = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
        return Err(failed(format!("status {}: {text}", answer.status.as_u16())));
    }
    if answer.body.is_empty() {
        return Ok(serde_json::Value::Null);
    }
    serde_json::from_slice(&answer.body).map_err(|error| failed(format!("the answer is no JSON: {error}")))
}

/// A text in an answer of the set-up.
pub(super) fn text<'a>(answer: &'a serde_json::Value, pointer: &str, what: &str) -> Result<&'a str, Error> {
    let missing = || Error::SetUp { what: what.to_owned(), failure: format!("no {pointer} in the answer") };
    answer.pointer(pointer).and_then(serde_json::Value::as_str).ok_or_else(missing)
}

/// Reads a public key in an answer of the set-up.
pub(super) fn public_key(bytes: &[u8], what: &str) -> Result<PublicKey, Error> {
    let wrong = |failure: String| Error::SetUp { what: what.to_owned(), failure };
    PublicKey::read(bytes, modmill_rsa::Sizes::AllowSmall).map_err(|error| wrong(error.to_string()))
}
