//! How requests and answers are written. The operations do not know.

use super::KmsError;
use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderValue, StatusCode};
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use zeroize::Zeroizing;

/// A way to write requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// AWS JSON 1.1.
    Json,
}

/// The room for an answer with secrets, so that it does not grow and leave copies. The longest holds a data
/// key pair of 4096 bits, in plaintext and sealed.
const SECRET_ROOM: usize = 16 * 1024;

/// The header that names the request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// How deep a request may be. The deepest of AWS has four levels.
const DEPTH: usize = 32;

/// The number of brackets that are open at the same time, outside of texts. It is right for every JSON text.
fn depth(json: &[u8]) -> usize {
    let (mut open, mut most, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                open += 1;
                most = most.max(open);
            }
            b'}' | b']' if !in_text => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// An answer as bytes.
pub type Encoded = Zeroizing<Vec<u8>>;

impl Codec {
    /// Reads a request, which is an object. An empty body has no members.
    pub fn decode<T: DeserializeOwned>(self, body: &[u8]) -> Result<T, KmsError> {
        let body = if body.is_empty() { b"{}" } else { body };
        let unreadable = |message: String| KmsError::new("SerializationException", message);
        // Members that nobody asks for are skipped, but not however deep they are. A struct could be read
        // from an array too.
        let opening = body.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
        if !body.trim_ascii_start().starts_with(b"{") || opening > DEPTH && depth(body) > DEPTH {
            return Err(unreadable("The body is not a JSON object, or too deep.".into()));
        }
        // The text of an error may quote the body, so that only its place is told.
        serde_json::from_slice(body)
            .map_err(|error| unreadable(format!("The body cannot be read, near column {}.", error.column())))
    }

    /// Writes an answer.
    pub fn encode<T: Serialize>(self, answer: &T) -> Result<Encoded, KmsError> {
        Self::write(answer, 640)
    }

    /// Writes an answer that has a secret in it.
    pub fn encode_secret<T: Serialize>(self, answer: &T) -> Result<Encoded, KmsError> {
        Self::write(answer, SECRET_ROOM)
    }

    fn write<T: Serialize>(answer: &T, room: usize) -> Result<Encoded, KmsError> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        serde_json::to_writer(&mut *bytes, answer).map_err(|error| KmsError::internal(&error))?;
        Ok(bytes)
    }

    /// The response to a request.
    #[must_use]
    pub fn response(self, request_id: &str, answer: Result<Encoded, KmsError>) -> Response {
        #[derive(Serialize)]
        struct Failure<'a> {
            #[serde(rename = "__type")]
            name: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            message: &'a str,
        }
        let (status, bytes) = match &answer {
            Ok(_) => (StatusCode::OK, None),
            Err(KmsError { name, status, message }) => {
                (*status, Some(Self::write(&Failure { name, message }, 256).unwrap_or_default()))
            }
        };
        let bytes = bytes.or_else(|| answer.ok()).unwrap_or_default();
        let mut response = Response::new(Body::from(Bytes::from_owner(bytes)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.1"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Ok(id) = HeaderValue::from_str(request_id) {
            headers.insert(REQUEST_ID, id);
        }
        response
    }
}

/// Bytes of a request or an answer, perhaps secret: overwritten when dropped. They are Base64 in JSON.
#[derive(Clone, Default)]
pub struct Blob(Zeroizing<Vec<u8>>);

impl Blob {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to keep.
    #[must_use]
    pub fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl From<Zeroizing<Vec<u8>>> for Blob {
    fn from(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.0.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&Zeroizing::new(STANDARD.encode(&*self.0)))
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Blob;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Blob, E> {
                STANDARD.decode(text).map(Blob::from).map_err(|_| E::custom("not Base64"))
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(bytes.to_vec().into())
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Visitor)
        } else {
            deserializer.deserialize_bytes(Visitor)
        }
    }
}

/// A time: seconds since 1970, with a fraction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(f64);

impl Time {
    /// The time of a number of milliseconds since 1970.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of many thousand years are exact")]
    pub fn of_ms(ms: u64) -> Self {
        Self(ms as f64 / 1000.0)
    }

    /// Milliseconds since 1970; zero for times before.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
    pub fn ms(self) -> u64 {
        (self.0 * 1000.0).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_of_texts() {
        for (json, expected) in
            [("", 0), ("{}", 1), (r#"{"a": [1, {}], "b": []}"#, 3), (r#"["[[\\\"[["]"#, 1), ("]]][", 1)]
        {
            assert_eq!(depth(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn times_keep_their_milliseconds() {
        for ms in [0, 1, 1_440_938_160_123, 253_402_300_799_999] {
            assert_eq!(Time::of_ms(ms).ms(), ms);
        }
        assert_eq!(Time(-5.0).ms(), 0);
        assert_eq!(Time(f64::NAN).ms(), 0);
    }
}
