//! The check of signatures before they leave.
//!
//! A signature by a faulty machine can give the private key away. So the point `R`, the numbers `r` and `s`,
//! the digest and the public key of each item have to fulfil `(e / s) G + (r / s) Q = R`. The number `e` is
//! computed again from the digest: two signatures with one nonce and different `e` would give the key away,
//! and both would fulfil the equation with the `e` that they were made with.

use super::{Signing, number, to_scalar};
use crate::check::{Equation, hold};
use crate::field::{Field, invert_all};
use crate::group::{Points, Weierstrass, is_on_curve};
use crate::point;

/// A signature that nobody has seen yet, with the point whose `x` it has.
pub(crate) struct Candidate<C: Weierstrass> {
    pub(crate) r: C::Scalar,
    pub(crate) s: C::Scalar,
    pub(crate) point: [C::Base; 2],
}

/// Whether each signature is right.
pub(crate) fn are_right<C: Weierstrass>(candidates: &[Candidate<C>], items: &[Signing<'_>]) -> Vec<bool> {
    let mut inverses: Vec<C::Scalar> = candidates.iter().map(|candidate| candidate.s).collect();
    invert_all(&mut inverses);
    let equation = |position: usize| {
        let (Candidate { r, s, point }, inverse) = (&candidates[position], inverses[position]);
        let is_zero = r.is_zero() | s.is_zero();
        let is_own = is_on_curve::<C>(point) & to_scalar::<C>(point[0]).equals(*r) & !is_zero;
        let e = number::<C::Scalar>(items[position].digest.as_ref());
        (is_own != 0).then(|| Equation { of_generator: e * inverse, of_key: *r * inverse, point: *point })
    };
    let equations: Vec<_> = (0..candidates.len()).map(equation).collect();
    let keys: Vec<_> = items.iter().map(|item| item.key.public_key()).collect();
    hold::<Points<C>>(&equations, &keys, |key| {
        let [x, y] = point::known::<C>(key.as_ref());
        Some([x, y, Field::ONE])
    })
}
