//! Lines of the audit log and the chain of their hashes.

use super::{Entry, Subject};
use crate::hex;
use crate::sha256::sha256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The text between a line's content and its hash.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
/// The text behind the hash.
const AFTER_HASH: &[u8] = b"\"}";

/// The end of the chain so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Link {
    /// The number of the last line; 0 if there is none.
    pub(super) number: u64,
    /// Its hash; zeros if there is none.
    pub(super) hash: [u8; 32],
}

/// The line of a private operation or a change.
#[derive(Serialize)]
struct OperationLine<'a> {
    n: u64,
    time_ms: u64,
    request: &'a str,
    principal: &'a str,
    access_key: &'a str,
    door: &'a str,
    operation: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digests: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'a Value>,
    outcome: &'a str,
}

/// A line that the log writes about itself.
#[derive(Serialize)]
struct NoteLine<'a> {
    n: u64,
    time_ms: u64,
    note: &'a str,
}

impl Link {
    /// Adds the line of an operation to `out`. Returns the new end of the chain.
    pub(super) fn operation(self, time_ms: u64, entry: &Entry<'_>, out: &mut Vec<u8>) -> Self {
        let Entry { origin, subject, error } = entry;
        let (mut digest, mut input_sha256, mut count, mut digests, mut change) = Default::default();
        match subject {
            Subject::Digest(octets) => digest = Some(hex::encode(octets)),
            Subject::Hashed(hash) => input_sha256 = Some(hex::encode(hash)),
            Subject::Digests { digests: octets, count: number } => {
                (count, digests) = (Some(*number), Some(STANDARD.encode(octets)));
            }
            Subject::Change { received, particulars } => {
                input_sha256 = received.map(|hash| hex::encode(&hash));
                change = Some(*particulars).filter(|particulars| !particulars.is_null());
            }
        }
        let line = OperationLine {
            n: self.number + 1,
            time_ms,
            request: &origin.request_id,
            principal: &origin.principal.name,
            access_key: &origin.principal.access_key_id,
            door: origin.door,
            operation: origin.operation,
            key: &origin.key_id,
            digest,
            input_sha256,
            count,
            digests,
            change,
            outcome: error.as_deref().unwrap_or("ok"),
        };
        self.add(&line, out)
    }

    /// Adds a line about the log itself to `out`. Returns the new end of the chain.
    pub(super) fn note(self, time_ms: u64, note: &str, out: &mut Vec<u8>) -> Self {
        self.add(&NoteLine { n: self.number + 1, time_ms, note }, out)
    }

    fn add(self, line: &impl Serialize, out: &mut Vec<u8>) -> Self {
        let start = out.len();
        // Plain structures are written to memory: this does not fail.
        let _ = serde_json::to_writer(&mut *out, line);
        let next = self.next(&out[start..]);
        out.pop();
        out.extend_from_slice(BEFORE_HASH);
        out.extend_from_slice(hex::encode(&next.hash).as_bytes());
        out.extend_from_slice(AFTER_HASH);
        out.push(b'\n');
        next
    }

    /// The end of the chain behind a line without its hash.
    fn next(self, line: &[u8]) -> Self {
        let hash = sha256(&[&self.hash, line]);
        Self { number: self.number + 1, hash }
    }

    /// The end of the chain behind a line (without its end of line), if the line continues the chain.
    pub(super) fn follow(self, line: &[u8]) -> Result<Self, Broken> {
        let read = Self::read(line).ok_or(Broken::Unreadable)?;
        if read.number != self.number + 1 {
            return Err(Broken::Number { expected: self.number + 1, found: read.number });
        }
        let content = content(line).ok_or(Broken::Unreadable)?;
        let next = self.next(&content);
        if next.hash == read.hash { Ok(next) } else { Err(Broken::Hash) }
    }

    /// The number and the hash that a line says it has.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Read {
            n: u64,
            hash: String,
        }
        let Read { n, hash } = serde_json::from_slice(line).ok()?;
        Some(Self { number: n, hash: hash_of(&hash)? })
    }

    /// The contents of the file `head`. It always has the same length.
    pub(super) fn to_head(self) -> String {
        format!("{:020} {}\n", self.number, hex::encode(&self.hash))
    }

    pub(super) fn from_head(text: &str) -> Option<Self> {
        let (number, hash) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Self { number: number.parse().ok()?, hash: hash_of(hash)? })
    }
}

/// How a line does not continue the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// It is no line of an audit log.
    Unreadable,
    /// It has another number.
    Number { expected: u64, found: u64 },
    /// It was changed, or the line before it.
    Hash,
}

/// A line without its hash.
fn content(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.strip_suffix(AFTER_HASH)?;
    let line = line.get(..line.len().checked_sub(64)?)?.strip_suffix(BEFORE_HASH)?;
    Some([line, b"}"].concat())
}

fn hash_of(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode(text.as_bytes(), &mut hash)?;
    Some(hash)
}
