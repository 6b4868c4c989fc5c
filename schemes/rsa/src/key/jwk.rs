//! JSON Web Keys (RFC 7517; RFC 7518, section 6.3).

use super::{AnyKey, PrivateKey, PrivateParts, PublicKey, Sizes};
use crate::KeyError;
use crate::number;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The members of a JSON Web Key that this crate uses. The standard asks to ignore all others.
#[derive(Default, Deserialize, Serialize)]
struct Members {
    kty: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    d: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    q: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dp: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dq: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    qi: Option<Secret>,
    #[serde(default, skip_serializing)]
    oth: Option<IgnoredAny>,
}

/// Text that is overwritten when it is dropped, also if the JSON after it turns out to be wrong.
#[derive(Deserialize, Serialize, ZeroizeOnDrop)]
#[serde(transparent)]
struct Secret(String);

pub(super) fn read(json: &[u8], sizes: Sizes) -> Result<AnyKey, KeyError> {
    let members: Members =
        serde_json::from_slice(json).map_err(|error| KeyError::Format(format!("JSON: {error}")))?;
    if members.kty != "RSA" {
        return Err(KeyError::Algorithm(format!("a JSON Web Key of type {:?}", members.kty)));
    }
    if members.oth.is_some() {
        return Err(KeyError::MultiPrime);
    }
    let (n, e) = (decode(&members.n, "modulus")?, decode(&members.e, "public exponent")?);
    let Some(d) = &members.d else {
        return PublicKey::new(&n, &e, sizes).map(AnyKey::Public);
    };
    let part = |member: &Option<Secret>, what| member.as_ref().map(|text| decode(&text.0, what)).transpose();
    let (d, p, q) =
        (decode(&d.0, "private exponent")?, part(&members.p, "factor")?, part(&members.q, "factor")?);
    let [dp, dq, qi] = [&members.dp, &members.dq, &members.qi].map(|member| part(member, "exponents"));
    let (dp, dq, qi) = (dp?, dq?, qi?);
    PrivateKey::new(
        &PrivateParts {
            modulus: &n,
            public_exponent: &e,
            private_exponent: &d,
            prime1: p.as_ref().map_or(&[], |bytes| bytes),
            prime2: q.as_ref().map_or(&[], |bytes| bytes),
            exponent1: dp.as_ref().map(|bytes| bytes.as_slice()),
            exponent2: dq.as_ref().map(|bytes| bytes.as_slice()),
            coefficient: qi.as_ref().map(|bytes| bytes.as_slice()),
        },
        sizes,
    )
    .map(AnyKey::Private)
}

/// Decodes base64url. `what` names the number in an error.
fn decode(text: &str, what: &'static str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if text.is_empty() {
        return Err(KeyError::Missing(what));
    }
    let bytes = Base64UrlUnpadded::decode_vec(text).map(Zeroizing::new);
    bytes.map_err(|_| KeyError::Format(format!("the {what} is not base64url")))
}

fn encode(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn json(members: &Members) -> Result<Zeroizing<String>, KeyError> {
    // Allocated at once: a text that grew would leave parts of itself behind. There are eight numbers, none
    // of them longer than the modulus, and their names.
    let mut text = Zeroizing::new(Vec::with_capacity(9 * (members.n.len() + 16)));
    serde_json::to_writer(&mut *text, members).map_err(|error| KeyError::Format(error.to_string()))?;
    let text = String::from_utf8(std::mem::take(&mut *text));
    text.map(Zeroizing::new).map_err(|error| KeyError::Format(error.to_string()))
}

fn public_members(key: &PublicKey) -> Members {
    let (n, e) = (encode(key.modulus_bytes()), encode(&key.exponent_bytes()));
    let mut members = Members::default();
    (members.kty, members.n, members.e) = ("RSA".to_owned(), n, e);
    members
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
    /// use modmill::Engine;
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 512, Sizes::AllowSmall)?;
    /// assert!(key.to_jwk()?.starts_with(r#"{"kty":"RSA","n":""#));
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn to_jwk(&self) -> Result<Zeroizing<String>, KeyError> {
        let secret = |limbs: &[u64]| Some(Secret(encode(&number::to_be_bytes(limbs))));
        let mut members = public_members(self.public_key());
        members.d = secret(self.exponent());
        members.p = secret(self.p().prime.value());
        members.q = secret(self.q().prime.value());
        members.dp = secret(&self.p().exponent);
        members.dq = secret(&self.q().exponent);
        members.qi = secret(self.coefficient());
        json(&members)
    }
}
