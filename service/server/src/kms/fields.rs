//! Members of requests and their ranges. Clients check none of them.

use super::KmsError;
use super::codec::Blob;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// A member that must be there.
pub(super) fn needed<T>(value: Option<T>, member: &str) -> Result<T, KmsError> {
    value.ok_or_else(|| KmsError::missing(member))
}

/// A text with a number of characters within `range`.
pub(super) fn text<'a>(
    value: Option<&'a str>,
    member: &str,
    range: RangeInclusive<usize>,
) -> Result<&'a str, KmsError> {
    let value = needed(value, member)?;
    match wrong_length(value.chars().count(), range) {
        Some(constraint) => Err(KmsError::constraint(value, member, &constraint)),
        None => Ok(value),
    }
}

/// Bytes, of which there are at least one and at most `limit`.
pub(super) fn blob(value: Option<Blob>, member: &str, limit: usize) -> Result<Blob, KmsError> {
    let value = needed(value, member)?;
    check_secret(value.bytes().len(), member, 1..=limit)?;
    Ok(value)
}

/// Refuses the length of something that is not to be repeated.
fn check_secret(len: usize, member: &str, range: RangeInclusive<usize>) -> Result<(), KmsError> {
    match wrong_length(len, range) {
        Some(constraint) => Err(KmsError::secret_constraint(member, &constraint)),
        None => Ok(()),
    }
}

/// The constraint that a length does not satisfy.
fn wrong_length(len: usize, range: RangeInclusive<usize>) -> Option<String> {
    if len < *range.start() {
        Some(format!("Member must have length greater than or equal to {}", range.start()))
    } else if len > *range.end() {
        Some(format!("Member must have length less than or equal to {}", range.end()))
    } else {
        None
    }
}

/// A text of the letters, digits and `:/_-` that AWS allows in names.
pub(super) fn word<'a>(value: &'a str, member: &str) -> Result<&'a str, KmsError> {
    if value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/_-".contains(&byte)) {
        return Ok(value);
    }
    let constraint = "Member must satisfy regular expression pattern: ^[a-zA-Z0-9:/_-]+$";
    Err(KmsError::constraint(value, member, constraint))
}

/// A number within `range`.
pub(super) fn number(value: i64, member: &str, range: RangeInclusive<i64>) -> Result<i64, KmsError> {
    if value < *range.start() {
        let constraint = format!("Member must have value greater than or equal to {}", range.start());
        return Err(KmsError::constraint(value, member, &constraint));
    }
    if value > *range.end() {
        let constraint = format!("Member must have value less than or equal to {}", range.end());
        return Err(KmsError::constraint(value, member, &constraint));
    }
    Ok(value)
}

/// The error of a value that is not in its list.
pub(super) fn not_in_list(value: &str, member: &str, list: &[&str]) -> KmsError {
    let constraint = format!("Member must satisfy enum value set: [{}]", list.join(", "));
    KmsError::constraint(value, member, &constraint)
}

/// Grant tokens are taken and not needed: grants hold at once.
pub(super) fn grant_tokens(tokens: Option<&Vec<String>>) -> Result<(), KmsError> {
    let Some(tokens) = tokens else { return Ok(()) };
    check_secret(tokens.len(), "grantTokens", 0..=10)?;
    tokens.iter().try_for_each(|token| check_secret(token.len(), "grantTokens", 1..=8192))
}

/// The characters of all names and values of an encryption context, as AWS KMS limits them.
const CONTEXT_CHARACTERS: usize = 8192;

/// An encryption context, which is authenticated with a ciphertext.
pub(super) type Context = BTreeMap<String, String>;

/// Reads an encryption context that may be missing. A name that comes twice is refused, as members of
/// requests are.
pub(super) fn context<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Context>, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Option<Context>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an encryption context")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let (mut context, mut characters) = (Context::new(), 0);
            while let Some((name, value)) = entries.next_entry::<String, String>()? {
                characters += name.chars().count() + value.chars().count();
                if characters > CONTEXT_CHARACTERS {
                    return Err(A::Error::custom("an encryption context has 8192 characters at most"));
                }
                if context.insert(name, value).is_some() {
                    return Err(A::Error::custom("a name comes twice"));
                }
            }
            Ok(Some(context))
        }
    }
    deserializer.deserialize_any(Entries)
}

/// A recipient is an enclave of AWS, which nobody here can attest.
pub(super) fn no_recipient<T>(recipient: Option<&T>) -> Result<(), KmsError> {
    match recipient {
        Some(_) => Err(KmsError::unsupported("Recipient is not supported by this service.")),
        None => Ok(()),
    }
}
