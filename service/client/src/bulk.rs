//! The bulk endpoint of the signing service, which signs thousands of digests in one request: its frames, its
//! names of schemes, and a client. `modmill_server::bulk` has the protocol.
//!
//! ```no_run
//! # async fn example() -> Result<(), modmill_client::bulk::ClientError> {
//! use modmill_rsa::{Hash, SignatureScheme};
//! use modmill_client::bulk::{BulkClient, Trust};
//!
//! let client = BulkClient::connect("https://signer.example:8443", "TOKEN", &Trust::System).await?;
//! let digests = vec![0; 32 * 1000];
//! let signed = client.sign("transit/release", SignatureScheme::pss(Hash::Sha256), digests.into()).await?;
//! assert_eq!(signed.len(), 1000);
//! let first: Option<&[u8]> = signed.get(0);
//! # Ok(())
//! # }
//! ```

mod connect;
mod frame;
pub mod scheme;
mod signed;

pub use connect::Trust;
pub use frame::{Event, FrameError, Frames, Status, end, frame};
pub use signed::Signed;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::SendRequest;
use modmill_rsa::SignatureScheme;
use std::convert::Infallible;
use std::pin::Pin;

/// The media type of digests side by side.
pub const DIGESTS: &str = "application/x-modmill-digests";
/// The media type of the frames of an answer.
pub const SIGNATURES: &str = "application/x-modmill-signatures";
/// The header with the length of a signature.
pub const SIGNATURE_LENGTH: &str = "modmill-signature-length";

/// The longest text of an error that is read.
const MAX_ERROR: usize = 64 << 10;
/// Bytes of a request that are handed on at a time.
const PIECE: usize = 256 << 10;

/// Why digests were not signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is not one of a service.
    #[error("{0:?} is not an address of a service: give http://HOST:PORT or https://HOST:PORT")]
    Address(String),
    /// The certificates to trust cannot be used.
    #[error("the certificates cannot be used: {0}")]
    Certificates(String),
    /// The token has characters that a request cannot have.
    #[error("the token has characters that a request cannot have")]
    Token,
    /// The scheme has no name in a request.
    #[error("the service does not know this signature scheme")]
    Scheme,
    /// There is no connection, or it broke.
    #[error("the connection to the service failed: {0}")]
    Connection(String),
    /// The service refused the request.
    #[error("the service refused the request ({status}): {reason}")]
    Refused {
        /// The status.
        status: StatusCode,
        /// The service's message.
        reason: String,
    },
    /// The service ended the answer early.
    #[error("the service ended the answer early: {reason}")]
    Stopped {
        /// Why.
        status: Status,
        /// The service's message.
        reason: String,
    },
    /// The answer is not one of the bulk endpoint.
    #[error("the answer of the service cannot be read: {0}")]
    Answer(String),
}

impl From<hyper::Error> for ClientError {
    fn from(error: hyper::Error) -> Self {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self::Connection(format!("{error}{cause}"))
    }
}

impl From<FrameError> for ClientError {
    fn from(error: FrameError) -> Self {
        Self::Answer(error.to_string())
    }
}

type RequestBody = BoxBody<Bytes, Infallible>;

/// A connection to the bulk endpoint of a service. Clones share the connection, and may use it at the same
/// time.
#[derive(Clone)]
pub struct BulkClient {
    sender: SendRequest<RequestBody>,
    base: Uri,
    authorization: HeaderValue,
}

/// Signatures in the order of the digests, a few thousand at a time.
pub type Answers = Pin<Box<dyn Stream<Item = Result<Signed, ClientError>> + Send>>;

