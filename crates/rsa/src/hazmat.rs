//! RSA without padding. Numbers are big-endian, as long as the modulus and below it.
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

use crate::keys::Keys;
use crate::padding::copy_number;
use crate::public::Public;
use crate::rows::Kind;
use crate::steps::{Answers, Refusal, Steps};
use crate::{Error, PrivateKey, PublicKey, Rsa};
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
    let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
        Ok(copy_number(numbers[item].as_ref(), key.public_key().modulus_bytes(), block)?)
    };
    let decode =
        |_: usize, _: &PrivateKey, block: &mut [u8], _: &mut [u8]| Ok(Zeroizing::new(block.to_vec()));
    let steps = Steps { encode, operation: rsa.private(), decode, kind: Kind::Values };
    Ok(steps.run(rsa.engine, keys.into(), numbers.len())?.0)
}
