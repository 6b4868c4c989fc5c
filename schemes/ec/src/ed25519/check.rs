//! The check of signatures before they leave.
//!
//! A nonce of Ed25519 follows from the key and the message. Two signatures with one nonce and different
//! factors give the private key away, and a single wrong bit in `R` or in the factor makes such a second
//! signature. So the factor `k` is hashed again from what leaves, and the point has to have the bytes `R` and
//! to fulfil `s B - k A = R`.
//!
//! The group of all points has the order `8 L`, and a point of small order vanishes from a random combination
//! of equations with probability 1/8 to 1/2. So `R` comes with a point of which it is eight times, which
//! proves that it is in the group of prime order `L`. The public key is there too: it was computed as a
//! multiple of the generator.

use super::Signing;
use crate::check::{Equation, hold};
use crate::field::{Field, N25519, P25519};
use crate::group::{Ed25519, Group};

/// A signature that nobody has seen yet, with the point whose bytes it has.
pub(crate) struct Candidate {
    pub(crate) r: [u8; 32],
    pub(crate) s: N25519,
    /// With the third coordinate one.
    pub(crate) point: [P25519; 4],
    /// A point of which `point` is eight times, with the third coordinate one.
    pub(crate) eighth: [P25519; 4],
}

impl Candidate {
    /// Whether the point has the bytes of the signature and is in the group of prime order.
    fn has_its_point(&self) -> bool {
        [&self.eighth, &self.point].into_iter().all(Ed25519::is_on_curve)
            && Ed25519::equal(&Ed25519::eightfold(&self.eighth), &self.point)
            && Ed25519::encode(&self.point, P25519::ONE) == self.r
    }
}

/// Whether each signature is right.
pub(crate) fn are_right(candidates: &[Candidate], items: &[Signing<'_>]) -> Vec<bool> {
    let equation = |(candidate, item): (&Candidate, &Signing<'_>)| {
        candidate.has_its_point().then(|| Equation {
            of_generator: candidate.s,
            of_key: -item.input.scalar([&candidate.r, item.key.public_key().as_ref()]),
            point: Ed25519::entry(&candidate.point),
        })
    };
    let equations: Vec<_> = candidates.iter().zip(items).map(equation).collect();
    let keys: Vec<_> = items.iter().map(|item| item.key.public_key()).collect();
    hold::<Ed25519>(&equations, &keys, |key| key.ed25519_point().map(|key| key.point))
}
