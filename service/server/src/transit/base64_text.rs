//! Base64 with errors that name the place.

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;

/// Decodes `encoding`.
pub(super) fn decode_as(text: &str, encoding: &GeneralPurpose) -> Result<Vec<u8>, String> {
    encoding.decode(text).map_err(|error| illegal(text, error))
}

/// The error of a text that is not Base64, with its place.
pub(super) fn illegal(text: &str, error: base64::DecodeError) -> String {
    let place = match error {
        base64::DecodeError::InvalidByte(place, _) => place,
        base64::DecodeError::InvalidLastSymbol { offset, .. } => offset,
        _ => text.len(),
    };
    format!("illegal base64 data at input byte {place}")
}
