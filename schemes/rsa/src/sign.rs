//! Signatures.

use crate::keys::Keys;
use crate::rows::{Answers, Kind, Rows};
use crate::steps::{Refusal, Steps, whole};
use crate::strings::Signed;
use crate::{Error, PrivateKey, Rsa, SignatureScheme};

impl Rsa<'_> {
    /// Signs `messages`, with one key or a key for each message. Every signature is verified before it is
    /// returned.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let scheme = SignatureScheme::pss(Hash::Sha256);
    /// for signature in Rsa::new(&engine).sign(&key, scheme, &["first", "second"])? {
    ///     assert_eq!(signature?.len(), 128);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sign<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        Ok(self.sign_all(keys.into(), scheme, Signed::Messages(&messages))?.vectors(self.engine))
    }

    /// Signs as [`Rsa::sign`] does, with all signatures in one piece of memory.
    pub fn sign_rows<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Rows, Error> {
        self.sign_all(keys.into(), scheme, Signed::Messages(&messages))
    }

    /// Signs messages by their `digests`, which the caller computed with the hash of the scheme. With
    /// [`Hasher`](crate::Hasher) a message can be hashed while it is read:
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::Pkcs1v15(Hash::Sha256));
    ///
    /// let mut hasher = scheme.hash().hasher();
    /// hasher.update(b"a long ");
    /// hasher.update(b"message");
    /// let signature = rsa.sign_digests(&key, scheme, &[hasher.finish()])?.remove(0)?;
    /// assert_eq!(signature, rsa.sign(&key, scheme, &["a long message"])?.remove(0)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sign_digests<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        digests: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        Ok(self.sign_all(keys.into(), scheme, Signed::Digests(&digests))?.vectors(self.engine))
    }

    /// Signs as [`Rsa::sign_digests`] does, with all signatures in one piece of memory.
    pub fn sign_digests_rows<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        digests: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Rows, Error> {
        self.sign_all(keys.into(), scheme, Signed::Digests(&digests))
    }

    fn sign_all(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: SignatureScheme,
        signed: Signed<'_>,
    ) -> Result<Rows, Error> {
        scheme.check_signing()?;
        let prefix = scheme.prefix()?;
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
            scheme.encode(&prefix, &signed.digest(scheme, item)?, key.bits(), block)
        };
        let operation = &self.private();
        let steps = Steps { encode: &encode, operation, decode: &whole, kind: Kind::Public };
        steps.run(self.engine, keys, signed.len())
    }
}
