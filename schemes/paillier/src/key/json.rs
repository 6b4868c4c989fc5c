//! Keys in JSON, as the program `pheutil` of python-paillier writes and reads them.
//!
//! ```text
//! {"kty":"DAJ","alg":"PAI-GN1","key_ops":["encrypt"],"n":base64url,"kid":text}
//! {"kty":"DAJ","key_ops":["decrypt"],"p":base64url,"q":base64url,"pub":{a public key},"kid":text}
//! ```
//!
//! A key for short exponents has the member `hs` as well, and the length of its exponents in bits as
//! `hs_bits`. A private key with a small subgroup has `u` and `v`. Python-paillier does not look at these.

use super::{PrivateKey, PublicKey, ShortBase};
use crate::KeyError;
use base64ct::{Base64UrlUnpadded, Encoding};
use modmill::number::{self, Number};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

const TYPE: &str = "DAJ";
const ALGORITHM: &str = "PAI-GN1";

#[derive(Deserialize, Serialize)]
struct PublicMembers {
    kty: String,
    alg: String,
    #[serde(default)]
    key_ops: Vec<String>,
    n: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hs: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hs_bits: Option<usize>,
    #[serde(default)]
    kid: String,
}

#[derive(Deserialize, Serialize)]
struct PrivateMembers {
    kty: String,
    #[serde(default)]
    key_ops: Vec<String>,
    p: Secret,
    q: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    u: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    v: Option<Secret>,
    #[serde(rename = "pub")]
    public: PublicMembers,
    #[serde(default)]
    kid: String,
}

/// The members that tell which kind of key a text is.
#[derive(Deserialize)]
struct Outline {
    kty: Option<String>,
    n: Option<IgnoredAny>,
    p: Option<IgnoredAny>,
    #[serde(rename = "pub")]
    public: Option<IgnoredAny>,
}

/// Text that is overwritten when it is dropped, also if the JSON after it turns out to be wrong.
#[derive(Deserialize, Serialize, ZeroizeOnDrop)]
#[serde(transparent)]
struct Secret(String);

impl PublicKey {
    /// Writes the key in JSON. `kid` is a text that names the key.
    ///
    /// ```
    /// use modmill_paillier::PublicKey;
    ///
    /// let mut n = [0xff; 128];
    /// n[127] = 0xd9;
    /// let key = PublicKey::new(&n)?;
    /// let json = key.to_json("a name")?;
    /// assert!(json.starts_with(r#"{"kty":"DAJ","alg":"PAI-GN1","key_ops":["encrypt"],"n":"_____"#));
    /// assert_eq!(PublicKey::from_json(&json)?, key);
    /// # Ok::<(), modmill_paillier::KeyError>(())
    /// ```
    pub fn to_json(&self, kid: &str) -> Result<String, KeyError> {
        serde_json::to_string(&members(self, kid)).map_err(wrong)
    }

    /// Reads a public key in JSON.
    pub fn from_json(text: &str) -> Result<Self, KeyError> {
        expect_kind(text, "a public key")?;
        of_members(&serde_json::from_str(text).map_err(wrong)?)
    }
}

impl PrivateKey {
    /// Writes the key in JSON, unencrypted. `kid` is a text that names the key.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{PrivateKey, Randomness};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 1024, Randomness::Full)?;
    /// let json = key.to_json("a name")?;
    /// assert!(json.starts_with(r#"{"kty":"DAJ","key_ops":["decrypt"],"p":""#));
    /// assert_eq!(PrivateKey::from_json(&json)?.primes(), key.primes());
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn to_json(&self, kid: &str) -> Result<Zeroizing<String>, KeyError> {
        let [p, q] = self.primes().map(|prime| Secret(encode(prime)));
        let [u, v] = match self.subgroup() {
            Some(orders) => orders.map(|order| Some(Secret(encode(&order)))),
            None => [None, None],
        };
        let members = PrivateMembers {
            kty: TYPE.to_owned(),
            key_ops: vec!["decrypt".to_owned()],
            p,
            q,
            u,
            v,
            public: members(self.public_key(), kid),
            kid: kid.to_owned(),
        };
        // Allocated at once: a text that grew would leave parts of itself behind. The numbers have at most 5
        // times the length of n, 6 bits in a character; a character of a name may be written as 6.
        let mut text = Zeroizing::new(Vec::with_capacity(1024 + self.bits() + 12 * kid.len()));
        serde_json::to_writer(&mut *text, &members).map_err(wrong)?;
        let text = String::from_utf8(std::mem::take(&mut *text));
        text.map(Zeroizing::new).map_err(|error| KeyError::Format(error.to_string()))
    }

