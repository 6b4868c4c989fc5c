//! Trial division by small primes.

/// The odd primes below a limit. Dividing by them takes time that may depend on the number on old processors.
pub struct Sieve {
    primes: Vec<u64>,
    /// Products of neighbouring primes below 2^32, each with the number of its primes.
    products: Vec<(u64, usize)>,
}

impl Sieve {
    /// The odd primes below `limit`, which is at most `2^16`.
    #[must_use]
    pub fn below(limit: usize) -> Self {
        let mut is_composite = vec![false; limit];
        let mut primes = Vec::new();
        for number in (3..limit).step_by(2) {
            if !is_composite[number] {
                primes.push(number as u64);
                (number * number..limit).step_by(number).for_each(|multiple| is_composite[multiple] = true);
            }
        }
        let mut products = vec![(1, 0)];
        for &prime in &primes {
            match products.last_mut() {
                Some((product, count)) if *product * prime < 1 << 32 => {
                    *product *= prime;
                    *count += 1;
                }
                _ => products.push((prime, 1)),
            }
        }
        Self { primes, products }
    }

    /// The primes, by rising size.
    pub fn primes(&self) -> impl ExactSizeIterator<Item = u64> {
        self.primes.iter().copied()
    }

    /// The indices i below `window` for which `start + 2 i` is divisible by none of the primes but itself,
    /// for an odd start.
    pub(crate) fn candidates(&self, start: &[u64], window: usize) -> Vec<usize> {
        let mut is_composite = vec![false; window];
        let mut primes = self.primes.iter();
        let is_short = start.iter().skip(1).all(|&limb| limb == 0);
        for &(product, count) in &self.products {
            let rest = remainder(start, product);
            for &prime in primes.by_ref().take(count) {
                // 2 i is -start modulo the prime, and (prime + 1) / 2 is the half of 1.
                let mut first = (prime - rest % prime) * prime.div_ceil(2) % prime;
                if is_short && start[0] <= prime && start[0] + 2 * first == prime {
                    first += prime;
                }
                is_composite
                    .iter_mut()
                    .skip(first as usize)
                    .step_by(prime as usize)
                    .for_each(|flag| *flag = true);
            }
        }
        (0..window).filter(|&index| !is_composite[index]).collect()
    }

    /// The least of the primes that divides `number`.
    #[must_use]
    pub fn factor(&self, number: &[u64]) -> Option<u64> {
        let mut primes = self.primes.iter();
        self.products.iter().find_map(|&(product, count)| {
            let rest = remainder(number, product);
            primes
                .by_ref()
                .take(count)
                .copied()
                .fold(None, |found, prime| found.or_else(|| rest.is_multiple_of(prime).then_some(prime)))
        })
    }
}

/// `number mod divisor`, for a divisor below 2^32.
#[must_use]
pub fn remainder(number: &[u64], divisor: u64) -> u64 {
    number.iter().rev().fold(0, |rest, limb| {
        let rest = (rest << 32 | limb >> 32) % divisor;
        (rest << 32 | limb & 0xffff_ffff) % divisor
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_factor_is_found() {
        let sieve = Sieve::below(1000);
        assert_eq!(sieve.primes.len(), 167);
        assert_eq!(sieve.products.iter().map(|(_, count)| count).sum::<usize>(), 167);
        for number in (1001u64..40_000).step_by(2) {
            let expected = (3..1000).step_by(2).find(|divisor| number % divisor == 0);
            assert_eq!(sieve.factor(&[number]), expected, "{number}");
        }
        assert_eq!(Sieve::below(1 << 16).primes.last(), Some(&65_521));
        assert_eq!(u128::from(remainder(&[5, 1], 1000)), ((1u128 << 64) + 5) % 1000);
    }
}
