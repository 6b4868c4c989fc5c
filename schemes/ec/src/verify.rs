//! Verification.

use crate::curve::with_weierstrass;
use crate::ec::{Answers, check_keys, check_length};
use crate::field::Field;
use crate::group::{self, Points, Table, Weierstrass};
use crate::scheme::Signed;
use crate::sign::{all_wrong, answer_good};
use crate::{Curve, Ec, Ecdsa, Ed25519, Error, Keys, PublicKey, SignatureScheme, ecdsa, ed25519, point};

/// The number of items with one key from which on a table of the key is made. It costs about three
/// verifications, and more than half of each is saved.
const TABLE_FROM: usize = 8;

impl Ec<'_> {
    /// Verifies `signatures` of `messages`, with one key or a key for each message. Many signatures by one
    /// key take less than half of the time each.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_ec::{Curve, Ec, Ed25519, ItemError, PrivateKey};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(Curve::Ed25519)?;
    /// let (ec, scheme) = (Ec::new(&engine), Ed25519::default());
    /// let signature = ec.sign(&key, scheme, &["message"])?.remove(0)?;
    /// let verdicts = ec.verify(key.public_key(), scheme, &["message", "other"], &[&signature, &signature])?;
    /// assert_eq!(verdicts, [Ok(()), Err(ItemError::Verification)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify<'k, 's>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: impl Into<SignatureScheme<'s>>,
        messages: &[impl AsRef<[u8]>],
        signatures: &[impl AsRef<[u8]>],
    ) -> Result<Answers<()>, Error> {
        let messages: Vec<&[u8]> = messages.iter().map(AsRef::as_ref).collect();
        let signatures: Vec<&[u8]> = signatures.iter().map(AsRef::as_ref).collect();
        self.verify_all(keys.into(), scheme.into(), Signed::Messages(&messages), &signatures)
    }

    /// Verifies signatures of messages by their `digests`, as [`Ec::sign_digests`] signs them.
    pub fn verify_digests<'k, 's>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        scheme: impl Into<SignatureScheme<'s>>,
        digests: &[impl AsRef<[u8]>],
        signatures: &[impl AsRef<[u8]>],
    ) -> Result<Answers<()>, Error> {
        let digests: Vec<&[u8]> = digests.iter().map(AsRef::as_ref).collect();
        let signatures: Vec<&[u8]> = signatures.iter().map(AsRef::as_ref).collect();
        self.verify_all(keys.into(), scheme.into(), Signed::Digests(&digests), &signatures)
    }

    fn verify_all(
        &self,
        keys: Keys<'_, PublicKey>,
        scheme: SignatureScheme<'_>,
        signed: Signed<'_>,
        signatures: &[&[u8]],
    ) -> Result<Answers<()>, Error> {
        scheme.check(signed)?;
        let count = signed.len();
        check_length("signatures", count, signatures.len())?;
        check_keys(keys, count)?;
        let call = Call { keys, signed, signatures };
        match scheme {
            SignatureScheme::Ecdsa(scheme) => Ok(call.ecdsa(self, scheme)),
            SignatureScheme::Ed25519(scheme) => Ok(call.ed25519(self, scheme)),
        }
    }
}

/// The arguments of a call.
struct Call<'a> {
    keys: Keys<'a, PublicKey>,
    signed: Signed<'a>,
    signatures: &'a [&'a [u8]],
}

impl Call<'_> {
    fn one_key(&self) -> Option<&PublicKey> {
        match self.keys {
            Keys::One(key) => Some(key),
            Keys::Each(_) => None,
        }
    }

    /// The key of all items, if there are at least [`TABLE_FROM`] of them.
    fn key_with_table(&self) -> Option<&PublicKey> {
        self.one_key().filter(|_| self.signed.len() >= TABLE_FROM)
    }

    fn ecdsa(&self, ec: &Ec<'_>, scheme: Ecdsa) -> Answers<()> {
        let count = self.signed.len();
        let wrong = |curve, items: &[usize]| all_wrong(items, curve, "verify by ECDSA");
        let alone = |curve, items: &[usize]| {
            with_weierstrass!(curve, |C| self.ecdsa_items::<C>(items, scheme, None), wrong(curve, items))
        };
        let Some(key) = self.key_with_table() else { return ec.by_curve(self.keys, count, alone) };
        with_weierstrass!(
            key.curve(),
            |C| {
                let [x, y] = point::known::<C>(key.as_ref());
                let table = Table::new(&[x, y, Field::ONE]);
                ec.by_curve(self.keys, count, |_, items| self.ecdsa_items::<C>(items, scheme, Some(&table)))
            },
            ec.by_curve(self.keys, count, wrong)
        )
    }

    fn ecdsa_items<C: Weierstrass>(
        &self,
        items: &[usize],
        scheme: Ecdsa,
        of_key: Option<&Table<Points<C>>>,
    ) -> Answers<()> {
        let item = |&index: &usize| {
            let digest = self.signed.digest(scheme.hash, index)?;
            Ok(ecdsa::verify::Item { key: self.keys.get(index), digest, signature: self.signatures[index] })
        };
        answer_good(items, item, |items| ecdsa::verify::verify::<C>(items, scheme, of_key))
    }

    fn ed25519(&self, ec: &Ec<'_>, scheme: Ed25519<'_>) -> Answers<()> {
        let decoded = self.one_key().and_then(PublicKey::ed25519_point);
        let negated = decoded.as_ref().filter(|_| self.key_with_table().is_some());
        let negated = negated.map(|key| Table::new(&group::Ed25519::negate(&key.point)));
        let one_key = decoded.map(|decoded| ed25519::verify::Key { decoded, negated: negated.as_ref() });
        ec.by_curve(self.keys, self.signed.len(), |curve, items| match curve {
            Curve::Ed25519 => {
                let item = |&index: &usize| {
                    let input = ed25519::Input::new(scheme.variant, self.signed, index)?;
                    let signature = self.signatures[index];
                    Ok(ed25519::verify::Item { key: self.keys.get(index), input, signature })
                };
                let verify = |items: &[_]| ed25519::verify::verify(items, scheme.rules, one_key.as_ref());
                answer_good(items, item, verify)
            }
            _ => all_wrong(items, curve, "verify by Ed25519"),
        })
    }
}
