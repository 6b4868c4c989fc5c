//! RSA without padding. Numbers are big-endian, as long as the modulus and below it. Whoever signs or
//! decrypts with this builds a scheme of his own, and almost all such schemes are broken.

use crate::batch::{Answers, Keys, Refusal, Steps};
use crate::decrypt::copy_number;
use crate::public::Public;
use crate::{Error, PrivateKey, PublicKey, Rsa};
use zeroize::Zeroizing;

/// `x^e mod n`.
pub fn public<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PublicKey>>,
    numbers: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Vec<u8>>, Error> {
    let encode =
        |item: usize, key: &PublicKey, block: &mut [u8]| copy_number(numbers[item].as_ref(), key, block);
    let decode = |_: usize, _: &PublicKey, block: &mut [u8]| Ok(block.to_vec());
    Steps { encode, operation: Public { secret: true }, decode }.run(rsa.engine, keys.into(), numbers.len())
}

/// `x^d mod n`, checked.
pub fn private<'k>(
    rsa: &Rsa<'_>,
    keys: impl Into<Keys<'k, PrivateKey>>,
    numbers: &[impl AsRef<[u8]> + Sync],
) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
    let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
        copy_number(numbers[item].as_ref(), key.public_key(), block)
    };
    let decode = |_: usize, _: &PrivateKey, block: &mut [u8]| Ok(Zeroizing::new(block.to_vec()));
    Steps { encode, operation: rsa.private(), decode }.run(rsa.engine, keys.into(), numbers.len())
}