impl BulkClient {
    /// Connects to the service at `address`, such as `https://signer.example:8443`. `token` is the token of a
    /// credential. The connection is HTTP/2.
    pub async fn connect(address: &str, token: &str, trust: &Trust) -> Result<Self, ClientError> {
        let mut authorization =
            HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| ClientError::Token)?;
        authorization.set_sensitive(true);
        let (sender, base) = connect::connect(address, trust).await?;
        Ok(Self { sender, base, authorization })
    }

    /// Signs digests that lie side by side. Every digest is as long as those of the scheme's hash.
    pub async fn sign(
        &self,
        key: &str,
        scheme: SignatureScheme,
        digests: Bytes,
    ) -> Result<Signed, ClientError> {
        let pieces = stream::unfold(digests, async |mut rest: Bytes| {
            let piece = rest.split_to(PIECE.min(rest.len()));
            (!piece.is_empty()).then_some((piece, rest))
        });
        let mut answers = self.sign_stream(key, scheme, pieces).await?;
        let mut signed: Option<Signed> = None;
        while let Some(answer) = answers.next().await {
            match &mut signed {
                None => signed = Some(answer?),
                Some(signed) => signed.append(answer?),
            }
        }
        Ok(signed.unwrap_or_default())
    }

    /// Signs digests as they come. The pieces need not hold whole digests. Answers have to be read while
    /// digests are sent, because the service stops to take digests when nobody reads.
    pub async fn sign_stream(
        &self,
        key: &str,
        scheme: SignatureScheme,
        digests: impl Stream<Item = Bytes> + Send + Sync + 'static,
    ) -> Result<Answers, ClientError> {
        let query = scheme::query(&scheme).ok_or(ClientError::Scheme)?;
        let path = format!("/bulk/v1/sign?key={}&{query}", escaped(key));
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = Some(path.parse().map_err(|_| ClientError::Address(path.clone()))?);
        let uri = Uri::from_parts(parts).map_err(|error| ClientError::Address(error.to_string()))?;
        let host = uri.authority().map_or("", |authority| authority.as_str()).to_owned();
        let body = StreamBody::new(digests.map(|piece| Ok(Frame::data(piece))));
        let request = Request::post(uri)
            .header(HOST, host)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, DIGESTS)
            .body(BodyExt::boxed(body))
            .map_err(|error| ClientError::Address(error.to_string()))?;
        let response = self.sender.clone().send_request(request).await?;
        let (parts, body) = response.into_parts();
        if parts.status != StatusCode::OK {
            return Err(refusal(parts.status, body).await);
        }
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        if header(CONTENT_TYPE.as_str()) != Some(SIGNATURES) {
            return Err(ClientError::Answer("it is not a stream of signatures".into()));
        }
        let length = header(SIGNATURE_LENGTH).and_then(|length| length.parse().ok());
        let length = length.filter(|length| (1..=1 << 16).contains(length));
        let length: usize =
            length.ok_or_else(|| ClientError::Answer("it has no length of signatures".into()))?;
        let reader = Reader { body, frames: Frames::new(length), length };
        Ok(Box::pin(stream::unfold(Some(reader), async |reader| {
            let mut reader = reader?;
            match reader.next().await {
                Ok(Some(signed)) => Some((Ok(signed), Some(reader))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })))
    }
}

/// `name` as a value of a query.
fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The error of a request that the service refuses, with the service's message.
async fn refusal(status: StatusCode, body: Incoming) -> ClientError {
    let text = Limited::new(body, MAX_ERROR).collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let json: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    let reason = json.as_ref().and_then(|json| json["error"].as_str()).map(str::to_owned);
    ClientError::Refused {
        status,
        reason: reason.unwrap_or_else(|| String::from_utf8_lossy(&text).into_owned()),
    }
}

struct Reader {
    body: Incoming,
    frames: Frames,
    length: usize,
}

impl Reader {
    /// The next signatures. `None` if the service said that these were all.
    async fn next(&mut self) -> Result<Option<Signed>, ClientError> {
        loop {
            match self.frames.next_event()? {
                Some(Event::Answers { flags, signatures }) => {
                    return Ok(Some(Signed::new(flags, signatures, self.length)));
                }
                Some(Event::End { status: Status::Complete, .. }) => return Ok(None),
                Some(Event::End { status, text }) => {
                    return Err(ClientError::Stopped { status, reason: text });
                }
                None => {}
            }
            match self.body.frame().await {
                Some(frame) => {
                    if let Ok(bytes) = frame?.into_data() {
                        self.frames.push(&bytes);
                    }
                }
                None => return Err(ClientError::Connection("the answer was cut off".into())),
            }
        }
    }
}
