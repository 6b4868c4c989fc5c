//! Coprime bases: numbers without a common factor, of which all given numbers are products.

use modmill::{Batch, Engine, Error, number, trees};

/// The numbers, each once, with those of its elements that divide it.
pub(crate) struct Base {
    /// No two elements have a common factor.
    pub(crate) elements: Vec<Vec<u64>>,
    /// Sorted numbers, and the indices of their elements.
    numbers: Vec<(Vec<u64>, Vec<usize>)>,
}

/// The value of an item without leading zero limbs.
pub(crate) fn value(batch: &Batch, item: usize) -> Vec<u64> {
    let limbs = batch.get(item);
    limbs[..number::bit_length(limbs).div_ceil(64)].to_vec()
}

/// `a / b` and the remainder.
fn divide(engine: &Engine, a: &[u64], b: &[u64]) -> Result<(Vec<u64>, Vec<u64>), Error> {
    let (quotient, remainder) = engine.div_rem(&Batch::from_values([a]), &Batch::from_values([b]))?;
    Ok((value(&quotient, 0), value(&remainder, 0)))
}

impl Base {
    /// The base of numbers above one.
    pub(crate) fn new(engine: &Engine, mut numbers: Vec<Vec<u64>>) -> Result<Self, Error> {
        numbers.sort();
        numbers.dedup();
        if numbers.is_empty() {
            return Ok(Self { elements: numbers, numbers: Vec::new() });
        }
        // Numbers that are coprime to all others are elements.
        let shared = trees::batch_gcd(engine, &Batch::from_values(&numbers))?;
        let is_free = |item: usize| value(&shared, item) == [1];
        let bound: Vec<Vec<u64>> = numbers
            .iter()
            .enumerate()
            .filter(|(item, _)| !is_free(*item))
            .map(|(_, number)| number.clone())
            .collect();
        let mut elements = refined(engine, bound)?;
        let split = if elements.is_empty() { None } else { Some(Batch::from_values(&elements)) };
        let mut found = Vec::with_capacity(numbers.len());
        for (item, number) in numbers.into_iter().enumerate() {
            let own = match &split {
                Some(split) if !is_free(item) => {
                    let divisors = engine.gcd(split, Batch::from_values([&number[..]]).shared(0))?;
                    (0..split.len()).filter(|&element| value(&divisors, element) != [1]).collect()
                }
                _ => {
                    elements.push(number.clone());
                    vec![elements.len() - 1]
                }
            };
            found.push((number, own));
        }
        Ok(Self { elements, numbers: found })
    }

    /// The factors of a number that is a multiple of `part`, one of the numbers that the base was made of:
    /// the indices of the elements, each as often as it divides the number, and the rest, to which they are
    /// coprime.
    pub(crate) fn factor(
        &self,
        engine: &Engine,
        number: &[u64],
        part: &[u64],
    ) -> Result<(Vec<usize>, Vec<u64>), Error> {
        let place = self.numbers.binary_search_by(|(known, _)| known[..].cmp(part));
        let own = place.map_or(&[][..], |place| &self.numbers[place].1);
        let (mut factors, mut rest) = (Vec::new(), number.to_vec());
        for &element in own {
            loop {
                let (quotient, remainder) = divide(engine, &rest, &self.elements[element])?;
                if !remainder.is_empty() {
                    break;
                }
                factors.push(element);
                rest = quotient;
            }
        }
        Ok((factors, rest))
    }
}

/// A coprime base of numbers, number by number: one that has a factor in common with an element is replaced,
/// together with it, by the factor and both quotients. The product of all becomes smaller with each step.
fn refined(engine: &Engine, numbers: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, Error> {
    let mut elements: Vec<Vec<u64>> = Vec::new();
    let mut left = numbers;
    while let Some(next) = left.pop() {
        if next == [1] {
            continue;
        }
        let common = match elements.is_empty() {
            true => None,
            false => {
                let divisors =
                    engine.gcd(&Batch::from_values(&elements), Batch::from_values([&next[..]]).shared(0))?;
                let shares = |element: &usize| value(&divisors, *element) != [1];
                (0..elements.len()).find(shares).map(|element| (element, value(&divisors, element)))
            }
        };
        match common {
            None => elements.push(next),
            Some((element, _)) if elements[element] == next => {}
            Some((element, divisor)) => {
                let old = elements.swap_remove(element);
                left.push(divide(engine, &old, &divisor)?.0);
                left.push(divide(engine, &next, &divisor)?.0);
                left.push(divisor);
            }
        }
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::rng::Rng;

    #[test]
    fn elements_are_coprime_and_multiply_to_all_numbers() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let primes = [3u64, 5, 7, 11, 13, 17, 19, 23];
        let rng = &mut Rng::new(21);
        for count in [0, 1, 2, 3, 5, 20] {
            for _ in 0..20 {
                let number =
                    |rng: &mut Rng| (0..1 + rng.below(4)).map(|_| primes[rng.below(8)]).product::<u64>();
                let numbers: Vec<Vec<u64>> = (0..count).map(|_| vec![number(rng)]).collect();
                let base = Base::new(&engine, numbers.clone()).unwrap();
                for (index, a) in base.elements.iter().enumerate() {
                    assert!(a[0] > 1);
                    for b in &base.elements[..index] {
                        assert!(
                            primes.iter().all(|prime| a[0] % prime > 0 || b[0] % prime > 0),
                            "{numbers:?}"
                        );
                    }
                }
                for number in &numbers {
                    let multiple = [number[0] * 29];
                    let (factors, rest) = base.factor(&engine, &multiple, number).unwrap();
                    let product: u64 = factors.iter().map(|&factor| base.elements[factor][0]).product();
                    assert_eq!((product, &rest[..]), (number[0], &[29][..]), "{numbers:?}");
                }
            }
        }
    }
}
