//! RSA without padding, and blinding with known factors. Numbers are big-endian, as long as the modulus and
//! below it.
//!
//! Use this only to implement a published scheme. Signatures and encryption without a padding are easy to
//! forge and to decrypt.
//!
//! ```
//! use modmill::Engine;
//! use modmill_rsa::{PrivateKey, Rsa, Sizes, hazmat};
//!
//! let engine = Engine::new()?;
//! let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall)?;
//! let rsa = Rsa::new(&engine);
//! let power = hazmat::public(&rsa, key.public_key(), &[[7; 64]])?.remove(0)?;
//! assert_eq!(hazmat::private(&rsa, &key, &[power])?.remove(0)?[..], [7; 64]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::blind::private_powers;
use crate::keys::{Keys, check_length};
use crate::padding::copy_number;
use crate::public::Public;
use crate::rows::{Answers, Kind, Rows};
use crate::steps::{Refusal, Steps, whole};
use crate::strings::Strings;
use crate::{
    BlindScheme, Blinded, EncryptionScheme, Error, Hash, ItemError, PrivateKey, Pss, PublicKey, Rsa,
    SignatureScheme, number, random,
};
use zeroize::Zeroizing;

/// The numbers of a private key as big-endian bytes without leading zeros. They are cleared when they are
/// dropped.
#[allow(missing_docs)]
pub struct PrivateNumbers {
    pub exponent: Zeroizing<Vec<u8>>,
    pub prime1: Zeroizing<Vec<u8>>,
    pub prime2: Zeroizing<Vec<u8>>,
    /// `d mod (p - 1)`.
    pub exponent1: Zeroizing<Vec<u8>>,
    /// `d mod (q - 1)`.
    pub exponent2: Zeroizing<Vec<u8>>,
    /// `q^-1 mod p`.
    pub coefficient: Zeroizing<Vec<u8>>,
}

/// The numbers of a private key, for interfaces that hand a key on number by number.
#[must_use]
pub fn numbers(key: &PrivateKey) -> PrivateNumbers {
    let (p, q) = (key.p(), key.q());
    PrivateNumbers {
        exponent: number::to_be_bytes(key.exponent()),
        prime1: number::to_be_bytes(p.prime.value()),
        prime2: number::to_be_bytes(q.prime.value()),
        exponent1: number::to_be_bytes(&p.exponent),
        exponent2: number::to_be_bytes(&q.exponent),
        coefficient: number::to_be_bytes(key.coefficient()),
    }
}

/// The encoding of `digest` by PSS, with a random salt, for a key of `key_bits` bits: a number for
/// [`private`]. It is made with any hash, SHA-1 too, with which [`Rsa::sign_digests`] signs nothing.
pub fn encode_pss(pss: Pss, digest: &[u8], key_bits: usize) -> Result<Vec<u8>, EncodeError> {
    let expected = Hash::len(pss.hash);
    if digest.len() != expected {
        return Err(ItemError::WrongLength { expected, found: digest.len() }.into());
    }
    let mut salt = Zeroizing::new(vec![0; pss.salt_len(key_bits)?]);
    random::fill(&mut salt)?;
    let mut block = vec![0; key_bits.div_ceil(8)];
    pss.encode(digest, &salt, key_bits, &mut block)?;
    Ok(block)
}

/// The encoding of `digest` by `scheme` for a key of `key_bits` bits: a number for [`private`].
///
/// ```
/// use modmill::Engine;
/// use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes, hazmat};
///
/// let engine = Engine::new()?;
/// let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall)?;
/// let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::Pkcs1v15(Hash::Sha256));
/// let number = hazmat::encode(scheme, Hash::Sha256.digest(&[b"message"]).as_ref(), key.bits())?;
/// let signature = hazmat::private(&rsa, &key, &[number])?.remove(0)?;
/// assert_eq!(*signature, rsa.sign(&key, scheme, &["message"])?.remove(0)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode(scheme: SignatureScheme, digest: &[u8], key_bits: usize) -> Result<Vec<u8>, EncodeError> {
    if let SignatureScheme::Pss(pss) = scheme {
        return encode_pss(pss, digest, key_bits);
    }
    let prefix = scheme.prefix().map_err(ItemError::from)?;
    let mut block = vec![0; key_bits.div_ceil(8)];
    match scheme.encode(&prefix, &scheme.read_digest(digest)?, key_bits, &mut block) {
        Ok(()) => Ok(block),
        Err(Refusal::Item(error)) => Err(error.into()),
        Err(Refusal::Call(error)) => Err(error.into()),
    }
}

/// The message in `block`, the private power of `ciphertext` as [`private`] returns it. The block is
/// overwritten. The time does not depend on what the block holds, but for the length of the message.
pub fn decode<'b>(
    scheme: EncryptionScheme<'_>,
    key: &PrivateKey,
    ciphertext: &[u8],
    block: &'b mut [u8],
) -> Result<&'b [u8], ItemError> {
    scheme.check()?;
    scheme.decode(key, ciphertext, block)
}

/// The reason why there is no encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The digest or the key has a wrong length.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// The operating system gave no random numbers.
    #[error(transparent)]
    Random(#[from] Error),
}

/// `x^e mod n` for every number x.
pub fn public<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PublicKey>>,
    numbers: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Vec<u8>>, Error> {
    Ok(public_powers(rsa, keys.into(), &numbers)?.vectors(rsa.engine))
}

fn public_powers(rsa: &Rsa<'_>, keys: Keys<'_, PublicKey>, numbers: &dyn Strings) -> Result<Rows, Error> {
    let encode = |item: usize, key: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
        Ok(copy_number(numbers.get(item), key.modulus_bytes(), block)?)
    };
    let operation = &Public { secret: true };
    let steps = Steps { encode: &encode, operation, decode: &whole, kind: Kind::Public };
    steps.run(rsa.engine, keys, numbers.len())
}

/// `x^d mod n` for every number x. Every result is checked with the public exponent.
pub fn private<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PrivateKey>>,
    numbers: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
    Ok(private_powers(rsa, keys.into(), &numbers, Kind::Secret)?.secrets(rsa.engine))
}

/// Blinds as [`Rsa::blind`] does, with salts and blinding factors of the caller's, for known answers. Whoever
/// knows or guesses a factor can tell which signature came of the blinded message.
pub fn blind<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PublicKey>>,
    scheme: BlindScheme,
    prepared: &[impl AsRef<[u8]> + Sync],
    salts: &[impl AsRef<[u8]> + Sync],
    factors: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Blinded>, Error> {
    blind_with(rsa, keys.into(), scheme, &prepared, [&salts, &factors])
}

fn blind_with(
    rsa: &Rsa<'_>,
    keys: Keys<'_, PublicKey>,
    scheme: BlindScheme,
    prepared: &dyn Strings,
    [salts, factors]: [&dyn Strings; 2],
) -> Result<Answers<Blinded>, Error> {
    check_length("salts", prepared.len(), salts.len())?;
    check_length("factors", prepared.len(), factors.len())?;
    let write_salt = |item: usize, salt: &mut [u8]| -> Result<(), Refusal> {
        let (expected, given) = (salt.len(), salts.get(item));
        if given.len() != expected {
            return Err(ItemError::WrongLength { expected, found: given.len() }.into());
        }
        salt.copy_from_slice(given);
        Ok(())
    };
    let write_factor = |item: usize, key: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
        Ok(copy_number(factors.get(item), key.modulus_bytes(), block)?)
    };
    rsa.blind_by(keys, scheme, prepared, &write_salt, &write_factor)
}
