//! Products by every scheme against `num-bigint` and closed forms, transforms against the definition.

use super::multiplier::Multiplier;
use crate::fft::product::SecondFactor;
use crate::fft::scheme::NttScheme;
use crate::portable::fft::Goldilocks;
use crate::random::Random;
use modmill_core::Isa;
use num_bigint::BigUint;

fn big(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

fn multipliers() -> Vec<Multiplier> {
    Multiplier::detect(None)
}

/// Products by transforms, however short.
fn by_transforms(scheme: &Multiplier, a: &[u64], b: Option<&[u64]>) -> Vec<u64> {
    let limbs = b.map_or(a.len(), <[u64]>::len);
    let mut out = vec![0; a.len() + limbs];
    scheme.by_transforms(a, limbs, b.map_or(SecondFactor::Same, SecondFactor::Number), &mut out);
    out
}

#[track_caller]
fn check(scheme: &Multiplier, a: &[u64], b: &[u64]) {
    let expected = big(a) * big(b);
    let mut out = vec![1; a.len() + b.len()];
    scheme.multiply(a, b, &mut out);
    assert_eq!(big(&out), expected, "{scheme:?} {} {}", a.len(), b.len());
    let prepared = scheme.prepare(b, a.len());
    out.fill(1);
    scheme.multiply_prepared(a, &prepared, &mut out);
    assert_eq!(big(&out), expected, "prepared, {scheme:?} {} {}", a.len(), b.len());
    let mut out = vec![1; 2 * a.len()];
    scheme.square(a, &mut out);
    assert_eq!(big(&out), big(a) * big(a), "square, {scheme:?} {}", a.len());
    if !a.is_empty() && !b.is_empty() {
        assert_eq!(big(&by_transforms(scheme, a, Some(b))), expected, "{scheme:?} {} {}", a.len(), b.len());
        assert_eq!(by_transforms(scheme, a, None), out, "{scheme:?} {}", a.len());
    }
}

#[test]
fn every_short_length_and_every_kind_of_number() {
    let mut random = Random(3);
    for scheme in multipliers() {
        for n in (0..70).chain([127, 128, 129, 191, 192, 193, 255, 256, 257, 320, 321, 384, 385, 513]) {
            check(&scheme, &random.limbs(n), &random.limbs(n));
            check(&scheme, &random.limbs(n), &random.limbs(n / 3 + 1));
            check(&scheme, &vec![u64::MAX; n], &vec![u64::MAX; n]);
            let mut sparse = vec![0; n + 1];
            (sparse[0], sparse[n]) = (1, 1 << 63);
            check(&scheme, &sparse, &vec![u64::MAX; n]);
            check(&scheme, &vec![0; n], &random.limbs(n));
        }
    }
}

#[test]
fn both_sides_of_every_threshold() {
    let mut random = Random(5);
    for scheme in multipliers() {
        for threshold in [crate::portable::KARATSUBA, scheme.threshold()] {
            for short in [threshold - 1, threshold, threshold + 1] {
                for long in [short, short + 1, 2 * short - 1, 2 * short, 5 * short + 7] {
                    check(&scheme, &random.limbs(short), &random.limbs(long));
                    check(&scheme, &vec![u64::MAX; long], &vec![u64::MAX; short]);
                }
            }
        }
    }
}

#[test]
fn lengths_on_both_sides_of_every_shape() {
    let mut random = Random(7);
    for scheme in multipliers() {
        // Points of a product from 2^9 to 2^10, by eighths.
        for points in (8..16).map(|eighths| eighths << 6) {
            for extra in [0, 1] {
                let limbs = match scheme.isa() {
                    Isa::Portable => points * 8 * 25 / 64,
                    _ => points * 8,
                } + extra;
                check(&scheme, &random.limbs(limbs / 2), &random.limbs(limbs - limbs / 2));
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
        assert_eq!(NttScheme::<1>::plan(&Goldilocks, limbs, limbs).digit_bits, bits);
        for scheme in multipliers() {
            let ones = vec![u64::MAX; limbs];
            assert!(by_transforms(&scheme, &ones, Some(&ones)) == product_of_ones(limbs, limbs));
            assert!(
                by_transforms(&scheme, &ones, Some(&ones[..limbs / 3])) == product_of_ones(limbs, limbs / 3)
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
    for scheme in multipliers() {
        let one = by_transforms(&scheme, &a, Some(&b));
        let ones = vec![u64::MAX; n];
        pool.install(|| {
            assert!(by_transforms(&scheme, &a, Some(&b)) == one);
            assert!(by_transforms(&scheme, &ones, Some(&ones)) == product_of_ones(n, n));
        });
    }
    // Modulo a word, which the product does not know of.
    let modulo = |limbs: &[u64]| {
        limbs.iter().rev().fold(0, |rest, &limb| {
            ((u128::from(rest) << 64 | u128::from(limb)) % 0xffff_ffff_ffff_ffc5) as u64
        })
    };
    let product = by_transforms(&multipliers()[0], &a, Some(&b));
    let expected = u128::from(modulo(&a)) * u128::from(modulo(&b)) % 0xffff_ffff_ffff_ffc5;
    assert_eq!(u128::from(modulo(&product)), expected);
}

#[test]
fn products_distribute_over_sums() {
    let mut random = Random(13);
    for scheme in multipliers() {
        let n = 3000;
        let (a, mut b, mut c) = (random.limbs(n), random.limbs(n), random.limbs(n));
        (b[n - 1], c[n - 1]) = (b[n - 1] >> 1, c[n - 1] >> 1);
        let mut sum = by_transforms(&scheme, &a, Some(&b));
        modmill_core::limbs::add_assign(&mut sum, &by_transforms(&scheme, &a, Some(&c)));
        modmill_core::limbs::add_assign(&mut b, &c);
        assert!(by_transforms(&scheme, &a, Some(&b)) == sum);
    }
}

/// More than the digits of 64 bits have room for: 1 Gbit, checked modulo words. Minutes and 2 GB.
#[test]
#[ignore = "a gigabit: needs gigabytes and minutes"]
fn a_gigabit_product_is_right_modulo_primes() {
    let mut random = Random(17);
    let n = (1 << 30) / 64;
    let (a, b) = (random.limbs(n), random.limbs(n));
    let scheme = *multipliers().last().unwrap();
    let mut out = vec![0; 2 * n];
    scheme.multiply(&a, &b, &mut out);
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
    scheme.square(&ones, &mut out);
    assert!(out == product_of_ones(n, n));
}
