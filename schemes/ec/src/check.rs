//! The equations that signatures have to fulfil before they leave.
//!
//! The equations of items with the same key are added up, each multiplied by a random number of 32 bits. All
//! points are in the group of prime order `n > 2^32`. If the two sides of one equation differ, one value of
//! its multiplier at most makes the sums equal, whatever the others are: wrong signatures pass with
//! probability `2^-32` at most. If the sums differ, each equation is looked at alone. Tables that signatures
//! are made with take no part.

use crate::PublicKey;
use crate::field::Field;
use crate::group::{Group, multiples_vartime, sum_of_multiples_vartime};
use std::ops::Range;

/// `of_generator G + of_key Q = point` for the public key `Q` of an item. Everything is public.
pub(crate) struct Equation<G: Group> {
    pub(crate) of_generator: G::Scalar,
    pub(crate) of_key: G::Scalar,
    pub(crate) point: G::Entry,
}

/// Whether the equation of each item holds. An item without an equation is known to be wrong.
pub(crate) fn hold<G: Group>(
    equations: &[Option<Equation<G>>],
    keys: &[&PublicKey],
    point: impl Fn(&PublicKey) -> Option<G::Point>,
) -> Vec<bool> {
    let mut verdicts = vec![false; equations.len()];
    for run in runs(keys) {
        let Some(key) = point(keys[run.start]) else { continue };
        let of_run: Vec<&Equation<G>> = equations[run.clone()].iter().flatten().collect();
        let multipliers = multipliers(of_run.len());
        let all_hold = multipliers.is_some_and(|multipliers| sums_are_equal(&key, &of_run, &multipliers));
        for item in run {
            let holds = |equation| all_hold || sums_are_equal(&key, &[equation], &[1]);
            verdicts[item] = equations[item].as_ref().is_some_and(holds);
        }
    }
    verdicts
}

/// Whether both sides of equations have the same sum, each multiplied by its multiplier.
fn sums_are_equal<G: Group>(key: &G::Point, equations: &[&Equation<G>], multipliers: &[u32]) -> bool {
    let (mut of_generator, mut of_key) = (G::Scalar::ZERO, G::Scalar::ZERO);
    for (equation, multiplier) in equations.iter().zip(multipliers) {
        let multiplier = G::Scalar::read_wide(&multiplier.to_be_bytes());
        of_generator = of_generator + multiplier * equation.of_generator;
        of_key = of_key + multiplier * equation.of_key;
    }
    let left = multiples_vartime::<G, 2>([(*key, of_key), (G::generator(), of_generator)]);
    let points: Vec<G::Entry> = equations.iter().map(|equation| equation.point).collect();
    G::equal(&left, &sum_of_multiples_vartime::<G>(&points, multipliers))
}

/// The neighbouring items with the same key, as ranges of positions.
fn runs<K: PartialEq>(keys: &[&K]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (position, key) in keys.iter().enumerate() {
        match runs.last_mut().filter(|run| keys[run.start] == *key) {
            Some(run) => run.end = position + 1,
            None => runs.push(position..position + 1),
        }
    }
    runs
}

/// Random multipliers of equations, or none if there is no randomness, or a single equation, which is looked
/// at as it is.
fn multipliers(count: usize) -> Option<Vec<u32>> {
    let mut bytes = vec![0; 4 * count];
    if count < 2 || modmill_primes::random::fill(&mut bytes).is_err() {
        return None;
    }
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    Some(bytes.chunks_exact(4).map(word).collect())
}
