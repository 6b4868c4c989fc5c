//! Products by every road against `num-bigint` and closed forms, transforms against the definition.

use super::*;
use crate::random::Random;
use num_bigint::BigUint;

fn big(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

fn roads() -> Vec<Multiplier> {
    Multiplier::detect(None)
}

/// Products by transforms, however short.
fn by_transforms(road: &Multiplier, a: &[u64], b: Option<&[u64]>) -> Vec<u64> {
    let limbs = b.map_or(a.len(), <[u64]>::len);
    let mut out = vec![0; a.len() + limbs];
    road.by_transforms(a, limbs, b.map_or(Other::Same, Other::Number), &mut out);
    out
}

#[track_caller]
fn check(road: &Multiplier, a: &[u64], b: &[u64]) {
    let expected = big(a) * big(b);
    let mut out = vec![1; a.len() + b.len()];
    road.multiply(a, b, &mut out);
    assert_eq!(big(&out), expected, "{road:?} {} {}", a.len(), b.len());
    let prepared = road.prepare(b, a.len());
    out.fill(1);
    road.multiply_prepared(a, &prepared, &mut out);
    assert_eq!(big(&out), expected, "prepared, {road:?} {} {}", a.len(), b.len());
    let mut out = vec![1; 2 * a.len()];
    road.square(a, &mut out);
    assert_eq!(big(&out), big(a) * big(a), "square, {road:?} {}", a.len());
    if !a.is_empty() && !b.is_empty() {
        assert_eq!(big(&by_transforms(road, a, Some(b))), expected, "{road:?} {} {}", a.len(), b.len());
        assert_eq!(by_transforms(road, a, None), out, "{road:?} {}", a.len());
    }
}

#[test]
fn every_short_length_and_every_kind_of_number() {
    let mut random = Random(3);
    for road in roads() {
        for n in (0..70).chain([127, 128, 129, 191, 192, 193, 255, 256, 257, 320, 321, 384, 385, 513]) {
            check(&road, &random.limbs(n), &random.limbs(n));
            check(&road, &random.limbs(n), &random.limbs(n / 3 + 1));
            check(&road, &vec![u64::MAX; n], &vec![u64::MAX; n]);
            let mut sparse = vec![0; n + 1];
            (sparse[0], sparse[n]) = (1, 1 << 63);
            check(&road, &sparse, &vec![u64::MAX; n]);
            check(&road, &vec![0; n], &random.limbs(n));
        }
    }
}

#[test]
fn both_sides_of_every_threshold() {
    let mut random = Random(5);
    for road in roads() {
        for threshold in [crate::portable::KARATSUBA, road.threshold()] {
            for short in [threshold - 1, threshold, threshold + 1] {
                for long in [short, short + 1, 2 * short - 1, 2 * short, 5 * short + 7] {
                    check(&road, &random.limbs(short), &random.limbs(long));
                    check(&road, &vec![u64::MAX; long], &vec![u64::MAX; short]);
                }
            }
        }
    }
}

#[test]
fn lengths_on_both_sides_of_every_shape() {
    let mut random = Random(7);
    for road in roads() {
        // Points of a product from 2^9 to 2^10, by eighths.
        for points in (8..16).map(|eighths| eighths << 6) {
            for extra in [0, 1] {
                let limbs = match road.isa() {
                    Isa::Portable => points * 8 * 25 / 64,
                    _ => points * 8,
                } + extra;
                check(&road, &random.limbs(limbs / 2), &random.limbs(limbs - limbs / 2));
            }
        }
    }
}

/// `(2^a - 1)(2^b - 1) = 2^(a + b) - 2^a - 2^b + 1`, whose carries run from end to end.
fn product_of_ones(a: usize, b: usize) -> Vec<u64> {
    let (short, long) = (a.min(b), a.max(b));
    let mut expected = vec![u64::MAX; short + long];
    expected[..short].fill(0);
    expected[0] = 1;
    expected[long] = u64::MAX - 1;
    if short == long {
        expected[long] = u64::MAX - 1;
    }
    expected
}

#[test]
fn ones_at_the_limit_of_digits() {
    // 65536 digits of 24 bits fill the thesis's prime; one digit more, and they have 23.
    for (limbs, bits) in [(24_576, 24), (24_577, 23)] {
        assert_eq!(Road::<1>::plan(&OnePrime, limbs, limbs).digit_bits, bits);
        for road in roads() {
            let ones = vec![u64::MAX; limbs];
            assert!(by_transforms(&road, &ones, Some(&ones)) == product_of_ones(limbs, limbs));
            assert!(
                by_transforms(&road, &ones, Some(&ones[..limbs / 3])) == product_of_ones(limbs, limbs / 3)
            );
        }
    }
}

#[test]
fn carries_cross_the_shares_of_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut random = Random(11);
    let n = 40_000;
    let (a, b) = (random.limbs(n), random.limbs(n));
    for road in roads() {
        let one = by_transforms(&road, &a, Some(&b));
        let ones = vec![u64::MAX; n];
        pool.install(|| {
            assert!(by_transforms(&road, &a, Some(&b)) == one);
            assert!(by_transforms(&road, &ones, Some(&ones)) == product_of_ones(n, n));
        });
    }
    // Modulo a word, which the product does not know of.
    let modulo = |limbs: &[u64]| {
        limbs.iter().rev().fold(0, |rest, &limb| {
            ((u128::from(rest) << 64 | u128::from(limb)) % 0xffff_ffff_ffff_ffc5) as u64
        })
    };
    let product = by_transforms(&roads()[0], &a, Some(&b));
    let expected = u128::from(modulo(&a)) * u128::from(modulo(&b)) % 0xffff_ffff_ffff_ffc5;
    assert_eq!(u128::from(modulo(&product)), expected);
}

