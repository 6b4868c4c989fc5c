//! The check of signatures before they leave.
//!
//! A nonce of Ed25519 follows from the key and the message. Two signatures with one nonce and different factors
//! give the private key away, and a single wrong bit in `R` or in the factor makes such a second signature. So the
//! factor `k` is hashed again from what leaves, and the point has to have the bytes `R` and to fulfil
//! `s B - k A = R`. The equations of items with the same key are added up, each multiplied by a random number of
//! 32 bits: wrong signatures pass with probability `2^-32`. If the sum is wrong, each item is looked at
//! alone. Tables that signatures are made with take no part.

use super::Signing;
use crate::ec::{multipliers, runs};
use crate::field::{Field, N25519, P25519};
use crate::group::{Ed25519, Group, multiples_vartime, sum_of_multiples_vartime};
use std::ops::Range;

/// A signature that nobody has seen yet, with the point whose bytes it has.
pub(crate) struct Candidate {
    pub(crate) r: [u8; 32],
    pub(crate) s: N25519,
    /// With the third coordinate one.
    pub(crate) point: [P25519; 4],
}

/// Whether each signature is right.
pub(crate) fn are_right(candidates: &[Candidate], items: &[Signing<'_>]) -> Vec<bool> {
    let keys: Vec<_> = items.iter().map(|item| item.key.public_key()).collect();
    let factor = |(item, candidate): (&Signing<'_>, &Candidate)| {
        item.input.scalar([&candidate.r, item.key.public_key().as_ref()])
    };
    let factors: Vec<N25519> = items.iter().zip(candidates).map(factor).collect();
    let own = |candidate: &Candidate| {
        Ed25519::is_on_curve(&candidate.point)
            && Ed25519::encode(&candidate.point, P25519::ONE) == candidate.r
    };
    let mut verdicts: Vec<bool> = candidates.iter().map(own).collect();

    for run in runs(&keys) {
        let Some(key) = keys[run.start].ed25519_point() else {
            verdicts[run].fill(false);
            continue;
        };
        let holds = |range: Range<usize>, multipliers: &[u32]| {
            let (mut generator, mut of_key) = (N25519::ZERO, N25519::ZERO);
            for (i, &multiplier) in range.clone().zip(multipliers) {
                let multiplier = N25519::read_wide(&multiplier.to_be_bytes());
                generator = generator + multiplier * candidates[i].s;
                of_key = of_key - multiplier * factors[i];
            }
            let sum =
                multiples_vartime::<Ed25519, 2>([(key.point, of_key), (Ed25519::generator(), generator)]);
            let points: Vec<_> = candidates[range].iter().map(|candidate| candidate.point).collect();
            let other = sum_of_multiples_vartime::<Ed25519>(&Ed25519::entries(&points), multipliers);
            Ed25519::equal(&sum, &other)
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
