//! A test whether the time of RSA's private operation on GPUs depends on the key. It times many keys, whose
//! exponents have few ones, many ones or random bits, and correlates the kernels' time with the number of
//! ones.
//!
//! The kernels do the same work for primes and for any odd numbers. Keys are therefore random odd numbers
//! with exponents of a chosen weight. Their answers fail the check with the public exponent, which takes the
//! same time.

use crate::rng::Rng;
use modmill::Request;
use modmill::hazmat::{Blocks, CrtModulus, CrtPowers, PerItem};
use modmill_cuda::{Cuda, Error};
use num_bigint::BigUint;
use std::ops::Range;

/// The protection of exponents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Exponents are blinded by a random number for every call, and table entries are read directly.
    Blinded,
    /// Tables are read whole, under masks.
    Masked,
    /// Table entries are read directly by unblinded exponents, for comparison with the others.
    None,
}

/// The result of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct KeyTiming {
    /// The number of keys.
    pub keys: usize,
    /// Mean milliseconds of the kernels.
    pub mean_ms: f64,
    /// The standard deviation of the keys' times, divided by the mean.
    pub deviation: f64,
    /// The difference between the slowest and the fastest key, divided by the mean.
    pub spread: f64,
    /// Pearson's correlation between the time and the number of ones in the exponents.
    pub correlation: f64,
    /// Student's t of the correlation. It is above 4.5 by chance once in 10^5 measurements.
    pub t: f64,
}

/// The |t| above which the time is taken to depend on the key.
pub const THRESHOLD: f64 = 4.5;

/// The rounds of a measurement. Each round times every key once, in a new order; the median counts.
const ROUNDS: usize = 5;

struct Key {
    limbs: [Vec<u64>; 6],
    primes: [BigUint; 2],
    exponents: [BigUint; 2],
}

impl Key {
    /// The key with this number. Its exponents have few ones, many ones or random bits, in turn.
    fn new(bits: usize, number: usize, rng: &mut Rng) -> Self {
        let half = bits / 2;
        let mut odd = || {
            let mut number = rng.exact(half);
            number.set_bit(0, true);
            number.set_bit(half as u64 - 2, true);
            number
        };
        let primes = [odd(), odd()];
        let exponents = [0, 1].map(|_| match number % 4 {
            0 => (0..rng.below(8))
                .fold(BigUint::from(1u8), |sum, _| sum | BigUint::from(1u8) << rng.below(half - 1)),
            1 => {
                let ones = (BigUint::from(1u8) << (half - 1)) - 1u8;
                (0..rng.below(8)).fold(ones, |sum, _| {
                    let mut sum = sum;
                    sum.set_bit(rng.below(half - 1) as u64, false);
                    sum
                })
            }
            _ => rng.number(half - 1),
        });
        let modulus = &primes[0] * &primes[1];
        let coefficient = rng.number(half - 1);
        let [p, q] = &primes;
        let [dp, dq] = &exponents;
        let limbs = [&modulus, p, q, dp, dq, &coefficient].map(BigUint::to_u64_digits);
        Self { limbs, primes, exponents }
    }

    fn blind(&mut self, rng: &mut Rng) {
        for half in 0..2 {
            let order = &self.primes[half] - 1u8;
            self.limbs[3 + half] = (&self.exponents[half] + order * rng.word()).to_u64_digits();
        }
    }

    fn weight(&self) -> f64 {
        self.exponents.iter().map(|exponent| exponent.count_ones()).sum::<u64>() as f64
    }

    fn parts(&self) -> CrtModulus<'_> {
        let [n, p, q, dp, dq, coefficient] = &self.limbs;
        CrtModulus { modulus: n, primes: [p, q], exponents: [dp, dq], coefficient }
    }
}

/// Random blocks that every call gets again.
struct Random {
    blocks: Vec<u8>,
    stride: usize,
}

impl Blocks for Random {
    fn fill(&mut self, items: Range<usize>, blocks: &mut [u8]) {
        for (block, item) in blocks.chunks_exact_mut(self.stride).zip(items) {
            let from = item % (self.blocks.len() / self.stride) * self.stride;
            block.copy_from_slice(&self.blocks[from..from + self.stride]);
            // The block must be below every modulus.
            block[0] = 0;
        }
    }

