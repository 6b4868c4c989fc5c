//! JSON Web Keys (RFC 7517; RFC 7518, section 6.2; RFC 8037; RFC 8812).

use super::{AnyKey, PrivateKey, PublicKey};
use crate::{Curve, KeyError};
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The members of a JSON Web Key that this crate uses. The standard asks to ignore all others.
#[derive(Deserialize, Serialize)]
struct Members {
    kty: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    x: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    d: Option<Secret>,
}

/// Text that is overwritten when it is dropped.
#[derive(Deserialize, Serialize, ZeroizeOnDrop)]
#[serde(transparent)]
struct Secret(String);

/// The types of keys in Weierstrass's form and in others.
fn key_type(curve: Curve) -> &'static str {
    if curve.is_weierstrass() { "EC" } else { "OKP" }
}

pub(super) fn read(json: &[u8]) -> Result<AnyKey, KeyError> {
    let members: Members =
        serde_json::from_slice(json).map_err(|error| KeyError::Format(format!("JSON: {error}")))?;
    let curve = Curve::all().find(|curve| curve.jwk_name() == members.crv && key_type(*curve) == members.kty);
    let curve = curve.ok_or_else(|| {
        KeyError::Algorithm(format!("a JSON Web Key of type {:?} with curve {:?}", members.kty, members.crv))
    })?;
    let mut point = decode(&members.x, "x", curve.size())?.to_vec();
    if curve.is_weierstrass() {
        let y = members.y.as_deref().ok_or(KeyError::Missing("y"))?;
        point.insert(0, 4);
        point.extend_from_slice(&decode(y, "y", curve.size())?);
    }
    let public = PublicKey::from_raw(curve, &point)?;
    match &members.d {
        None => Ok(AnyKey::Public(public)),
        Some(d) => {
            let key = PrivateKey::from_raw(curve, &decode(&d.0, "d", curve.size())?)?;
            key.check_public(Some(&public)).map(AnyKey::Private)
        }
    }
}

/// Decodes base64url of a fixed length.
fn decode(text: &str, name: &'static str, expected: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if text.is_empty() {
        return Err(KeyError::Missing(name));
    }
    let bytes = Base64UrlUnpadded::decode_vec(text).map(Zeroizing::new);
    let bytes = bytes.map_err(|_| KeyError::Format(format!("{name} is not base64url")))?;
    match bytes.len() == expected {
        true => Ok(bytes),
        false => Err(KeyError::Format(format!("{name} has {} bytes instead of {expected}", bytes.len()))),
    }
}

fn public_members(key: &PublicKey) -> Members {
    let curve = key.curve();
    let (x, y) = match curve.is_weierstrass() {
        true => {
            let (x, y) = key.as_ref()[1..].split_at(curve.size());
            (x, Some(Base64UrlUnpadded::encode_string(y)))
        }
        false => (key.as_ref(), None),
    };
    Members {
        kty: key_type(curve).to_owned(),
        crv: curve.jwk_name().to_owned(),
        x: Base64UrlUnpadded::encode_string(x),
        y,
        d: None,
    }
}

fn json(members: &Members) -> Result<Zeroizing<String>, KeyError> {
    // Allocated at once: a text that grew would leave parts of itself behind. There are three numbers at
    // most, of 88 characters at most, and their names.
    let mut text = Zeroizing::new(Vec::with_capacity(512));
    serde_json::to_writer(&mut *text, members).map_err(|error| KeyError::Format(error.to_string()))?;
    let text = String::from_utf8(std::mem::take(&mut *text));
    text.map(Zeroizing::new).map_err(|error| KeyError::Format(error.to_string()))
}

impl PublicKey {
    /// Writes a JSON Web Key.
    pub fn to_jwk(&self) -> Result<String, KeyError> {
        json(&public_members(self)).map(|text| text.to_string())
    }
}

impl PrivateKey {
    /// Writes a JSON Web Key.
    ///
    /// ```
    /// use modmill_ec::{Curve, PrivateKey};
    ///
    /// let key = PrivateKey::generate(Curve::P256)?;
    /// assert!(key.to_jwk()?.starts_with(r#"{"kty":"EC","crv":"P-256","x":""#));
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn to_jwk(&self) -> Result<Zeroizing<String>, KeyError> {
        let mut members = public_members(self.public_key());
        members.d = Some(Secret(Base64UrlUnpadded::encode_string(self.secret())));
        json(&members)
    }
}
