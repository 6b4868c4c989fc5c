//! Transforms against their definition.

use super::point::Point;
use super::scheme::NttScheme;
use super::scheme::PrimeField;
use super::shape::BlockShape;
use super::shape::Ring;
use super::transform::{forward, inverse};
#[cfg(target_arch = "x86_64")]
use super::{primes, three_primes};
use crate::isa;
use crate::portable::fft::Goldilocks;
use crate::test_support::Random;
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512, avx512ifma::fft::Words};
use modmill_core::goldilocks;
use modmill_core::transform::{Digits, LANES, PointShape};

/// A field, as the definition of a transform needs it.
struct Definition {
    prime: u64,
    /// The number that a word represents, and the word that represents a number below the prime.
    read: fn(u64) -> i128,
    write: fn(u64) -> u64,
    root: fn(usize, u64) -> u64,
    index: usize,
}

impl Definition {
    fn mul(&self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.prime)) as u64
    }

    fn pow(&self, base: u64, exponent: u64) -> u64 {
        (0..exponent).fold(1, |power, _| self.mul(power, base))
    }

    /// The values of the polynomial with coefficients `x` at `root^j'`, where j' is j with its bits reversed.
    fn transform(&self, x: &[u64]) -> Vec<u64> {
        let bits = x.len().ilog2();
        let root = (self.root)(self.index, x.len() as u64);
        let value = |j: usize| {
            let exponent = if bits == 0 { 0 } else { j.reverse_bits() >> (usize::BITS - bits) };
            let y = self.pow(root, exponent as u64);
            x.iter().rev().fold(0, |sum, &x| {
                ((u128::from(self.mul(sum, y)) + u128::from(x)) % u128::from(self.prime)) as u64
            })
        };
        (0..x.len()).map(value).collect()
    }
}

fn canonical(definition: &Definition, points: &[Point], lane: usize) -> Vec<u64> {
    let residue = |word: u64| (definition.read)(word).rem_euclid(definition.prime.into()) as u64;
    points.iter().map(|point| residue(point.0[lane])).collect()
}

fn check<const F: usize>(scheme: &impl NttScheme<F>, definitions: [Definition; F]) {
    let mut random = Random::new(23);
    for log in 0..12 {
        let grid = PointShape { rows: 1, columns: 1 << log };
        let shape = BlockShape { grid, ring: Ring::Cyclic };
        for (field, definition) in scheme.fields(shape).iter().zip(&definitions) {
            let limbs: Vec<u64> = random.limbs((grid.points() * LANES * 30).div_ceil(64));
            let digits = Digits { limbs: &limbs, bits: 30 };
            let mut block = vec![Point::ZERO; grid.points()];
            field.fill(&mut [&mut block[..]], 0, &digits, shape);
            let lanes: Vec<Vec<u64>> = (0..LANES).map(|lane| canonical(definition, &block, lane)).collect();
            forward(field, &mut block, 0);
            if log <= 6 {
                for (lane, x) in lanes.iter().enumerate() {
                    assert_eq!(canonical(definition, &block, lane), definition.transform(x), "2^{log}");
                }
            }
            // Inverse transforms take products, so the values are first made canonical.
            inverse_of_forward(field, definition, &lanes);
        }
    }
}

fn inverse_of_forward(field: &impl PrimeField, definition: &Definition, lanes: &[Vec<u64>]) {
    let len = lanes[0].len();
    let point =
        |lanes: &[Vec<u64>], i: usize| Point(std::array::from_fn(|lane| (definition.write)(lanes[lane][i])));
    let mut block: Vec<Point> = (0..len).map(|i| point(lanes, i)).collect();
    forward(field, &mut block, 0);
    let values: Vec<Vec<u64>> = (0..LANES).map(|lane| canonical(definition, &block, lane)).collect();
    block = (0..len).map(|i| point(&values, i)).collect();
    inverse(field, &mut block, 0);
    for (lane, x) in lanes.iter().enumerate() {
        let expected: Vec<u64> = x.iter().map(|&x| definition.mul(x, len as u64)).collect();
        assert_eq!(canonical(definition, &block, lane), expected, "{len}");
    }
}

#[test]
fn the_portable_field_follows_the_definition() {
    let definition = Definition {
        prime: goldilocks::PRIME,
        read: i128::from,
        write: |x| x,
        root: |_, order| goldilocks::root_of_unity(order),
        index: 0,
    };
    check(&Goldilocks, [definition]);
}

#[cfg(target_arch = "x86_64")]
fn check_three_primes<A: three_primes::arithmetic::Arithmetic>(
    token: A::Token,
    read: fn(u64) -> i128,
    write: fn(u64) -> u64,
) {
    let definition = |index: usize| Definition {
        prime: primes::PRIMES[index],
        read,
        write,
        root: primes::root_of_unity,
        index,
    };
    check(&three_primes::ThreePrimes::<A>(token), std::array::from_fn(definition));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_three_primes_follow_the_definition() {
    if let Some(token) = isa::detect_ifma() {
        check_three_primes::<Words>(token, |word| i128::from(word % (1 << 52)), |x| x);
    }
    let read = |word: u64| f64::from_bits(word) as i128;
    let write = |x: u64| (x as f64).to_bits();
    if let Some(token) = isa::detect_avx2() {
        check_three_primes::<avx2::fft::Doubles>(token, read, write);
    }
    if let Some(token) = isa::detect_avx512() {
        check_three_primes::<avx512::fft::Doubles>(token, read, write);
    }
}
