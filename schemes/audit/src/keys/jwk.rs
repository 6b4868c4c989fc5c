//! JSON Web Keys (RFC 7517; RFC 7518, section 6.3) and sets of them.

use super::Entry;
use crate::{EntryError, Key};
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The members of a key. Those of private keys are passed over, and only the fact that they are there is
/// kept.
#[derive(Deserialize)]
struct Members {
    kty: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    kid: Option<String>,
    d: Option<IgnoredAny>,
    p: Option<IgnoredAny>,
    q: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
}

/// A set of keys.
#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

/// The keys of a file.
pub(super) fn keys(name: &str, text: &[u8]) -> Vec<Entry> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    match serde_json::from_slice::<Set<'_>>(text) {
        Ok(set) => {
            let read = |(index, json): (usize, &&RawValue)| {
                key(&format!("{name}#{}", index + 1), json.get().as_bytes())
            };
            set.keys.iter().enumerate().map(read).collect()
        }
        Err(_) => vec![key(name, text)],
    }
}

/// A key alone.
fn key(place: &str, json: &[u8]) -> Entry {
    let members = match serde_json::from_slice::<Members>(json) {
        Ok(members) => members,
        // The parser's own text may show what it read, and that may be a secret.
        Err(error) => {
            let reason = format!("bad JSON Web Key at line {}, column {}", error.line(), error.column());
            return (place.to_owned(), Err(EntryError::Format(reason)));
        }
    };
    let id = members.kid.as_ref().map_or_else(|| place.to_owned(), |kid| format!("{place} {kid}"));
    (id, members.key())
}

impl Members {
    fn key(&self) -> Result<Key, EntryError> {
        if self.d.is_some() || self.p.is_some() || self.q.is_some() || self.k.is_some() {
            return Err(EntryError::Private);
        }
        if self.kty != "RSA" {
            return Err(EntryError::Algorithm(format!("the type {:?} of JSON Web Keys", self.kty)));
        }
        let decode = |text: &str, what: &str| {
            let bytes = Base64UrlUnpadded::decode_vec(text);
            bytes.map_err(|_| EntryError::Format(format!("the {what} is not base64url")))
        };
        Key::new(&decode(&self.n, "modulus")?, &decode(&self.e, "public exponent")?)
    }
}
