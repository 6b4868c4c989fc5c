//! Who may see the page.

use super::Watched;
use crate::credential::Right;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// Why the page is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// There is no token, or nobody has it.
    Unknown,
    /// The credential may not watch.
    Forbidden,
}

/// Finds out whether a request may see the page.
pub(super) fn check(watched: &impl Watched, headers: &HeaderMap) -> Result<(), Denied> {
    let token = token(headers).ok_or(Denied::Unknown)?;
    let principal = watched.principal(&token).ok_or(Denied::Unknown)?;
    if principal.may(Right::Watch) { Ok(()) } else { Err(Denied::Forbidden) }
}

/// The token of a request: that of `Bearer`, or the password of `Basic`, whose user may be anything.
fn token(headers: &HeaderMap) -> Option<Zeroizing<String>> {
    let (scheme, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(Zeroizing::new(rest.to_owned()));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = Zeroizing::new(STANDARD.decode(rest).ok()?);
    let (_, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some(Zeroizing::new(password.to_owned()))
}
