//! The check of signatures before they leave.
//!
//! A signature by a faulty machine can give the private key away. So the point `R`, the numbers `r` and `s`, the
//! digest and the public key of each item have to fulfil `(e / s) G + (r / s) Q = R`. The equations of items with
//! the same key are added up, each multiplied by a random number of 32 bits: wrong signatures pass with
//! probability `2^-32`. If the sum is wrong, each item is looked at
//! alone. Tables that signatures are made with take no part.

use super::to_scalar;
use crate::PublicKey;
use crate::ec::{multipliers, runs};
use crate::field::{Field, invert_all};
use crate::group::{Group, Points, Weierstrass, is_on_curve, multiples_vartime, sum_of_multiples_vartime};
use crate::point;
use std::ops::Range;

/// A signature that nobody has seen yet, with the point whose `x` it has.
pub(crate) struct Candidate<C: Weierstrass> {
    pub(crate) digest: C::Scalar,
    pub(crate) r: C::Scalar,
    pub(crate) s: C::Scalar,
    pub(crate) point: [C::Base; 2],
}

/// Whether each signature is right.
pub(crate) fn are_right<C: Weierstrass>(candidates: &[Candidate<C>], keys: &[&PublicKey]) -> Vec<bool> {
    let mut factors: Vec<_> = candidates.iter().map(|candidate| candidate.s).collect();
    invert_all(&mut factors);
    let of_generator = |i: usize| candidates[i].digest * factors[i];
    let of_key = |i: usize| candidates[i].r * factors[i];
    let own = |i: usize| {
        let Candidate { r, s, point, .. } = &candidates[i];
        let is_zero = r.is_zero() | s.is_zero();
        is_zero == 0 && is_on_curve::<C>(point) & to_scalar::<C>(point[0]).equals(*r) != 0
    };
    let mut verdicts: Vec<bool> = (0..candidates.len()).map(own).collect();

    for run in runs(keys) {
        let [x, y] = point::known::<C>(keys[run.start].as_ref());
        let key = [x, y, Field::ONE];
        let holds = |range: Range<usize>, multipliers: &[u32]| {
            let (mut generator, mut of_keys) = (C::Scalar::ZERO, C::Scalar::ZERO);
            for (i, &multiplier) in range.clone().zip(multipliers) {
                let multiplier = C::Scalar::read_wide(&multiplier.to_be_bytes());
                generator = generator + multiplier * of_generator(i);
                of_keys = of_keys + multiplier * of_key(i);
            }
            let sum =
                multiples_vartime::<Points<C>, 2>([(key, of_keys), (Points::<C>::generator(), generator)]);
            let points: Vec<_> = candidates[range].iter().map(|candidate| candidate.point).collect();
            let other = sum_of_multiples_vartime::<Points<C>>(&points, multipliers);
            let other = Points::<C>::negate_cached(&Points::<C>::cache(&other));
            Points::<C>::is_identity(&Points::<C>::add(&sum, &other)) != 0
        };
        let multipliers = multipliers(run.len());
        if multipliers.is_some_and(|multipliers| holds(run.clone(), &multipliers)) {
            continue;
        }
        for i in run {
            verdicts[i] = verdicts[i] && holds(i..i + 1, &[1]);
        }
    }
    verdicts
}
