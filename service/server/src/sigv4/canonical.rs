//! The canonical form of a request, which both sides compute.

use super::SigV4Error;
use http::HeaderMap;

/// The parts of a request that are signed.
#[derive(Debug, Clone, Copy)]
pub struct Canonical<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, before its characters are encoded once more.
    pub path: &'a str,
    /// The query without its question mark, often empty.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The host with its port, for requests of HTTP/2, which have no header `host`.
    pub host: Option<&'a str>,
    /// The names of the headers that are signed, separated by `;`.
    pub signed_headers: &'a str,
    /// The hash of the body in hexadecimal.
    pub payload_hash: &'a str,
}

/// The canonical form. It fails if a header that is said to be signed is not there.
pub fn canonical_request(request: &Canonical<'_>) -> Result<Vec<u8>, SigV4Error> {
    let mut out = Vec::with_capacity(768);
    out.extend_from_slice(request.method.as_bytes());
    out.push(b'\n');
    path(&mut out, request.path);
    out.push(b'\n');
    query(&mut out, request.query);
    out.push(b'\n');
    for name in request.signed_headers.split(';') {
        header(&mut out, request, name)?;
    }
    out.push(b'\n');
    out.extend_from_slice(request.signed_headers.as_bytes());
    out.push(b'\n');
    out.extend_from_slice(request.payload_hash.as_bytes());
    Ok(out)
}

fn header(out: &mut Vec<u8>, request: &Canonical<'_>, name: &str) -> Result<(), SigV4Error> {
    let absent = || {
        SigV4Error::Incomplete(format!("Authorization header names '{name}', which is not in the request."))
    };
    let known = !name.is_empty() && !name.bytes().any(|byte| byte.is_ascii_uppercase());
    let mut values = request.headers.get_all(known.then_some(name).ok_or_else(absent)?).iter().peekable();
    out.extend_from_slice(name.as_bytes());
    out.push(b':');
    if values.peek().is_none() {
        let host = request.host.filter(|_| name == "host").ok_or_else(absent)?;
        out.extend_from_slice(host.as_bytes());
    }
    let mut first = true;
    for value in values {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        collapse(out, value.as_bytes());
    }
    out.push(b'\n');
    Ok(())
}

/// A value without spaces around it, and with one space for several.
fn collapse(out: &mut Vec<u8>, value: &[u8]) {
    let mut space = false;
    for &byte in value.trim_ascii() {
        let is_space = byte == b' ';
        if !(is_space && space) {
            out.push(byte);
        }
        space = is_space;
    }
}

/// The path without `.`, `..` and empty segments, encoded.
fn path(out: &mut Vec<u8>, path: &str) {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    for segment in &segments {
        out.push(b'/');
        encode(out, segment.as_bytes());
    }
    if segments.is_empty() || path.ends_with('/') {
        out.push(b'/');
    }
}

/// The parameters, decoded, encoded alike, and sorted.
fn query(out: &mut Vec<u8>, query: &str) {
    let encoded = |text: &str| {
        let mut out = Vec::new();
        encode(&mut out, &decode(text));
        out
    };
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    let mut parameters: Vec<_> = parameters
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .map(|(name, value)| (encoded(name), encoded(value)))
        .collect();
    parameters.sort_unstable();
    for (index, (name, value)) in parameters.iter().enumerate() {
        if index > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(name);
        out.push(b'=');
        out.extend_from_slice(value);
    }
}

/// Every byte but the unreserved characters of RFC 3986 in percent encoding.
fn encode(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            let digit = |value: u8| b"0123456789ABCDEF"[usize::from(value & 15)];
            out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte)]);
        }
    }
}

/// The bytes of percent encoding. What is not percent encoding stands for itself.
fn decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let value = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(value.unwrap_or(byte));
        rest = if value.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    out
}
