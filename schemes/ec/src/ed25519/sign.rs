//! Signatures of a block of items, which share their inversions.

use super::Signing;
use super::check::{Candidate, are_right};
use crate::ItemError;
use crate::ec::Answers;
use crate::field::{Field, N25519, P25519};
use crate::group::{Ed25519, Table};
use crate::scalar25519::{EIGHTH, Expanded, write_scalar};
use zeroize::Zeroizing;

/// Signs items whose keys are on Edwards25519. `table` is that of the generator.
pub(crate) fn sign(items: &[Signing<'_>], table: &Table<Ed25519>) -> Answers<Vec<u8>> {
    let keys = items.iter().map(|item| Expanded::new(item.key.secret()));
    let keys: Vec<Zeroizing<Expanded>> = keys.collect();
    let nonces: Vec<N25519> =
        items.iter().zip(&keys).map(|(item, key)| item.input.scalar([&key.prefix, &[]])).collect();
    let nonces = Zeroizing::new(nonces);
    // The third coordinates would tell about the nonces, and are cleared. Those of eight times the affine
    // points tell nothing that the points do not.
    let eighths: Vec<[P25519; 4]> = nonces.iter().map(|&nonce| table.multiple(nonce * EIGHTH)).collect();
    let eighths = Ed25519::affine(&Zeroizing::new(eighths));
    let points: Vec<[P25519; 4]> = eighths.iter().map(Ed25519::eightfold).collect();
    let points = Ed25519::affine(&points);

    let candidate = |position: usize| {
        let (item, point) = (&items[position], points[position]);
        let r = Ed25519::encode(&point, Field::ONE);
        let factor = item.input.scalar([&r, item.key.public_key().as_ref()]);
        let s = nonces[position] + factor * keys[position].scalar;
        Candidate { r, s, point, eighth: eighths[position] }
    };
    let candidates: Vec<Candidate> = (0..items.len()).map(candidate).collect();
    let verdicts = are_right(&candidates, items);
    let answer = |(candidate, is_right): (&Candidate, bool)| match is_right {
        true => Ok([candidate.r, write_scalar(candidate.s)].concat()),
        false => Err(ItemError::Fault),
    };
    candidates.iter().zip(verdicts).map(answer).collect()
}
