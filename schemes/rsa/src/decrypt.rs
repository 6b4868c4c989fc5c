//! Decryption.

use crate::keys::Keys;
use crate::padding;
use crate::rows::{Answers, Kind, Rows};
use crate::steps::{Refusal, Steps, decoding};
use crate::strings::Strings;
use crate::{EncryptionScheme, Error, PrivateKey, Rsa};
use zeroize::Zeroizing;

impl Rsa<'_> {
    /// Decrypts `ciphertexts`, with one key or a key for each ciphertext.
    ///
    /// With OAEP, every wrong ciphertext of the right length gets the same error,
    /// [`ItemError::Decryption`](crate::ItemError::Decryption).
    ///
    /// With PKCS #1 v1.5 a wrong padding is no error: anyone who learns which paddings are wrong can decrypt
    /// every ciphertext (Bleichenbacher 1998). Instead such a ciphertext decrypts to a random-looking message
    /// that the key and the ciphertext determine (implicit rejection). The caller's protocol has to
    /// authenticate what it decrypts.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, Rsa, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, scheme) = (Rsa::new(&engine), EncryptionScheme::oaep(Hash::Sha256));
    /// let ciphertext = rsa.encrypt(key.public_key(), scheme, &["message"])?.remove(0)?;
    /// let answers = rsa.decrypt(&key, scheme, &[&ciphertext[..], &[1; 128]])?;
    /// assert_eq!(answers[0].as_ref().map(|message| &message[..]), Ok(&b"message"[..]));
    /// assert!(answers[1].is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decrypt<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: EncryptionScheme<'_>,
        ciphertexts: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
        Ok(self.decrypt_all(keys.into(), scheme, &ciphertexts)?.secrets(self.engine))
    }

    /// Decrypts as [`Rsa::decrypt`] does, with all messages in one piece of memory.
    pub fn decrypt_rows<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: EncryptionScheme<'_>,
        ciphertexts: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Rows, Error> {
        self.decrypt_all(keys.into(), scheme, &ciphertexts)
    }

    fn decrypt_all(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: EncryptionScheme<'_>,
        ciphertexts: &dyn Strings,
    ) -> Result<Rows, Error> {
        scheme.check()?;
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
            Ok(padding::copy_number(ciphertexts.get(item), key.public_key().modulus_bytes(), block)?)
        };
        let decode = decoding(|item, key, block| scheme.decode(key, ciphertexts.get(item), block));
        let operation = &self.private();
        let steps = Steps { encode: &encode, operation, decode: &decode, kind: Kind::Secret };
        steps.run(self.engine, keys, ciphertexts.len())
    }
}
