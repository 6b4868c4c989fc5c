//! Verification.

use crate::keys::{Keys, check_length};
use crate::padding;
use crate::public::Public;
use crate::rows::{Answers, Kind};
use crate::steps::{Refusal, Steps, decoding};
use crate::strings::{Signed, Strings};
use crate::{Error, PublicKey, Rsa, SignatureScheme};

impl Rsa<'_> {
    /// Verifies the signature of each message, with one key or a key for each message. Every wrong signature
    /// gets the same error, [`ItemError::Verification`](crate::ItemError::Verification).
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Hash, ItemError, PrivateKey, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::Pkcs1v15(Hash::Sha256));
    /// let signature = rsa.sign(&key, scheme, &["message"])?.remove(0)?;
    /// let verdicts = rsa.verify(key.public_key(), scheme, &["message", "other"], &[&signature, &signature])?;
    /// assert_eq!(verdicts, [Ok(()), Err(ItemError::Verification)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: SignatureScheme,
        messages: &[impl AsRef<[u8]> + Sync],
        signatures: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<()>, Error> {
        self.verify_all(keys.into(), scheme, Signed::Messages(&messages), &signatures)
    }

    /// Verifies signatures by the digests of their messages, which the caller computed with the hash of the
    /// scheme.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::pss(Hash::Sha256));
    /// let digests = [Hash::Sha256.digest(&[b"message"])];
    /// let signature = rsa.sign_digests(&key, scheme, &digests)?.remove(0)?;
    /// assert!(rsa.verify_digests(key.public_key(), scheme, &digests, &[signature])?[0].is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify_digests<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: SignatureScheme,
        digests: &[impl AsRef<[u8]> + Sync],
        signatures: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<()>, Error> {
        self.verify_all(keys.into(), scheme, Signed::Digests(&digests), &signatures)
    }

    pub(crate) fn verify_all(
        &self,
        keys: Keys<'_, PublicKey>,
        scheme: SignatureScheme,
        signed: Signed<'_>,
        signatures: &dyn Strings,
    ) -> Result<Answers<()>, Error> {
        check_length("signatures", signed.len(), signatures.len())?;
        let prefix = scheme.prefix()?;
        let encode = |item: usize, key: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
            Ok(padding::copy_signature(signatures.get(item), key.modulus_bytes(), block)?)
        };
        let decode = decoding(|item, key: &PublicKey, block| {
            scheme.verify(&prefix, &signed.digest(scheme, item)?, key.bits(), block)?;
            Ok(&[])
        });
        let operation = &Public { secret: false };
        let steps = Steps { encode: &encode, operation, decode: &decode, kind: Kind::Verdicts };
        Ok(steps.run(self.engine, keys, signatures.len())?.each(self.engine, |_| ()))
    }
}
