//! Encryption.

use crate::keys::Keys;
use crate::public::Public;
use crate::rows::{Answers, Kind, Rows};
use crate::steps::{Refusal, Steps, whole};
use crate::strings::Strings;
use crate::{EncryptionScheme, Error, PublicKey, Rsa};

impl Rsa<'_> {
    /// Encrypts `messages`, with one key or a key for each message. A message that is too long for its key
    /// gets [`ItemError::MessageTooLong`](crate::ItemError::MessageTooLong).
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, Rsa, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let scheme = EncryptionScheme::oaep(Hash::Sha256);
    /// let ciphertexts = Rsa::new(&engine).encrypt(key.public_key(), scheme, &["first", "second"])?;
    /// assert!(ciphertexts.iter().all(|ciphertext| ciphertext.as_ref().is_ok_and(|bytes| bytes.len() == 128)));
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn encrypt<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: EncryptionScheme<'_>,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        Ok(self.encrypt_all(keys.into(), scheme, &messages)?.vectors(self.engine))
    }

    /// Encrypts as [`Rsa::encrypt`] does, with all ciphertexts in one piece of memory.
    pub fn encrypt_rows<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: EncryptionScheme<'_>,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Rows, Error> {
        self.encrypt_all(keys.into(), scheme, &messages)
    }

    fn encrypt_all(
        &self,
        keys: Keys<'_, PublicKey>,
        scheme: EncryptionScheme<'_>,
        messages: &dyn Strings,
    ) -> Result<Rows, Error> {
        scheme.check()?;
        let encode = |item: usize, _: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
            scheme.encode(messages.get(item), block)
        };
        let operation = &Public { secret: true };
        let steps = Steps { encode: &encode, operation, decode: &whole, kind: Kind::Public };
        steps.run(self.engine, keys, messages.len())
    }
}
