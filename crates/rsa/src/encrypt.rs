//! Encryption.

use crate::batch::{Answers, Keys, Refusal, Steps};
use crate::padding::pkcs1v15;
use crate::public::Public;
use crate::{EncryptionScheme, Error, PublicKey, Rsa, random};
use zeroize::Zeroizing;

impl Rsa<'_> {
    /// Encrypts messages, with one key or a key each.
    pub fn encrypt<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: EncryptionScheme<'_>,
        messages: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        scheme.check()?;
        let encode = |item: usize, _: &PublicKey, block: &mut [u8]| -> Result<(), Refusal> {
            let message = messages[item].as_ref();
            match &scheme {
                EncryptionScheme::Pkcs1v15 => {
                    pkcs1v15::encode_message(message, block, |bytes| Ok::<(), Refusal>(random::fill(bytes)?))
                }
                EncryptionScheme::Oaep(oaep) => {
                    let mut seed = Zeroizing::new(vec![0; oaep.hash.len()]);
                    random::fill(&mut seed)?;
                    Ok(oaep.encode(message, &seed, block)?)
                }
            }
        };
        let decode = |_: usize, _: &PublicKey, block: &mut [u8]| Ok(block.to_vec());
        Steps { encode, operation: Public { secret: true }, decode }.run(
            self.engine,
            keys.into(),
            messages.len(),
        )
    }
}
