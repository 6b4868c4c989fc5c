//! `/v1/transit/random` and `/v1/transit/hash`.

use super::answer::{Fault, respond};
use super::items::{decode, parse};
use super::lax::{Int, Text};
use super::{Call, Transit};
use crate::hex;
use axum::extract::{Path, State};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modmill_rsa::Hash;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// Random bytes that are given at once.
const MAX_RANDOM: i64 = 128 << 10;

/// How bytes are written.
fn format(bytes: &[u8], format: &str) -> Result<String, Fault> {
    match format {
        "base64" => Ok(STANDARD.encode(bytes)),
        "hex" => Ok(hex::encode(bytes)),
        other => {
            Err(Fault::bad(format!("unsupported encoding format {other:?}; must be \"hex\" or \"base64\"")))
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Random<'a> {
    bytes: Option<Int>,
    #[serde(borrow)]
    format: Option<Text<'a>>,
    #[serde(borrow)]
    source: Option<Text<'a>>,
}

/// Random bytes of the system. The path may end with a source, a number of bytes, or both.
pub(super) async fn random(
    State(_): State<Arc<Transit>>,
    rest: Option<Path<String>>,
    call: Call,
) -> Result<Response, Fault> {
    let wanted: Random<'_> = parse(&call.body)?;
    let mut source = wanted.source.as_ref().map_or("platform", Text::as_str);
    let mut count = wanted.bytes.map_or(32, |Int(bytes)| bytes);
    for part in rest.iter().flat_map(|Path(rest)| rest.split('/')) {
        match part.parse() {
            Ok(bytes) => count = bytes,
            Err(_) => source = part,
        }
    }
    if !matches!(source, "platform" | "seal" | "all") {
        return Err(Fault::bad(format!(
            "unsupported entropy source {source:?}; must be \"platform\" or \"seal\", or \"all\""
        )));
    }
    if count < 1 {
        return Err(Fault::bad("\"bytes\" cannot be less than 1"));
    }
    if count > MAX_RANDOM {
        return Err(Fault::bad(format!("\"bytes\" should be less than {MAX_RANDOM}")));
    }
    let mut bytes = zeroize::Zeroizing::new(vec![0; usize::try_from(count).unwrap_or_default()]);
    getrandom::fill(&mut bytes).map_err(|error| Fault::internal(error.to_string()))?;
    let text =
        zeroize::Zeroizing::new(format(&bytes, wanted.format.as_ref().map_or("base64", Text::as_str))?);
    Ok(respond(&call.request_id, &json!({ "random_bytes": &*text }), &[]))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Hashing<'a> {
    #[serde(borrow)]
    input: Option<Text<'a>>,
    #[serde(borrow)]
    algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    format: Option<Text<'a>>,
}

/// The digest of an input.
pub(super) async fn hash(
    State(_): State<Arc<Transit>>,
    in_path: Option<Path<String>>,
    call: Call,
) -> Result<Response, Fault> {
    let wanted: Hashing<'_> = parse(&call.body)?;
    let in_path = in_path.as_ref().map(|Path(name)| name.as_str());
    let name = in_path.or(wanted.algorithm.as_ref().map(Text::as_str)).unwrap_or("sha2-256");
    let known = name.starts_with("sha2-") || name.starts_with("sha3-");
    let hash: Option<Hash> = known.then(|| name.parse().ok()).flatten();
    let hash = hash.ok_or_else(|| Fault::bad(format!("unsupported algorithm {name}")))?;
    let input = decode(wanted.input.as_ref().map_or("", Text::as_str))
        .map_err(|error| Fault::bad(format!("unable to decode input as base64: {error}")))?;
    let sum = format(hash.digest(&[&input]).as_ref(), wanted.format.as_ref().map_or("hex", Text::as_str))?;
    Ok(respond(&call.request_id, &json!({ "sum": sum }), &[]))
}
