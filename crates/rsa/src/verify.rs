//! Verification.

use crate::batch::{Answers, Keys, Refusal, Steps, check_length};
use crate::hash::Digest;
use crate::padding::{ct, pkcs1v15};
use crate::public::Public;
use crate::sign::read_digest;
use crate::{Error, ItemError, PublicKey, Rsa, SignatureScheme};

impl Rsa<'_> {
    /// Verifies signatures of messages, with one key or a key each. Whatever is wrong with a signature
    /// is the same error, [`ItemError::Verification`].
    pub fn verify<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: SignatureScheme,
        messages: &[impl AsRef<[u8]> + Sync],
        signatures: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<()>, Error> {
        check_length("signatures", messages.len(), signatures.len())?;
        let digest = |item: usize| Ok(scheme.hash().digest(&[messages[item].as_ref()]));
        self.verify_all(keys.into(), scheme, digest, signatures)
    }

    /// Verifies signatures of messages by their digests, which were computed elsewhere with the
    /// scheme's hash.
    pub fn verify_digests<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: SignatureScheme,
        digests: &[impl AsRef<[u8]> + Sync],
        signatures: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<()>, Error> {
        check_length("signatures", digests.len(), signatures.len())?;
        let digest = |item: usize| read_digest(scheme, digests[item].as_ref());
        self.verify_all(keys.into(), scheme, digest, signatures)
    }

    fn verify_all(
        &self,
        keys: Keys<'_, PublicKey>,
        scheme: SignatureScheme,
        digest: impl Fn(usize) -> Result<Digest, ItemError> + Sync,
        signatures: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<()>, Error> {
        let prefix = scheme.prefix()?;
        let encode = |item: usize, key: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
            let signature = signatures[item].as_ref();
            if signature.len() != key.size() || signature >= key.modulus_bytes() {
                return Err(ItemError::Verification.into());
            }
            block.copy_from_slice(signature);
            Ok(())
        };
        let decode = |item: usize, key: &PublicKey, block: &mut [u8]| {
            let digest = digest(item)?;
            let verifies = match &scheme {
                SignatureScheme::Pkcs1v15(_) => {
                    let mut expected = vec![0; block.len()];
                    // A key too short for the hash has signed nothing with it.
                    pkcs1v15::encode_digest(&prefix, digest.as_ref(), &mut expected).is_ok()
                        && ct::equal(&expected, block).declassify()
                }
                SignatureScheme::Pss(pss) => pss.verify(digest.as_ref(), key.bits(), block),
            };
            if verifies { Ok(()) } else { Err(ItemError::Verification) }
        };
        Steps { encode, operation: Public { secret: false }, decode }.run(self.engine, keys, signatures.len())
    }
}
