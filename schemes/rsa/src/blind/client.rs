//! The client's side of a blind signature: it blinds messages and finalizes signatures.

use super::BlindScheme;
use super::group::Group;
use crate::blinding::inverses;
use crate::keys::{Keys, check_length};
use crate::padding::copy_number;
use crate::public::public_operation;
use crate::rows::Answers;
use crate::steps::{Encode, Refusal};
use crate::strings::{Signed, Strings};
use crate::{Error, ItemError, PublicKey, Rsa, random};
use std::fmt;
use zeroize::Zeroizing;

/// A blinded message, and the secret that unblinds its signature. Both are big-endian and as long as the
/// modulus.
#[derive(Clone, PartialEq, Eq)]
pub struct Blinded {
    /// The blinded message, for the signer.
    pub message: Vec<u8>,
    /// The inverse of the blinding factor, for [`Rsa::finalize`]. Whoever knows it can tell which signature
    /// came of the blinded message. It is zeroized when it is dropped, and is used once.
    pub inverse: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Blinded {
    /// Shows the length, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blinded({} bytes)", self.message.len())
    }
}

/// Writes the salt of an item: the index of the item, its salt.
type WriteSalt<'a> = dyn Fn(usize, &mut [u8]) -> Result<(), Refusal> + Sync + 'a;

impl Rsa<'_> {
    /// Blinds prepared messages (RFC 9474, section 4.2), with one key or a key for each message. Salts and
    /// blinding factors are drawn.
    ///
    /// With one key for all messages, a batch costs one inversion in all, and some two dozen products for
    /// each message. A key that the client does not know to be honest is examined with
    /// [`PublicKey::check_modulus`] before.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{BlindScheme, PrivateKey, Rsa, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, public, scheme) = (Rsa::new(&engine), key.public_key(), BlindScheme::PssRandomized);
    ///
    /// // The client.
    /// let prepared = [scheme.prepare(b"one")?, scheme.prepare(b"two")?];
    /// let blinded = rsa.blind(public, scheme, &prepared)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// let inverses = [&blinded[0].inverse, &blinded[1].inverse];
    /// // The signer.
    /// let signed = rsa.blind_sign(&key, &[&blinded[0].message, &blinded[1].message])?;
    /// let signed = signed.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// // The client.
    /// let signatures = rsa.finalize(public, scheme, &prepared, &signed, &inverses)?;
    /// let signatures = signatures.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// // Anybody.
    /// let verdicts = rsa.verify(public, scheme.signature_scheme(), &prepared, &signatures)?;
    /// assert_eq!(verdicts, [Ok(()), Ok(())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blind<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: BlindScheme,
        prepared: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Blinded>, Error> {
        let draw_salt = |_: usize, salt: &mut [u8]| Ok(random::fill(salt)?);
        let draw =
            |_: usize, key: &PublicKey, block: &mut [u8]| Ok(random::below(key.modulus_bytes(), block)?);
        self.blind_by(keys.into(), scheme, &prepared, &draw_salt, &draw)
    }

    /// Blinds messages with the salts and factors that two functions write.
    pub(crate) fn blind_by(
        &self,
        keys: Keys<'_, PublicKey>,
        scheme: BlindScheme,
        prepared: &dyn Strings,
        write_salt: &WriteSalt<'_>,
        write_factor: &Encode<'_, PublicKey>,
    ) -> Result<Answers<Blinded>, Error> {
        let (engine, pss) = (self.engine, scheme.pss());
        let mut answers: Answers<Blinded> = vec![Err(ItemError::Fault); prepared.len()];
        for mut group in Group::all(engine, keys, prepared.len())? {
            let messages = group.numbers(&|item, key, block| {
                let mut salt = Zeroizing::new(vec![0; pss.salt_len(key.bits())?]);
                write_salt(item, &mut salt)?;
                let digest = pss.hash.digest(&[prepared.get(item)]);
                Ok(pss.encode(digest.as_ref(), &salt, key.bits(), block)?)
            })?;
            let factors = group.numbers(write_factor)?;
            // `(m r)^-1 m` is the inverse of r. It exists only if m has an inverse too, which the RFC asks
            // for.
            let products = engine.mul_mod(&messages, &factors, group.moduli.as_slice())?;
            let inverse_products = match inverses(engine, &products, &group.moduli) {
                Err(modmill::Error::Items(partial)) => {
                    partial.failed.iter().for_each(|item| group.fail(item.index, ItemError::NotInvertible));
                    partial.answers
                }
                found => found?,
            };
            let inverses = engine.mul_mod(&inverse_products, &messages, group.moduli.as_slice())?;
            let powers = public_operation(engine, &group.keys, &factors)?;
            let blinded = engine.mul_mod(&messages, &powers, group.moduli.as_slice())?;
            let read = |position: usize| Blinded {
                message: group.octets(blinded.get(position)),
                inverse: Zeroizing::new(group.octets(inverses.get(position))),
            };
            group.answers(read).for_each(|(item, answer)| answers[item] = answer);
        }
        Ok(answers)
    }

    /// Unblinds blind signatures (RFC 9474, section 4.4), and verifies what comes of them. `inverses` are
    /// those that [`Rsa::blind`] returned for the same prepared messages. A signature that does not verify
    /// gets
    /// [`ItemError::Verification`]: the signer answered wrongly, or something belongs to another message.
    ///
    /// An answer is a PSS signature of the prepared message. [`Rsa::verify`] verifies it by
    /// [`BlindScheme::signature_scheme`].
    pub fn finalize<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: BlindScheme,
        prepared: &[impl AsRef<[u8]> + Sync],
        blind_signatures: &[impl AsRef<[u8]> + Sync],
        inverses: &[impl AsRef<[u8]> + Sync],
    ) -> Result<Answers<Vec<u8>>, Error> {
        self.finalize_all(keys.into(), scheme, &prepared, [&blind_signatures, &inverses])
    }

    fn finalize_all(
        &self,
        keys: Keys<'_, PublicKey>,
        scheme: BlindScheme,
        prepared: &dyn Strings,
        [blind_signatures, inverses]: [&dyn Strings; 2],
    ) -> Result<Answers<Vec<u8>>, Error> {
        check_length("blind signatures", prepared.len(), blind_signatures.len())?;
        check_length("inverses", prepared.len(), inverses.len())?;
        let mut signatures: Answers<Vec<u8>> = vec![Err(ItemError::Fault); prepared.len()];
        for mut group in Group::all(self.engine, keys, prepared.len())? {
            let blind_signatures = group.numbers(&|item, key, block| {
                Ok(copy_number(blind_signatures.get(item), key.modulus_bytes(), block)?)
            })?;
            let inverses = group.numbers(&|item, key, block| {
                Ok(copy_number(inverses.get(item), key.modulus_bytes(), block)?)
            })?;
            let unblinded = self.engine.mul_mod(&blind_signatures, &inverses, group.moduli.as_slice())?;
            let read = |position: usize| group.octets(unblinded.get(position));
            group.answers(read).for_each(|(item, signature)| signatures[item] = signature);
        }
        // An item without a signature is verified as an empty one, and keeps its error.
        let octets: Vec<&[u8]> =
            signatures.iter().map(|signature| signature.as_deref().unwrap_or(&[])).collect();
        let verdicts =
            self.verify_all(keys, scheme.signature_scheme(), Signed::Messages(prepared), &&octets[..])?;
        let finished = signatures.into_iter().zip(verdicts);
        Ok(finished
            .map(|(signature, verdict)| signature.and_then(|signature| verdict.map(|()| signature)))
            .collect())
    }
}
