//! Decryption.

use crate::batch::{Answers, Keys, Refusal, Steps};
use crate::padding::pkcs1v15;
use crate::{EncryptionScheme, Error, ItemError, PrivateKey, PublicKey, Rsa};
use zeroize::Zeroizing;

impl Rsa<'_> {
    /// Decrypts ciphertexts, with one key or a key each.
    ///
    /// With OAEP, whatever is wrong with a ciphertext of the right length is the same error. With
    /// PKCS #1 v1.5 there is no such error: a ciphertext whose padding is wrong decrypts to a message
    /// that key and ciphertext determine and that nobody can tell from a true one (implicit
    /// rejection), because whoever learns which paddings are wrong can decrypt anything
    /// (Bleichenbacher 1998). So a protocol above has to authenticate what it decrypts.
    pub fn decrypt<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: EncryptionScheme<'_>,
        ciphertexts: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
        scheme.check()?;
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
            copy_number(ciphertexts[item].as_ref(), key.public_key(), block)
        };
        let decode = |item: usize, key: &PrivateKey, block: &mut [u8]| match &scheme {
            EncryptionScheme::Oaep(oaep) => oaep.decode(block),
            EncryptionScheme::Pkcs1v15 => {
                pkcs1v15::decode_message(key.rejection_key(), ciphertexts[item].as_ref(), block)
            }
        };
        Steps { encode, operation: self.private(), decode }.run(self.engine, keys.into(), ciphertexts.len())
    }
}

/// A number below the modulus, as long as it.
pub(crate) fn copy_number(bytes: &[u8], key: &PublicKey, block: &mut [u8]) -> Result<(), Refusal> {
    if bytes.len() != key.size() {
        return Err(ItemError::WrongLength { expected: key.size(), found: bytes.len() }.into());
    }
    if bytes >= key.modulus_bytes() {
        return Err(ItemError::OutOfRange.into());
    }
    block.copy_from_slice(bytes);
    Ok(())
}
