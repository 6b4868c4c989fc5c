//! The right to see the page.

use super::Watched;
use crate::credentials::Right;
use crate::door::{self, Denied};
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// Finds out whether a request may see the page.
pub(super) fn check(watched: &impl Watched, headers: &HeaderMap) -> Result<(), Denied> {
    let token = token(headers).ok_or(Denied::Unknown)?;
    let principal = watched.principal(&token).ok_or(Denied::Unknown)?;
    if principal.may(Right::Watch) { Ok(()) } else { Err(Denied::Forbidden) }
}

/// The token of a request: that of `Bearer`, or the password of `Basic`, whose user may be anything.
fn token(headers: &HeaderMap) -> Option<Zeroizing<String>> {
    if let Some(token) = door::bearer(headers) {
        return Some(Zeroizing::new(token.to_owned()));
    }
    let decoded = Zeroizing::new(STANDARD.decode(door::authorization(headers, "basic")?).ok()?);
    let (_, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some(Zeroizing::new(password.to_owned()))
}
