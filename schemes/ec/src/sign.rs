//! Signatures.

use crate::curve::with_weierstrass;
use crate::ec::{Answers, check_keys};
use crate::group::{Ed25519, Group, Points};
use crate::scheme::Signed;
use crate::{Curve, Ec, Error, ItemError, Keys, PrivateKey, SignatureScheme, ecdsa, ed25519};
use zeroize::Zeroizing;

impl Ec<'_> {
    /// Signs `messages`, with one key or a key for each message. Every signature is checked before it is
    /// returned.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_ec::{Curve, Ec, Ecdsa, Hash, PrivateKey};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(Curve::P256)?;
    /// let (ec, scheme) = (Ec::new(&engine), Ecdsa::new(Hash::Sha256));
    /// let signature = ec.sign(&key, scheme, &["message"])?.remove(0)?;
    /// ec.verify(key.public_key(), scheme, &["message"], &[signature])?.remove(0)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sign<'k, 's>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: impl Into<SignatureScheme<'s>>,
        messages: &[impl AsRef<[u8]>],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let messages: Vec<&[u8]> = messages.iter().map(AsRef::as_ref).collect();
        self.sign_all(keys.into(), scheme.into(), Signed::Messages(&messages))
    }

    /// Signs messages by their `digests`, which the caller computed with the hash of the scheme, or with
    /// SHA-512 for [`Variant::Prehashed`](crate::Variant::Prehashed).
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_ec::{Curve, Ec, Ecdsa, Hash, Nonce, PrivateKey};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(Curve::P384)?;
    /// let scheme = Ecdsa { nonce: Nonce::Rfc6979, ..Ecdsa::new(Hash::Sha384) };
    /// let (ec, digest) = (Ec::new(&engine), Hash::Sha384.digest(&[b"mess", b"age"]));
    /// assert_eq!(ec.sign_digests(&key, scheme, &[digest])?, ec.sign(&key, scheme, &["message"])?);
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn sign_digests<'k, 's>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        scheme: impl Into<SignatureScheme<'s>>,
        digests: &[impl AsRef<[u8]>],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let digests: Vec<&[u8]> = digests.iter().map(AsRef::as_ref).collect();
        self.sign_all(keys.into(), scheme.into(), Signed::Digests(&digests))
    }

    fn sign_all(
        &self,
        keys: Keys<'_, PrivateKey>,
        scheme: SignatureScheme<'_>,
        signed: Signed<'_>,
    ) -> Result<Answers<Vec<u8>>, Error> {
        scheme.check_signing(signed)?;
        check_keys(keys, signed.len())?;
        let mut seed = Zeroizing::new([0; 32]);
        modmill_primes::random::fill(&mut *seed)?;
        Ok(self.by_curve(keys, signed.len(), |curve, items| match scheme {
            SignatureScheme::Ecdsa(scheme) => {
                let item = |&index: &usize| {
                    let digest = signed.digest(scheme.hash, index)?;
                    Ok(ecdsa::Signing { index, key: keys.get(index), digest })
                };
                with_weierstrass!(
                    curve,
                    |C| answer_good(items, item, |items| {
                        ecdsa::sign::sign::<C>(items, scheme, &seed, Points::<C>::generator_table())
                    }),
                    all_wrong(items, curve, "sign by ECDSA")
                )
            }
            SignatureScheme::Ed25519(scheme) if curve == Curve::Ed25519 => {
                let item = |&index: &usize| {
                    let input = ed25519::Input::new(scheme.variant, signed, index)?;
                    Ok(ed25519::Signing { key: keys.get(index), input })
                };
                answer_good(items, item, |items| ed25519::sign::sign(items, Ed25519::generator_table()))
            }
            SignatureScheme::Ed25519(_) => all_wrong(items, curve, "sign by Ed25519"),
        }))
    }
}

/// Makes items, has `answer` answer those that can be made, and puts the errors of the others between the
/// answers.
pub(crate) fn answer_good<I, T>(
    indices: &[usize],
    make: impl Fn(&usize) -> Result<I, ItemError>,
    answer: impl FnOnce(&[I]) -> Answers<T>,
) -> Answers<T> {
    let mut good = Vec::with_capacity(indices.len());
    let errors: Vec<Option<ItemError>> =
        indices.iter().map(|index| make(index).map(|item| good.push(item)).err()).collect();
    let mut answers = answer(&good).into_iter();
    let next = |error: Option<ItemError>| match error {
        Some(error) => Err(error),
        None => answers.next().unwrap_or(Err(ItemError::Fault)),
    };
    errors.into_iter().map(next).collect()
}

/// The answers to items whose curve does not have the operation.
pub(crate) fn all_wrong<T>(items: &[usize], curve: Curve, operation: &'static str) -> Answers<T> {
    items.iter().map(|_| Err(ItemError::WrongCurve { curve, operation })).collect()
}
