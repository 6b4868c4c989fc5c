//! Blind signatures (RFC 9474): a signer signs a message that it does not see, and cannot tell later which of
//! its answers belongs to which signature.
//!
//! ```text
//!  client                                signer                what it costs
//!  prepare   32 random bytes, message                          nothing
//!  blind     z = m r^e mod n     --z-->                        r^e, r^-1
//!                                        y = z^d mod n         one private operation, checked
//!  finalize  s = y r^-1 mod n    <--y--                        one verification
//! ```
//!
//! m is the PSS encoding of the prepared message, r is random, and s is a PSS signature by the signer's key.

pub(crate) mod client;
mod group;

use crate::keys::Keys;
use crate::padding::copy_number;
use crate::rows::{Answers, Kind, Rows};
use crate::steps::{Refusal, Steps, whole};
use crate::strings::Strings;
use crate::{Error, Hash, PrivateKey, Pss, Rsa, SaltLength, SignatureScheme, random};
use std::fmt;
use std::str::FromStr;

/// The number of random bytes before a message that was prepared by a randomized variant.
const PREFIX_LEN: usize = 32;

/// A variant of RFC 9474. All use SHA-384.
///
/// The randomized variants put 32 random bytes before a message. They are the choice if nothing else decides:
/// a deterministic variant is for messages that are hard to guess already, or for signers whose keys are
/// known to be honest.
///
/// Names are those of the RFC.
///
/// ```
/// use modmill_rsa::BlindScheme;
///
/// assert_eq!("RSABSSA-SHA384-PSSZERO-Deterministic".parse(), Ok(BlindScheme::PssZeroDeterministic));
/// assert_eq!(BlindScheme::PssRandomized.to_string(), "RSABSSA-SHA384-PSS-Randomized");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlindScheme {
    /// RSABSSA-SHA384-PSS-Randomized: a salt of 48 bytes, and a random prefix.
    PssRandomized,
    /// RSABSSA-SHA384-PSSZERO-Randomized: no salt, and a random prefix.
    PssZeroRandomized,
    /// RSABSSA-SHA384-PSS-Deterministic: a salt of 48 bytes, and no prefix.
    PssDeterministic,
    /// RSABSSA-SHA384-PSSZERO-Deterministic: neither salt nor prefix. A message has one signature by a key.
    PssZeroDeterministic,
}

impl BlindScheme {
    /// Iterates over the variants.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::PssRandomized, Self::PssZeroRandomized, Self::PssDeterministic, Self::PssZeroDeterministic]
            .into_iter()
    }

    /// The name of the variant in RFC 9474.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PssRandomized => "RSABSSA-SHA384-PSS-Randomized",
            Self::PssZeroRandomized => "RSABSSA-SHA384-PSSZERO-Randomized",
            Self::PssDeterministic => "RSABSSA-SHA384-PSS-Deterministic",
            Self::PssZeroDeterministic => "RSABSSA-SHA384-PSSZERO-Deterministic",
        }
    }

    /// Whether messages are prepared with random bytes.
    #[must_use]
    pub fn is_randomized(self) -> bool {
        matches!(self, Self::PssRandomized | Self::PssZeroRandomized)
    }

    /// The scheme that verifies a finished signature of the prepared message, with [`Rsa::verify`].
    #[must_use]
    pub fn signature_scheme(self) -> SignatureScheme {
        SignatureScheme::Pss(self.pss())
    }

    pub(crate) fn pss(self) -> Pss {
        let salt = match self {
            Self::PssRandomized | Self::PssDeterministic => SaltLength::Bytes(Hash::Sha384.len()),
            Self::PssZeroRandomized | Self::PssZeroDeterministic => SaltLength::Bytes(0),
        };
        Pss { salt, ..Pss::new(Hash::Sha384) }
    }

    /// Prepares a message to be blinded (RFC 9474, section 4.1). The prepared message is what is signed:
    /// whoever verifies the signature needs it, with its random prefix.
    pub fn prepare(self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut prefix = [0; PREFIX_LEN];
        let prefix = if self.is_randomized() { &mut prefix[..] } else { &mut [] };
        random::fill(prefix)?;
        Ok([prefix, message].concat())
    }
}

impl fmt::Display for BlindScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BlindScheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().find(|scheme| scheme.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("unknown blind signature scheme {text:?}; known: {}", names.join(", "))
        })
    }
}

impl Rsa<'_> {
    /// Signs blinded messages (RFC 9474, section 4.3), with one key or a key for each. Every result is
    /// checked with the public exponent before it is returned. All variants are signed alike. [`Rsa::blind`]
    /// has an example.
    ///
    /// A blinded message is a big-endian number, as long as the modulus and below it. It comes from the
    /// client, so that the key must do nothing else: its owner would decrypt for its clients, and sign what
    /// they want.
    pub fn blind_sign<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        blinded: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        Ok(private_powers(self, keys.into(), &blinded, Kind::Public)?.vectors(self.engine))
    }
}

/// `x^d mod n` for every number x, checked with the public exponent.
pub(crate) fn private_powers(
    rsa: &Rsa<'_>,
    keys: Keys<'_, PrivateKey>,
    numbers: &dyn Strings,
    kind: Kind,
) -> Result<Rows, Error> {
    let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
        Ok(copy_number(numbers.get(item), key.public_key().modulus_bytes(), block)?)
    };
    let steps = Steps { encode: &encode, operation: &rsa.private(), decode: &whole, kind };
    steps.run(rsa.engine, keys, numbers.len())
}