#[test]
fn products_distribute_over_sums() {
    let mut random = Random(13);
    for road in roads() {
        let n = 3000;
        let (a, mut b, mut c) = (random.limbs(n), random.limbs(n), random.limbs(n));
        (b[n - 1], c[n - 1]) = (b[n - 1] >> 1, c[n - 1] >> 1);
        let mut sum = by_transforms(&road, &a, Some(&b));
        modmill_core::limbs::add_assign(&mut sum, &by_transforms(&road, &a, Some(&c)));
        modmill_core::limbs::add_assign(&mut b, &c);
        assert!(by_transforms(&road, &a, Some(&b)) == sum);
    }
}

/// More than the digits of 64 bits have room for: 1 Gbit, checked modulo words. Minutes and 2 GB.
#[test]
#[ignore = "a gigabit: needs gigabytes and minutes"]
fn a_gigabit_product_is_right_modulo_primes() {
    let mut random = Random(17);
    let n = (1 << 30) / 64;
    let (a, b) = (random.limbs(n), random.limbs(n));
    let road = *roads().last().unwrap();
    let mut out = vec![0; 2 * n];
    road.multiply(&a, &b, &mut out);
    for prime in [0xffff_ffff_ffff_ffc5u64, 0xffff_ffff_0000_0001, (1 << 61) - 1] {
        let modulo = |limbs: &[u64]| {
            let step = |rest: u64, &limb: &u64| {
                ((u128::from(rest) << 64 | u128::from(limb)) % u128::from(prime)) as u64
            };
            limbs.iter().rev().fold(0, step)
        };
        let expected = u128::from(modulo(&a)) * u128::from(modulo(&b)) % u128::from(prime);
        assert_eq!(u128::from(modulo(&out)), expected, "modulo {prime}");
    }
    let ones = vec![u64::MAX; n];
    road.square(&ones, &mut out);
    assert!(out == product_of_ones(n, n));
}

mod transforms {
    use super::frame::Frame;
    use super::road::Field;
    use super::transform::{forward, inverse};
    use super::*;
    use modmill_core::solinas;
    use modmill_core::transform::{Digits, LANES, Shape};
    use point::Point;

    /// What a field is, for the definition of a transform.
    struct Definition {
        prime: u64,
        /// The number that a word is, and the word of a number below the prime.
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

        /// The values at `root^bit-reversed j` of the polynomial with these coefficients.
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

    fn check<const F: usize>(road: &impl Road<F>, definitions: [Definition; F]) {
        let mut random = Random(23);
        for log in 0..12 {
            let shape = Shape { rows: 1, columns: 1 << log };
            let frame = Frame { shape, ring: Ring::Minus };
            for (field, definition) in road.fields(frame).iter().zip(&definitions) {
                let limbs: Vec<u64> = random.limbs((shape.points() * LANES * 30).div_ceil(64));
                let digits = Digits { limbs: &limbs, bits: 30 };
                let mut block = vec![Point::ZERO; shape.points()];
                field.fill(&mut [&mut block[..]], 0, &digits, frame);
                let lanes: Vec<Vec<u64>> =
                    (0..LANES).map(|lane| canonical(definition, &block, lane)).collect();
                forward(field, &mut block, 0);
                if log <= 6 {
                    for (lane, x) in lanes.iter().enumerate() {
                        assert_eq!(canonical(definition, &block, lane), definition.transform(x), "2^{log}");
                    }
                }
                // Inverse transforms take what products leave: squares of values that are all one.
                inverse_of_forward(field, definition, &lanes);
            }
        }
    }

    fn inverse_of_forward(field: &impl Field, definition: &Definition, lanes: &[Vec<u64>]) {
        let len = lanes[0].len();
        let point = |lanes: &[Vec<u64>], i: usize| {
            Point(std::array::from_fn(|lane| (definition.write)(lanes[lane][i])))
        };
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
            prime: solinas::PRIME,
            read: i128::from,
            write: |x| x,
            root: |_, order| solinas::root_of_unity(order),
            index: 0,
        };
        check(&OnePrime, [definition]);
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
        check(&ThreePrimes::<A>(token), std::array::from_fn(definition));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_three_primes_follow_the_definition() {
        if let Some(token) = isa::detect_ifma() {
            check_three_primes::<Words>(token, |word| i128::from(word % (1 << 52)), |x| x);
        }
        if let Some(token) = isa::detect_avx2() {
            let read = |word: u64| f64::from_bits(word) as i128;
            check_three_primes::<Doubles>(token, read, |x| (x as f64).to_bits());
        }
    }
}
