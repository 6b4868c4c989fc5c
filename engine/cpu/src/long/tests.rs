//! Products by every multiplier against `num-bigint` and closed forms.

use super::cyclic::CyclicRings;
use super::multiplier::{Multiplier, Scheme, with_scheme};
use crate::fft::product::{SecondFactor, sum_of_products};
use crate::fft::scheme::NttScheme;
use crate::fft::shape::{DigitLayout, Ring};
use crate::portable::fft::Goldilocks;
use crate::test_support::{Random, big};
use modmill_core::transform::{DigitPlan, LANES};
use modmill_core::{Isa, TRANSFORM_MAX_BITS, goldilocks};
use num_bigint::BigUint;

fn multipliers() -> Vec<Multiplier> {
    Multiplier::detect(None)
}

/// Products by transforms, even for short factors.
fn by_transforms(multiplier: &Multiplier, a: &[u64], b: Option<&[u64]>) -> Vec<u64> {
    let limbs = b.map_or(a.len(), <[u64]>::len);
    let mut out = vec![0; a.len() + limbs];
    multiplier.by_transforms(a, limbs, b.map_or(SecondFactor::Same, SecondFactor::Number), &mut out);
    out
}

#[track_caller]
fn check(multiplier: &Multiplier, a: &[u64], b: &[u64]) {
    let expected = big(a) * big(b);
    let mut out = vec![1; a.len() + b.len()];
    multiplier.multiply(a, b, &mut out);
    assert_eq!(big(&out), expected, "{multiplier:?} {} {}", a.len(), b.len());
    let prepared = multiplier.prepare(b, a.len());
    out.fill(1);
    multiplier.multiply_prepared(a, &prepared, &mut out);
    assert_eq!(big(&out), expected, "prepared, {multiplier:?} {} {}", a.len(), b.len());
    let mut out = vec![1; 2 * a.len()];
    multiplier.square(a, &mut out);
    assert_eq!(big(&out), big(a) * big(a), "square, {multiplier:?} {}", a.len());
    if !a.is_empty() && !b.is_empty() {
        assert_eq!(
            big(&by_transforms(multiplier, a, Some(b))),
            expected,
            "{multiplier:?} {} {}",
            a.len(),
            b.len()
        );
        assert_eq!(by_transforms(multiplier, a, None), out, "{multiplier:?} {}", a.len());
    }
}

#[test]
fn every_short_length_and_every_kind_of_number() {
    let mut random = Random::new(3);
    for multiplier in multipliers() {
        for n in (0..70).chain([127, 128, 129, 191, 192, 193, 255, 256, 257, 320, 321, 384, 385, 513]) {
            check(&multiplier, &random.limbs(n), &random.limbs(n));
            check(&multiplier, &random.limbs(n), &random.limbs(n / 3 + 1));
            check(&multiplier, &vec![u64::MAX; n], &vec![u64::MAX; n]);
            let mut sparse = vec![0; n + 1];
            (sparse[0], sparse[n]) = (1, 1 << 63);
            check(&multiplier, &sparse, &vec![u64::MAX; n]);
            check(&multiplier, &vec![0; n], &random.limbs(n));
        }
    }
}

#[test]
fn both_sides_of_every_threshold() {
    let mut random = Random::new(5);
    for multiplier in multipliers() {
        for threshold in [
            <crate::portable::Portable as crate::scalar::Scalar>::KARATSUBA,
            multiplier.threshold(),
            multiplier.square_threshold(),
        ] {
            for short in [threshold - 1, threshold, threshold + 1] {
                for long in [short, short + 1, 2 * short - 1, 2 * short, 5 * short + 7] {
                    check(&multiplier, &random.limbs(short), &random.limbs(long));
                    check(&multiplier, &vec![u64::MAX; long], &vec![u64::MAX; short]);
                }
            }
        }
    }
}

