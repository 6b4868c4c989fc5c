//! RSA without padding, and blinding with known factors. Numbers are big-endian, as long as the modulus and below it.
//!
//! Use this only to implement a published scheme. Signatures and encryption without a padding are easy to forge and
//! to decrypt.
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
use crate::rows::{Kind, SecretVectors};
use crate::steps::{Answers, Refusal, Steps};
use crate::{BlindScheme, Blinded, Error, ItemError, PrivateKey, PublicKey, Rsa};
use zeroize::Zeroizing;

/// `x^e mod n` for every number x.
pub fn public<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PublicKey>>,
    numbers: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Vec<u8>>, Error> {
    let encode = |item: usize, key: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
        Ok(copy_number(numbers[item].as_ref(), key.modulus_bytes(), block)?)
    };
    let decode = |_: usize, _: &PublicKey, block: &mut [u8], _: &mut [u8]| Ok(block.to_vec());
    let steps = Steps { encode, operation: Public { secret: true }, decode, kind: Kind::Values };
    Ok(steps.run(rsa.engine, keys.into(), numbers.len())?.0)
}

/// `x^d mod n` for every number x. Every result is checked with the public exponent.
pub fn private<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PrivateKey>>,
    numbers: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
    private_powers::<SecretVectors>(rsa, keys.into(), numbers)
}

/// The same as [`Rsa::blind`], with salts and blinding factors of the caller's, for known answers. Whoever knows or guesses a
/// factor can tell which signature came of the blinded message.
pub fn blind<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PublicKey>>,
    scheme: BlindScheme,
    prepared: &[impl AsRef<[u8]> + Sync],
    salts: &[impl AsRef<[u8]> + Sync],
    factors: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Blinded>, Error> {
    check_length("salts", prepared.len(), salts.len())?;
    check_length("factors", prepared.len(), factors.len())?;
    let write_salt = |item: usize, salt: &mut [u8]| -> Result<(), Refusal> {
        let (expected, given) = (salt.len(), salts[item].as_ref());
        if given.len() != expected {
            return Err(ItemError::WrongLength { expected, found: given.len() }.into());
        }
        salt.copy_from_slice(given);
        Ok(())
    };
    let write_factor = |item: usize, key: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
        Ok(copy_number(factors[item].as_ref(), key.modulus_bytes(), block)?)
    };
    rsa.blind_by(keys.into(), scheme, prepared, write_salt, write_factor)
}
