//! JSON Web Keys (RFC 7517; RFC 7518, section 6.3).

use super::{AnyKey, PrivateKey, PrivateParts, PublicKey, Sizes};
use crate::KeyError;
use crate::number;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

/// The fields that say what the key is; others are ignored, as the standard asks.
#[derive(Default, Deserialize, Serialize)]
struct Fields {
    kty: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    d: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    q: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dp: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dq: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    qi: Option<String>,
    #[serde(default, skip_serializing)]
    oth: Option<serde_json::Value>,
}

impl Drop for Fields {
    fn drop(&mut self) {
        for field in [&mut self.d, &mut self.p, &mut self.q, &mut self.dp, &mut self.dq, &mut self.qi] {
            field.zeroize();
        }
    }
}

pub(super) fn read(json: &[u8], sizes: Sizes) -> Result<AnyKey, KeyError> {
    let fields: Fields =
        serde_json::from_slice(json).map_err(|error| KeyError::Format(format!("JSON: {error}")))?;
    if fields.kty != "RSA" {
        return Err(KeyError::Algorithm(format!("a JSON Web Key of type {:?}", fields.kty)));
    }
    if fields.oth.is_some() {
        return Err(KeyError::MultiPrime);
    }
    let (n, e) = (decode(&fields.n, "modulus")?, decode(&fields.e, "public exponent")?);
    let Some(d) = &fields.d else {
        return PublicKey::new(&n, &e, sizes).map(AnyKey::Public);
    };
    let (Some(p), Some(q)) = (&fields.p, &fields.q) else {
        return Err(KeyError::Missing("prime factors"));
    };
    let part = |field: &Option<String>| field.as_ref().map(|text| decode(text, "exponents")).transpose();
    let (d, p, q) = (decode(d, "private exponent")?, decode(p, "factor")?, decode(q, "factor")?);
    let (dp, dq, qi) = (part(&fields.dp)?, part(&fields.dq)?, part(&fields.qi)?);
    let parts = PrivateParts {
        modulus: &n,
        public_exponent: &e,
        private_exponent: &d,
        prime1: &p,
        prime2: &q,
        exponent1: dp.as_ref().map(|bytes| bytes.as_slice()),
        exponent2: dq.as_ref().map(|bytes| bytes.as_slice()),
        coefficient: qi.as_ref().map(|bytes| bytes.as_slice()),
    };
    PrivateKey::new(&parts, sizes).map(AnyKey::Private)
}

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

fn json(fields: &Fields) -> Result<Zeroizing<String>, KeyError> {
    // Nine numbers, none longer than the modulus, with their names: a text that grew would leave parts of itself behind.
    let mut text = Zeroizing::new(Vec::with_capacity(9 * (fields.n.len() + 16)));
    serde_json::to_writer(&mut *text, fields).map_err(|error| KeyError::Format(error.to_string()))?;
    let text = String::from_utf8(std::mem::take(&mut *text));
    text.map(Zeroizing::new).map_err(|error| KeyError::Format(error.to_string()))
}

fn public_fields(key: &PublicKey) -> Fields {
    let (n, e) = (encode(key.modulus_bytes()), encode(&key.exponent_bytes()));
    let mut fields = Fields::default();
    (fields.kty, fields.n, fields.e) = ("RSA".to_owned(), n, e);
    fields
}

impl PublicKey {
    /// A JSON Web Key.
    pub fn to_jwk(&self) -> Result<String, KeyError> {
        json(&public_fields(self)).map(|text| text.to_string())
    }
}

impl PrivateKey {
    /// A JSON Web Key.
    pub fn to_jwk(&self) -> Result<Zeroizing<String>, KeyError> {
        let secret = |limbs: &[u64]| Some(encode(&number::to_be_bytes(limbs)));
        let mut fields = public_fields(self.public_key());
        fields.d = secret(self.exponent());
        fields.p = secret(self.p().prime.value());
        fields.q = secret(self.q().prime.value());
        fields.dp = secret(&self.p().exponent);
        fields.dq = secret(&self.q().exponent);
        fields.qi = secret(self.coefficient());
        json(&fields)
    }
}