    /// Reads a private key in JSON.
    pub fn from_json(text: &str) -> Result<Self, KeyError> {
        expect_kind(text, "a private key")?;
        let members: PrivateMembers = serde_json::from_str(text).map_err(wrong)?;
        let public = of_members(&members.public)?;
        let (p, q) = (decode("p", &members.p.0)?, decode("q", &members.q.0)?);
        let orders = match (&members.u, &members.v) {
            (Some(u), Some(v)) => {
                Some([number::from_be_bytes(&decode("u", &u.0)?), number::from_be_bytes(&decode("v", &v.0)?)])
            }
            (None, None) => None,
            _ => return Err(KeyError::Format("it has one of u and v without the other".to_owned())),
        };
        let base = public.short_base().map(|hs| ShortBase {
            hs: Number::new(hs.to_vec()),
            exponent_bits: Some(public.short_exponent_bits()),
        });
        let key = Self::of_stranger(&number::from_be_bytes(&p), &number::from_be_bytes(&q), base, orders)?;
        match *key.public_key() == public {
            true => Ok(key),
            false => Err(KeyError::Inconsistent("n is not the product of p and q")),
        }
    }
}

fn members(key: &PublicKey, kid: &str) -> PublicMembers {
    PublicMembers {
        kty: TYPE.to_owned(),
        alg: ALGORITHM.to_owned(),
        key_ops: vec!["encrypt".to_owned()],
        n: encode(key.modulus().value()),
        hs: key.short_base().map(encode),
        hs_bits: key.short_base().map(|_| key.short_exponent_bits()),
        kid: kid.to_owned(),
    }
}

fn of_members(members: &PublicMembers) -> Result<PublicKey, KeyError> {
    check_type(&members.kty)?;
    if members.alg != ALGORITHM {
        let found = &members.alg;
        return Err(KeyError::Format(format!("its algorithm is {found:?} instead of {ALGORITHM:?}")));
    }
    let n = decode("n", &members.n)?;
    match (&members.hs, members.hs_bits) {
        (Some(base), Some(bits)) => PublicKey::with_subgroup_base(&n, &decode("hs", base)?, bits),
        (Some(base), None) => PublicKey::with_short_base(&n, &decode("hs", base)?),
        (None, _) => PublicKey::new(&n),
    }
}

/// Refuses a text that is another kind of key, or none.
fn expect_kind(text: &str, expected: &str) -> Result<(), KeyError> {
    let outline: Outline = serde_json::from_str(text).map_err(wrong)?;
    let found = match outline {
        Outline { kty: Some(kty), .. } if kty != TYPE => return check_type(&kty),
        Outline { p: Some(_), .. } | Outline { public: Some(_), .. } => "a private key",
        Outline { n: Some(_), .. } => "a public key",
        Outline { .. } => "no key of Paillier's encryption",
    };
    match found == expected {
        true => Ok(()),
        false => Err(KeyError::Format(format!("it is {found} where {expected} was expected"))),
    }
}

fn check_type(found: &str) -> Result<(), KeyError> {
    match found == TYPE {
        true => Ok(()),
        false => Err(KeyError::Format(format!("its type is {found:?} instead of {TYPE:?}"))),
    }
}

fn encode(number: &[u64]) -> String {
    Base64UrlUnpadded::encode_string(&number::to_short_be_bytes(number))
}

fn decode(name: &str, text: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let bytes = Base64UrlUnpadded::decode_vec(text).map(Zeroizing::new);
    bytes.map_err(|_| KeyError::Format(format!("{name} is not base64url")))
}

fn wrong(error: serde_json::Error) -> KeyError {
    KeyError::Format(format!("JSON: {error}"))
}
