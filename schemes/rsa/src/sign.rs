//! Signatures.

use crate::keys::Keys;
use crate::rows::{Form, InRows, Memory, Rows, Vectors};
use crate::steps::{Answers, Refusal, Steps};
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
        self.sign_to_vectors(keys.into(), scheme, Signed::Messages(&messages))
    }

    /// Signs as [`Rsa::sign`] does, with all signatures in one piece of memory.
    pub fn sign_rows<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Rows, Error> {
        self.sign_to_rows(keys.into(), scheme, Signed::Messages(&messages))
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
        self.sign_to_vectors(keys.into(), scheme, Signed::Digests(&digests))
    }

    /// Signs as [`Rsa::sign_digests`] does, with all signatures in one piece of memory.
    pub fn sign_digests_rows<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        digests: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Rows, Error> {
        self.sign_to_rows(keys.into(), scheme, Signed::Digests(&digests))
    }

    fn sign_to_vectors(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: SignatureScheme,
        signed: Signed<'_>,
    ) -> Result<Answers<Vec<u8>>, Error> {
        Ok(self.sign_all::<Vectors>(keys, scheme, signed)?.0)
    }

    fn sign_to_rows(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: SignatureScheme,
        signed: Signed<'_>,
    ) -> Result<Rows, Error> {
        Ok(Rows::new(self.sign_all::<InRows<false>>(keys, scheme, signed)?))
    }

    fn sign_all<F: Form>(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: SignatureScheme,
        signed: Signed<'_>,
    ) -> Result<(Answers<F::Answer>, Memory), Error> {
        scheme.check_signing()?;
        let prefix = scheme.prefix()?;
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
            scheme.encode(&prefix, &signed.digest(scheme, item)?, key.bits(), block)
        };
        let decode = |_: usize, _: &PrivateKey, block: &mut [u8], row: &mut [u8]| Ok(F::answer(block, row));
        let steps = Steps { encode: &encode, operation: &self.private(), decode: &decode, kind: F::KIND };
        steps.run(self.engine, keys, signed.len())
    }
}
