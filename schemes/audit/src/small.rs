//! Factors below 2^16.

use crate::progress::{Progress, Stage};
use crate::widths::subsets;
use modmill::{Batch, Engine, Error, trees};
use modmill_primes::{Sieve, remainder};
use rayon::prelude::*;
use std::sync::LazyLock;

/// Limbs of the moduli that are divided together: enough for all lanes and GPUs.
const CHUNK: usize = 1 << 21;

const LIMIT: usize = 1 << 16;

static SIEVE: LazyLock<Sieve> = LazyLock::new(|| Sieve::below(LIMIT));

/// A number whose factors below 2^16 are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Divided {
    /// The primes below 2^16, each as often as it divides the number, by rising size.
    pub(crate) primes: Vec<u64>,
    /// The number without them.
    pub(crate) rest: Vec<u64>,
}

/// The numbers that have factors below 2^16, by rising index.
pub(crate) fn small_factors<'a>(
    engine: &Engine,
    progress: &Progress,
    numbers: impl Fn(usize) -> &'a [u64] + Copy + Sync,
    count: usize,
) -> Result<Vec<(usize, Divided)>, Error> {
    progress.begin(Stage::SmallFactors(count));
    let primes: Vec<[u64; 1]> = std::iter::once(2).chain(SIEVE.primes()).map(|prime| [prime]).collect();
    // Every prime once: a gcd with the product is above one where any of them divides.
    let unwatched = engine.watched_by(None);
    let product = trees::product(&unwatched, &Batch::from_values(&primes))?;
    let mut found = Vec::new();
    for subset in subsets((0..count).map(|index| numbers(index).len()), CHUNK) {
        let batch = subset.batch(numbers)?;
        let rests = unwatched.reduce(product.shared(0), &batch)?;
        let divisors = engine.gcd(&rests, &batch)?;
        let has_one = |item: &usize| {
            divisors.get(*item).iter().enumerate().any(|(limb, &value)| value != u64::from(limb == 0))
        };
        let items: Vec<usize> = (0..subset.indices.len()).filter(has_one).collect();
        let divided = |&item: &usize| {
            let index = subset.indices[item];
            (index, divide(numbers(index)))
        };
        found.extend(engine.install(|| items.par_iter().map(divided).collect::<Vec<_>>()));
    }
    found.sort_by_key(|(index, _)| *index);
    Ok(found)
}

/// Divides a number by its factors below 2^16.
fn divide(number: &[u64]) -> Divided {
    let mut divided = Divided { primes: Vec::new(), rest: number.to_vec() };
    while divided.rest != [1] {
        let prime = match divided.rest[0] & 1 {
            0 => 2,
            _ => match SIEVE.factor(&divided.rest) {
                Some(prime) => prime,
                None => break,
            },
        };
        while remainder(&divided.rest, prime) == 0 {
            divided.primes.push(prime);
            divide_by(&mut divided.rest, prime);
        }
    }
    divided
}

/// Divides a number by a divisor of it below 2^32.
fn divide_by(number: &mut Vec<u64>, divisor: u64) {
    let mut rest = 0;
    for limb in number.iter_mut().rev() {
        let high = (rest << 32) | (*limb >> 32);
        let low = ((high % divisor) << 32) | (*limb & 0xffff_ffff);
        *limb = ((high / divisor) << 32) | (low / divisor);
        rest = low % divisor;
    }
    while number.len() > 1 && number.last() == Some(&0) {
        number.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::oracle::number as big;
    use num_bigint::BigUint;

    #[test]
    fn small_primes_are_divided_out() {
        let prime = BigUint::from(2u8).pow(127) - 1u8;
        let cases: [(BigUint, &[u64]); 6] = [
            (prime.clone(), &[]),
            (&prime * 3u8, &[3]),
            (&prime * 4u8, &[2, 2]),
            (&prime * 65_521u32 * 65_521u32 * 2u8, &[2, 65_521, 65_521]),
            (BigUint::from(15u8), &[3, 5]),
            (&prime * 65_537u32, &[]),
        ];
        let numbers: Vec<Vec<u64>> = cases.iter().map(|(number, _)| number.to_u64_digits()).collect();
        let engine = Engine::builder().threads(1).build().unwrap();
        let found =
            small_factors(&engine, &Progress::new(), |index| &numbers[index][..], numbers.len()).unwrap();
        assert_eq!(found.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 2, 3, 4]);
        for (index, divided) in found {
            assert_eq!(divided.primes, cases[index].1);
            let product: u64 = divided.primes.iter().product();
            assert_eq!(big(&divided.rest) * product, cases[index].0);
        }
    }
}