#[test]
fn lengths_on_both_sides_of_every_shape() {
    let mut random = Random::new(7);
    for multiplier in multipliers() {
        // Products of 2^9 to 2^10 points, in steps of an eighth.
        for points in (8..16).map(|eighths| eighths << 6) {
            for extra in [0, 1] {
                let limbs = match multiplier.isa() {
                    Isa::Portable => points * 8 * 25 / 64,
                    _ => points * 8,
                } + extra;
                check(&multiplier, &random.limbs(limbs / 2), &random.limbs(limbs - limbs / 2));
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
    // 65536 digits of 24 bits reach the limit of the Goldilocks prime. With one more digit, digits have 23
    // bits.
    for (limbs, bits) in [(24_576, 24), (24_577, 23)] {
        assert_eq!(NttScheme::<1>::plan(&Goldilocks, limbs, limbs).unwrap().digit_bits, bits);
        for multiplier in multipliers() {
            let ones = vec![u64::MAX; limbs];
            assert!(by_transforms(&multiplier, &ones, Some(&ones)) == product_of_ones(limbs, limbs));
            assert!(
                by_transforms(&multiplier, &ones, Some(&ones[..limbs / 3]))
                    == product_of_ones(limbs, limbs / 3)
            );
        }
    }
}

#[test]
fn carries_cross_the_shares_of_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut random = Random::new(11);
    let n = 40_000;
    let (a, b) = (random.limbs(n), random.limbs(n));
    for multiplier in multipliers() {
        let one = by_transforms(&multiplier, &a, Some(&b));
        let ones = vec![u64::MAX; n];
        pool.install(|| {
            assert!(by_transforms(&multiplier, &a, Some(&b)) == one);
            assert!(by_transforms(&multiplier, &ones, Some(&ones)) == product_of_ones(n, n));
        });
    }
    // The check is modulo a word that the product does not use.
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
    let mut random = Random::new(13);
    for multiplier in multipliers() {
        let n = 3000;
        let (a, mut b, mut c) = (random.limbs(n), random.limbs(n), random.limbs(n));
        (b[n - 1], c[n - 1]) = (b[n - 1] >> 1, c[n - 1] >> 1);
        let mut sum = by_transforms(&multiplier, &a, Some(&b));
        modmill_core::limbs::add_assign(&mut sum, &by_transforms(&multiplier, &a, Some(&c)));
        modmill_core::limbs::add_assign(&mut b, &c);
        assert!(by_transforms(&multiplier, &a, Some(&b)) == sum);
    }
}

/// The bounds of coefficients: unsigned ones are below the first, and signed ones at most the second in
/// magnitude.
fn bounds(multiplier: &Multiplier) -> [BigUint; 2] {
    match multiplier.scheme {
        Scheme::Portable(_) => [big(&[goldilocks::PRIME]), big(&[goldilocks::PRIME / 2])],
        #[cfg(target_arch = "x86_64")]
        Scheme::Avx2(_) | Scheme::Avx512(_) | Scheme::Ifma(_) => {
            use crate::fft::{primes, three_primes::OFFSET};
            let product: BigUint =
                primes::PRIMES[..primes::COUNT].iter().map(|&p| BigUint::from(p)).product();
            [product * 63u8 / 64u8, (BigUint::from(1u8) << OFFSET) - 1u8]
        }
    }
}

/// Every plan up to the longest answers: its digits are enough for the product, and its coefficients stay
/// within the fields. The bounds are computed from the primes, without the scheme.
#[test]
fn plans_of_every_size_are_exact() {
    let lengths = || (6..=33).flat_map(|k| [1usize << k, 3 << (k - 1), (5 << (k - 2)) + 64, (1 << k) - 64]);
    for multiplier in multipliers() {
        let [unsigned, signed] = bounds(&multiplier);
        let largest = |terms: usize, bits: u32| {
            let digit = (BigUint::from(1u8) << bits) - 1u8;
            BigUint::from(terms) * &digit * &digit
        };
        for bits in lengths().filter(|bits| 2 * bits <= TRANSFORM_MAX_BITS) {
            let limbs = bits.div_ceil(64);
            for (a, products) in [(limbs, 1), (limbs.div_ceil(3), 1), (limbs, 3), (limbs, 1000)] {
                let plan = with_scheme!(multiplier.scheme, scheme => match products {
                    1 => scheme.plan(a, limbs),
                    _ => scheme.plan_sums(a, limbs, products),
                });
                let DigitPlan { digit_bits, shape } = plan.unwrap();
                let width = digit_bits as usize;
                assert!(shape.points() * LANES * width >= 64 * (a + limbs), "{multiplier:?}, {bits} bits");
                let terms = products * (64 * a).div_ceil(width);
                assert!(
                    largest(terms, digit_bits) < unsigned,
                    "{multiplier:?}, {bits} bits, {products} products"
                );
            }
        }
        for bits in lengths().chain([TRANSFORM_MAX_BITS - 64, TRANSFORM_MAX_BITS]) {
            let at_least = CyclicRings::at_least(multiplier, bits).unwrap();
            for rings in [Some(at_least), CyclicRings::exactly(multiplier, bits)].into_iter().flatten() {
                let layout = rings.layout(Ring::Negacyclic);
                let digits = layout.shape.grid.points() * LANES;
                assert!(digits * layout.digit_bits as usize >= bits, "{multiplier:?}, {bits} bits");
                assert!(largest(2 * digits, layout.digit_bits) <= signed, "{multiplier:?}, {bits} bits");
                for ring in [Ring::Cyclic, Ring::Negacyclic] {
                    let terms =
                        with_scheme!(multiplier.scheme, scheme => scheme.most_terms(layout.digit_bits, ring));
                    assert!(terms >= 2 * digits as u128, "{multiplier:?}, {bits} bits");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "exceeds the fields")]
fn digits_that_are_too_long_do_not_start() {
    // Digits of 24 bits serve 65536 digits, and there are 65537.
    let number = vec![u64::MAX; 24_577];
    let plan = DigitPlan::new(2 * number.len(), 24);
    let layout = DigitLayout::new(plan, Ring::Cyclic);
    let mut out = vec![0; 2 * number.len()];
    sum_of_products(&Goldilocks, &[(&number, SecondFactor::Same)], &layout, &mut out, |_, _| ());
}
