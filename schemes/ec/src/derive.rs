//! Shared secrets: ECDH and X25519.

use crate::curve::with_weierstrass;
use crate::ec::{Answers, check_keys};
use crate::field::{Field, P25519, invert_all};
use crate::group::{Points, Weierstrass, is_on_curve, ladder_multiple, multiple};
use crate::scalar25519::clamped;
use crate::sign::{all_wrong, answer_good};
use crate::{Curve, Ec, Error, ItemError, Keys, PointError, PrivateKey, point};
use zeroize::Zeroizing;

/// A shared secret.
type Secret = Zeroizing<Vec<u8>>;

impl Ec<'_> {
    /// Derives the secret that each private key shares with the owner of a public point: the `x` of their
    /// product (ECDH, SP 800-56A, section 5.7.1.2), or the `u` of X25519. `peers` are points as
    /// [`PublicKey`](crate::PublicKey) has them, or compressed ones. Each point is checked before it
    /// meets the private key.
    ///
    /// The secret is not uniform: give it to a key derivation function.
    ///
    /// Bytes do not say which curve they belong to. A public key of Ed25519 has 32 bytes as well, and beside
    /// a key of X25519 it gives a secret that nobody shares: compare the curves of keys, where there are
    /// keys.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_ec::{Curve, Ec, PrivateKey};
    ///
    /// let engine = Engine::new()?;
    /// let (a, b) = (PrivateKey::generate(Curve::X25519)?, PrivateKey::generate(Curve::X25519)?);
    /// let ec = Ec::new(&engine);
    /// assert_eq!(ec.derive(&a, &[b.public_key()])?, ec.derive(&b, &[a.public_key()])?);
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn derive<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        peers: &[impl AsRef<[u8]>],
    ) -> Result<Answers<Secret>, Error> {
        let (keys, count) = (keys.into(), peers.len());
        let peers: Vec<&[u8]> = peers.iter().map(AsRef::as_ref).collect();
        check_keys(keys, count)?;
        Ok(self.by_curve(keys, count, |curve, items| {
            with_weierstrass!(
                curve,
                |C| {
                    let item = |&item: &usize| Ok((keys.get(item), point::decode::<C>(peers[item])?));
                    answer_good(items, item, ecdh::<C>)
                },
                match curve {
                    Curve::X25519 => {
                        let item = |&item: &usize| Ok((keys.get(item), x25519_point(peers[item])?));
                        answer_good(items, item, x25519)
                    }
                    _ => all_wrong(items, curve, "derive secrets"),
                }
            )
        }))
    }
}

fn ecdh<C: Weierstrass>(items: &[(&PrivateKey, [C::Base; 2])]) -> Answers<Secret> {
    let product = |(key, [x, y]): &(&PrivateKey, [C::Base; 2])| {
        multiple::<Points<C>>(&[*x, *y, Field::ONE], C::Scalar::read(key.secret()).0)
    };
    let products: Zeroizing<Vec<[C::Base; 3]>> = Zeroizing::new(items.iter().map(product).collect());
    let mut inverses = Zeroizing::new(products.iter().map(|&[_, _, z]| z).collect::<Vec<_>>());
    invert_all(&mut inverses);
    let secret = |(&[x, y, _], &inverse): (&[C::Base; 3], &C::Base)| {
        let point = Zeroizing::new([x * inverse, y * inverse]);
        // No product is the identity, because the scalar is not zero and the order is prime.
        if is_on_curve::<C>(&point) == 0 {
            return Err(ItemError::Fault);
        }
        let mut secret = Zeroizing::new(vec![0; C::Base::BYTES]);
        point[0].write(&mut secret);
        Ok(secret)
    };
    products.iter().zip(inverses.iter()).map(secret).collect()
}

/// Reads `u` as RFC 7748 demands: the highest bit is ignored, and numbers from the prime on are taken.
fn x25519_point(bytes: &[u8]) -> Result<P25519, PointError> {
    let wrong = PointError::WrongLength { expected: 32, found: bytes.len() };
    let mut bytes: [u8; 32] = bytes.try_into().map_err(|_| wrong)?;
    bytes[31] &= 0x7f;
    bytes.reverse();
    Ok(P25519::read(&bytes).0)
}

fn x25519(items: &[(&PrivateKey, P25519)]) -> Answers<Secret> {
    let product = |(key, u): &(&PrivateKey, P25519)| {
        let mut scalar = clamped(key.secret());
        scalar.reverse();
        ladder_multiple(&scalar, *u)
    };
    let products: Zeroizing<Vec<[P25519; 2]>> = Zeroizing::new(items.iter().map(product).collect());
    let mut inverses = Zeroizing::new(products.iter().map(|&[_, z]| z).collect::<Vec<_>>());
    invert_all(&mut inverses);
    let secret = |(&[x, _], &inverse): (&[P25519; 2], &P25519)| {
        let u = Zeroizing::new(x * inverse);
        // Points of small order give zero, whatever the key is.
        if u.is_zero() != 0 {
            return Err(PointError::SmallOrder.into());
        }
        let mut secret = Zeroizing::new(vec![0; 32]);
        u.write(&mut secret);
        secret.reverse();
        Ok(secret)
    };
    products.iter().zip(inverses.iter()).map(secret).collect()
}
