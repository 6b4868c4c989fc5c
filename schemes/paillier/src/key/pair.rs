//! Pairs of primes that are fit for a key together.

use crate::rows::halved;
use modmill::number::{self, Number};
use modmill_primes::far_apart;

/// Two of the primes that `find` finds, which are fit for a key together. `prime` is the prime of what is
/// found.
pub(super) fn pair<T>(
    mut find: impl FnMut() -> Result<Vec<T>, modmill::Error>,
    prime: impl Fn(&T) -> &Number,
) -> Result<[T; 2], modmill::Error> {
    let mut waiting: Option<T> = None;
    loop {
        for found in find()? {
            match waiting.take() {
                Some(other)
                    if far_apart(prime(&other), prime(&found))
                        && halves_coprime(prime(&other), prime(&found)) =>
                {
                    return Ok([other, found]);
                }
                // The pair does not serve, so that one of them is dropped.
                Some(_) | None => waiting = Some(found),
            }
        }
    }
}

/// Whether `(p - 1) / 2` and `(q - 1) / 2` are coprime, for primes that are 3 modulo 4. Then the squares
/// modulo n are a cyclic group, as short exponents need it.
fn halves_coprime(p: &[u64], q: &[u64]) -> bool {
    let (p, q) = (halved(p), halved(q));
    number::inv(&number::remainder(&p, &q), &q).is_some()
}
