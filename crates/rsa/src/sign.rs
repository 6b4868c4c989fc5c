//! Signatures.

use crate::batch::{Answers, Keys, Refusal, Steps};
use crate::hash::Digest;
use crate::padding::pkcs1v15;
use crate::{Error, ItemError, PrivateKey, Rsa, SignatureScheme, random};
use zeroize::Zeroizing;

impl Rsa<'_> {
    /// Signs messages, with one key or a key each. Every signature was verified before it is returned.
    pub fn sign<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let digest = |item: usize| Ok(scheme.hash().digest(&[messages[item].as_ref()]));
        self.sign_all(keys.into(), scheme, messages.len(), digest)
    }

    /// Signs messages by their digests, which were computed elsewhere with the scheme's hash.
    pub fn sign_digests<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: SignatureScheme,
        digests: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let digest = |item: usize| read_digest(scheme, digests[item].as_ref());
        self.sign_all(keys.into(), scheme, digests.len(), digest)
    }

    fn sign_all(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: SignatureScheme,
        count: usize,
        digest: impl Fn(usize) -> Result<Digest, ItemError> + Sync,
    ) -> Result<Answers<Vec<u8>>, Error> {
        scheme.check_signing()?;
        let prefix = scheme.prefix()?;
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| -> Result<(), Refusal> {
            let digest = digest(item)?;
            match &scheme {
                SignatureScheme::Pkcs1v15(_) => pkcs1v15::encode_digest(&prefix, digest.as_ref(), block)?,
                SignatureScheme::Pss(pss) => {
                    let mut salt = Zeroizing::new(vec![0; pss.salt_len(key.bits())?]);
                    random::fill(&mut salt)?;
                    pss.encode(digest.as_ref(), &salt, key.bits(), block)?;
                }
            }
            Ok(())
        };
        let decode = |_: usize, _: &PrivateKey, block: &mut [u8]| Ok(block.to_vec());
        Steps { encode, operation: self.private(), decode }.run(self.engine, keys, count)
    }
}

/// A digest of the scheme's hash, by its length.
pub(crate) fn read_digest(scheme: SignatureScheme, bytes: &[u8]) -> Result<Digest, ItemError> {
    let expected = scheme.hash().len();
    let wrong = ItemError::WrongLength { expected, found: bytes.len() };
    Digest::from_bytes(bytes).filter(|_| bytes.len() == expected).ok_or(wrong)
}