    fn take(&mut self, _: Range<usize>, _: &mut [u8], _: &[u32]) {}
}

/// Times private operations of `bits` bits in batches of `count` with `keys` keys, one for all items of a
/// batch.
pub fn measure(
    cuda: &Cuda,
    bits: usize,
    count: usize,
    keys: usize,
    protection: Protection,
    progress: &mut dyn FnMut(f64),
) -> Result<KeyTiming, Error> {
    let mut rng = Rng::new(76);
    let mut all: Vec<Key> = (0..keys).map(|number| Key::new(bits, number, &mut rng)).collect();
    let stride = 8 * bits.div_ceil(64);
    let mut blocks = Random { blocks: rng.bytes(64 * stride), stride };
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); keys];
    for round in 0..=ROUNDS {
        let mut order: Vec<usize> = (0..keys).collect();
        for place in (1..keys).rev() {
            order.swap(place, rng.below(place + 1));
        }
        for (done, key) in order.into_iter().enumerate() {
            let key_bits = if protection == Protection::Blinded { 64 } else { 0 };
            if protection == Protection::Blinded {
                all[key].blind(&mut rng);
            }
            let job = CrtPowers {
                count,
                moduli: PerItem::One(all[key].parts()),
                bits,
                prime_limbs: (bits / 2).div_ceil(64),
                exponent_bits: bits / 2 + key_bits,
                blinded: protection != Protection::Masked,
                public_exponent: &[65_537],
            };
            let none = || Error::NoKernel { name: "for keys of this length".to_owned() };
            let plan = cuda.plan_crt(&Request::of_crt(&job)).ok_or_else(none)?;
            let seconds = cuda.crt_pow(&plan, &job, &mut blocks)?;
            // The first round warms up.
            if round > 0 {
                times[key].push(seconds);
            }
            progress((round as f64 + done as f64 / keys as f64) / (ROUNDS + 1) as f64);
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let times: Vec<f64> = times.iter_mut().map(median).collect();
    let weights: Vec<f64> = all.iter().map(Key::weight).collect();
    Ok(summary(&times, &weights))
}

fn summary(times: &[f64], weights: &[f64]) -> KeyTiming {
    let keys = times.len();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / keys as f64;
    let (time, weight) = (mean(times), mean(weights));
    let moment = |a: &[f64], a_mean: f64, b: &[f64], b_mean: f64| {
        a.iter().zip(b).map(|(x, y)| (x - a_mean) * (y - b_mean)).sum::<f64>() / keys as f64
    };
    let (variance, spread) = (moment(times, time, times, time), moment(weights, weight, weights, weight));
    let correlation =
        moment(times, time, weights, weight) / (variance * spread).sqrt().max(f64::MIN_POSITIVE);
    let slowest = times.iter().copied().fold(0.0, f64::max);
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    KeyTiming {
        keys,
        mean_ms: 1e3 * time,
        deviation: variance.sqrt() / time,
        spread: (slowest - fastest) / time,
        correlation,
        t: correlation * ((keys as f64 - 2.0) / (1.0 - correlation * correlation).max(1e-12)).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_goes_with_the_weight_is_found() {
        let mut rng = Rng::new(1);
        let weights: Vec<f64> = (0..64).map(|_| rng.below(1000) as f64).collect();
        let noise: Vec<f64> = (0..64).map(|_| 1.0 + rng.below(100) as f64 / 1e4).collect();
        let leaking: Vec<f64> =
            weights.iter().zip(&noise).map(|(weight, time)| time + weight / 1e5).collect();
        let (found, none) = (summary(&leaking, &weights), summary(&noise, &weights));
        assert!(found.t > THRESHOLD && found.correlation > 0.5, "{found:?}");
        assert!(none.t.abs() < THRESHOLD, "{none:?}");
        assert!(none.spread < 0.011 && none.deviation < none.spread);
    }

    #[test]
    fn keys_have_few_ones_many_and_random_ones() {
        let mut rng = Rng::new(2);
        let weights: Vec<f64> = (0..4).map(|number| Key::new(512, number, &mut rng).weight()).collect();
        assert!(
            weights[0] < 20.0 && weights[1] > 480.0 && (180.0..330.0).contains(&weights[2]),
            "{weights:?}"
        );
    }
}
