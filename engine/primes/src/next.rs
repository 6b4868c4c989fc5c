//! The next primes after public numbers: a sieve for each number, and tests of all numbers' candidates
//! together.

use crate::Sieve;
use modmill::number::{add_assign, bit_length};
use modmill::{Batch, Engine, Error, primality};

/// Candidates with a prime factor below this limit are not tested.
const SMALL: usize = 1 << 12;

/// The least number of candidates that are tested together, if there are as many.
const TOGETHER: usize = 64;

/// The candidates of one number: those odd numbers from `start` on that have no small factor.
struct Candidates {
    /// An odd number.
    start: Vec<u64>,
    /// The distances of candidates from the start, halved, the nearest last.
    halves: Vec<usize>,
}

impl Candidates {
    /// The candidates in a window that likely holds a prime.
    fn new(sieve: &Sieve, start: Vec<u64>) -> Self {
        let mut halves = sieve.candidates(&start, bit_length(&start).max(64));
        halves.reverse();
        Self { start, halves }
    }

    /// The number at a distance.
    fn at(&self, half: usize) -> Vec<u64> {
        let mut number = self.start.clone();
        add_assign(&mut number, &[2 * half as u64]);
        number
    }
}

/// The least prime above each number, in one bit more. The primes are those that pass
/// [`primality::baillie_psw`]. The time depends on the numbers, so they must be public.
///
/// ```
/// use modmill::{Batch, Engine};
///
/// let numbers = Batch::from_hex(["0", "2", "7f", "ffffffffffffffff"])?;
/// let primes = modmill_primes::next_primes(&Engine::new()?, &numbers)?;
/// assert_eq!((0..4).map(|item| primes.to_hex(item)).collect::<Vec<_>>(), ["2", "3", "83", "1000000000000000d"]);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn next_primes(engine: &Engine, numbers: &Batch) -> Result<Batch, Error> {
    let sieve = Sieve::below(SMALL);
    let mut primes = Batch::try_zeros(numbers.bits() + 1, numbers.len())?;
    let mut open: Vec<(usize, Candidates)> = Vec::new();
    for (item, number) in numbers.iter().enumerate() {
        if bit_length(number) < 2 {
            primes.get_mut(item)[0] = 2;
            continue;
        }
        // The least odd number above.
        let mut start = primes.get(item).to_vec();
        start[..number.len()].copy_from_slice(number);
        add_assign(&mut start, &[1 + (number[0] & 1)]);
        open.push((item, Candidates::new(&sieve, start)));
    }
    while !open.is_empty() {
        let each = TOGETHER.div_ceil(open.len());
        let mut tested = Vec::new();
        for (index, (_, candidates)) in open.iter_mut().enumerate() {
            if candidates.halves.is_empty() {
                // No prime was in the window: the next one begins behind it.
                let window = bit_length(&candidates.start).max(64);
                *candidates = Candidates::new(&sieve, candidates.at(window));
            }
            let left = candidates.halves.len().saturating_sub(each);
            let nearest = candidates.halves.split_off(left);
            tested.extend(nearest.into_iter().rev().map(|half| (index, candidates.at(half))));
        }
        let mut batch = Batch::try_zeros(primes.bits(), tested.len())?;
        for (place, (_, number)) in tested.iter().enumerate() {
            batch.get_mut(place).copy_from_slice(number);
        }
        let passed = primality::baillie_psw(engine, &batch)?;
        let mut found = vec![false; open.len()];
        for ((index, number), _) in tested.iter().zip(passed).filter(|(_, passed)| *passed) {
            if !std::mem::replace(&mut found[*index], true) {
                primes.get_mut(open[*index].0).copy_from_slice(number);
            }
        }
        let mut found = found.into_iter();
        open.retain(|_| !found.next().unwrap_or(false));
    }
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::oracle::{batch_of_width, number};
    use num_bigint::BigUint;

    #[test]
    fn all_small_primes_follow_each_other() {
        let engine = Engine::builder().threads(2).build().unwrap();
        let numbers: Vec<BigUint> = (0..9000u32).map(BigUint::from).collect();
        let primes = next_primes(&engine, &batch_of_width(&numbers, 14)).unwrap();
        let is_prime = |n: &u64| *n > 1 && (2..=n.isqrt()).all(|divisor| !n.is_multiple_of(divisor));
        let mut expected = 9001u64;
        for n in (0..9000u64).rev() {
            if is_prime(&(n + 1)) {
                expected = n + 1;
            }
            assert_eq!(primes.get(n as usize), [expected], "{n}");
        }
    }

    /// The last primes below powers of two and the first ones above (OEIS A013603, A013597).
    #[test]
    fn primes_around_powers_of_two() {
        let engine = Engine::builder().threads(2).build().unwrap();
        let one = BigUint::from(1u8);
        for (bits, below, above) in [(64, 59u32, 13u32), (128, 159, 51), (256, 189, 297), (512, 569, 75)] {
            let power: BigUint = &one << bits;
            let last: BigUint = &power - below;
            let numbers = [&last - 1u8, last.clone(), power.clone() - 1u8, power.clone()];
            let primes = next_primes(&engine, &batch_of_width(&numbers, bits + 1)).unwrap();
            let next = power + above;
            let expected = [last, next.clone(), next.clone(), next];
            for (item, expected) in expected.iter().enumerate() {
                assert_eq!(number(primes.get(item)), *expected, "{bits} bits, item {item}");
            }
        }
        assert!(next_primes(&engine, &Batch::zeros(64, 0)).unwrap().is_empty());
    }
}
