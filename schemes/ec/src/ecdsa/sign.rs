//! Signatures of a block of items, which share their inversions.

use super::check::{Candidate, are_right};
use super::{Signing, encoding, nonce, number, to_scalar};
use crate::ec::Answers;
use crate::field::{Field, invert_all};
use crate::group::{Group, Points, Table, Weierstrass};
use crate::{Ecdsa, ItemError, Nonce};
use modmill_core::mask;
use zeroize::{Zeroize, Zeroizing};

/// The secrets of an item.
struct Secrets<F> {
    private: F,
    nonce: F,
}

impl<F: Field> Zeroize for Secrets<F> {
    fn zeroize(&mut self) {
        self.private.zeroize();
        self.nonce.zeroize();
    }
}

/// Signs items whose keys are on the curve. `seed` is random and new for each call; `table` is that of the
/// generator.
pub(crate) fn sign<C: Weierstrass>(
    items: &[Signing<'_>],
    scheme: Ecdsa,
    seed: &[u8; 32],
    table: &Table<Points<C>>,
) -> Answers<Vec<u8>> {
    let secrets = |item: &Signing<'_>| {
        let secret = item.key.secret();
        let nonce = match scheme.nonce {
            Nonce::Hedged => nonce::hedged(seed, item.index, secret, &item.digest),
            Nonce::Rfc6979 => nonce::rfc6979(scheme.hash, secret, &item.digest),
        };
        Secrets { private: C::Scalar::read(secret).0, nonce }
    };
    let secrets: Zeroizing<Vec<Secrets<C::Scalar>>> = Zeroizing::new(items.iter().map(secrets).collect());
    // The third coordinates would tell about the nonces, and are cleared.
    let points: Vec<_> = secrets.iter().map(|secrets| table.multiple(secrets.nonce)).collect();
    let points = Zeroizing::new(points);
    let affine = Points::<C>::entries(&points);
    let mut inverses = Zeroizing::new(secrets.iter().map(|secrets| secrets.nonce).collect::<Vec<_>>());
    invert_all(&mut inverses);

    let mut candidates = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        let point = affine[position];
        let (e, r) = (number::<C::Scalar>(item.digest.as_ref()), to_scalar::<C>(point[0]));
        let s = inverses[position] * (e + r * secrets[position].private);
        let flip = if scheme.low_s { is_high(s) } else { 0 };
        let (s, point) =
            (C::Scalar::select(flip, -s, s), [point[0], C::Base::select(flip, -point[1], point[1])]);
        candidates.push(Candidate { r, s, point });
    }
    let verdicts = are_right(&candidates, items);
    let answer = |(candidate, is_right): (Candidate<C>, bool)| match is_right {
        true => encoding::write(candidate.r, candidate.s, scheme.format),
        false => Err(ItemError::Fault),
    };
    candidates.into_iter().zip(verdicts).map(answer).collect()
}

/// All ones if the number is above half the prime: twice the number is then the odd number `2 s - n`.
pub(super) fn is_high<F: Field>(s: F) -> u64 {
    mask::from_bit(s.double().parity())
}
