//! Signatures of a block of items, which share their inversions.

use super::Signing;
use super::check::{Candidate, are_right};
use crate::ItemError;
use crate::ec::Answers;
use crate::field::{Field, N25519, P25519, invert_all};
use crate::group::{Ed25519, Table};
use crate::scalar25519::{Expanded, write_scalar};
use zeroize::Zeroizing;

/// Signs items whose keys are on Edwards25519. `table` is that of the generator.
pub(crate) fn sign(items: &[Signing<'_>], table: &Table<Ed25519>) -> Answers<Vec<u8>> {
    let keys = items.iter().map(|item| Expanded::new(item.key.secret()));
    let keys: Vec<Zeroizing<Expanded>> = keys.collect();
    let nonces: Vec<N25519> =
        items.iter().zip(&keys).map(|(item, key)| item.input.scalar([&key.prefix, &[]])).collect();
    let nonces = Zeroizing::new(nonces);
    // The third coordinates would tell about the nonces, and are cleared.
    let points: Vec<_> = nonces.iter().map(|&nonce| table.multiple(nonce)).collect();
    let points = Zeroizing::new(points);
    let mut inverses = Zeroizing::new(points.iter().map(|&[_, _, z, _]| z).collect::<Vec<P25519>>());
    invert_all(&mut inverses);

    let candidate = |position: usize| {
        let (item, [x, y, ..], inverse) = (&items[position], points[position], inverses[position]);
        let (x, y) = (x * inverse, y * inverse);
        let point = [x, y, P25519::ONE, x * y];
        let r = Ed25519::encode(&point, P25519::ONE);
        let factor = item.input.scalar([&r, item.key.public_key().as_ref()]);
        Candidate { r, s: nonces[position] + factor * keys[position].scalar, point }
    };
    let candidates: Vec<Candidate> = (0..items.len()).map(candidate).collect();
    let verdicts = are_right(&candidates, items);
    let answer = |(candidate, is_right): (&Candidate, bool)| match is_right {
        true => Ok([candidate.r, write_scalar(candidate.s)].concat()),
        false => Err(ItemError::Fault),
    };
    candidates.iter().zip(verdicts).map(answer).collect()
}
