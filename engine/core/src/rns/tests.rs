//! The inequalities for every size, and arithmetic at the bounds they allow.

use super::bases::{GROUP, MAX_BITS, channels_for, powers_of_words};
use super::matrix::to_bytes;
use super::quotient::HALF;
use super::*;
use num_bigint::BigUint;
use std::sync::Arc;

fn big(words: &[u32]) -> BigUint {
    BigUint::new(words.to_vec())
}

pub(super) fn product(base: &[Channel]) -> BigUint {
    base.iter().map(|channel| BigUint::from(channel.p)).product()
}

fn modulo(number: &BigUint, channel: Channel) -> u32 {
    (number % channel.p).try_into().unwrap()
}

fn every_size() -> impl Iterator<Item = Arc<Bases>> {
    (GROUP..).step_by(GROUP).map_while(Bases::with_channels)
}

/// A few sizes for slow tests, with the longest of each way to fold among them.
pub(super) fn some_sizes() -> impl Iterator<Item = Arc<Bases>> {
    [4, 8, 36, 68, 136, 276].into_iter().map(|channels| Bases::with_channels(channels).unwrap())
}

#[test]
fn every_inequality_holds_for_every_size() {
    let mut longest = 0;
    for bases in every_size() {
        let (n, bounds) = (bases.channels(), bases.bounds());
        for evidence in bounds.evidence() {
            assert!(evidence.holds(), "{n} channels: {evidence:?}");
        }
        let tightest =
            bounds.evidence().into_iter().min_by(|a, b| a.margin().total_cmp(&b.margin())).unwrap();
        println!(
            "{n} channels, {} bits, h <= {}: {:.1} % left above {}; k <= {}, F {}, errors {:.3} {:.3}, \
             c {}, narrow fold {}",
            bases.capacity_bits(),
            bases.b()[0].h,
            100.0 * tightest.margin(),
            tightest.what,
            bases.quotient().largest,
            bases.quotient().precision,
            bases.quotient().error_below as f64 / (2.0 * HALF as f64),
            bases.quotient().error_above as f64 / (2.0 * HALF as f64),
            bounds.growth,
            bases.narrow_fold(),
        );
        // The room, with N at most 2^bits: c N < A (1/2 - error), and excess + c^2 N / B <= c.
        let modulus = BigUint::from(1u32) << bases.capacity_bits();
        let (c, a, b) = (BigUint::from(bounds.growth), product(bases.a()), product(bases.b()));
        let error = bases.quotient().error_above.max(bases.quotient().error_below);
        let slack = BigUint::from(HALF - error);
        assert!((&c * &modulus) << 64 <= &a * slack, "{n} channels: room in A");
        assert!(&c * &c * &modulus <= b * (bounds.growth - bounds.excess), "{n} channels: room in B");
        // The excess, as an exact fraction.
        let lambda = bases.b().iter().zip(&bounds.ranges.xi_b);
        let scaled: BigUint =
            lambda.map(|(channel, &largest)| BigUint::from(largest) * (product(bases.b()) / channel.p)).sum();
        assert!(scaled <= product(bases.b()) * bounds.excess, "{n} channels: excess");
        assert!(bases.capacity_bits() > longest, "{n} channels hold more than fewer");
        longest = bases.capacity_bits();
    }
    assert!(longest >= MAX_BITS, "{longest}");
}

#[test]
fn a_size_gets_the_smallest_bases_that_hold_it() {
    for (bits, channels) in
        [(1, 4), (64, 4), (512, 20), (1024, 36), (1536, 52), (2048, 68), (3072, 104), (4096, 136)]
    {
        let bases = Bases::for_bits(bits).unwrap();
        assert_eq!(bases.channels(), channels, "{bits} bits");
        assert_eq!(bases.narrow_fold(), channels < 128, "{bits} bits");
    }
    for bits in (1..=MAX_BITS).step_by(61) {
        let bases = Bases::for_bits(bits).unwrap();
        assert!(bases.capacity_bits() >= bits);
        assert!(bases.channels().abs_diff(channels_for(bits)) <= GROUP, "{bits} bits");
        if let Some(fewer) = Bases::with_channels(bases.channels() - GROUP) {
            assert!(fewer.capacity_bits() < bits);
        }
    }
    assert!(Bases::for_bits(MAX_BITS + 1).is_none());
    assert!(Bases::with_channels(0).is_none() && Bases::with_channels(6).is_none());
}

#[test]
fn primes_differ_and_a_is_below_b() {
    for bases in every_size() {
        let primes: Vec<u32> = bases.b().iter().chain(bases.a()).map(|channel| channel.p).collect();
        assert!(primes.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(primes.iter().all(|&p| primes::is_prime(p)));
    }
}

#[test]
fn constants_are_what_they_say() {
    for bases in some_sizes() {
        let (a, b) = (product(bases.a()), product(bases.b()));
        assert_eq!((big(bases.product_a()), big(bases.product_b())), (a.clone(), b.clone()));
        let modulus = BigUint::from(3u32).pow(bases.capacity_bits() as u32 * 63 / 100);
        let constants = ModulusConstants::new(&bases, &modulus.to_u64_digits()).unwrap();
        let radix: BigUint = BigUint::from(1u32) << 32;
        for (i, &channel) in bases.b().iter().enumerate() {
            // c_i N B_i = -2^64.
            let cofactor = &b / channel.p;
            let product = BigUint::from(constants.quotient[i]) * &modulus * cofactor + radix.pow(2);
            assert_eq!(modulo(&product, channel), 0);
            assert_eq!(bases.cofactors_b()[i], modulo(&(&b / channel.p), channel));
            for (j, source) in bases.a().iter().enumerate() {
                let cofactor = &a / source.p;
                assert_eq!(big(&bases.cofactor_a(j)), cofactor);
                check_entries(bases.a_to_b(), j, i, 4, channel, &cofactor);
            }
            let minus = BigUint::from(channel.p) * &a - &a;
            check_entries(bases.a_to_b(), bases.channels(), i, 2, channel, &minus);
        }
        for (j, &channel) in bases.a().iter().enumerate() {
            let cofactor = &a / channel.p;
            let equal =
                |left: BigUint, right: BigUint| assert_eq!(modulo(&left, channel), modulo(&right, channel));
            equal(BigUint::from(bases.combine()[j]) * &b, &cofactor * radix.pow(2));
            equal(BigUint::from(constants.modulus[j]) * &b * &cofactor, &modulus * &radix);
            equal(BigUint::from(bases.cofactor_inverses()[j]) * &cofactor, BigUint::from(1u32));
            assert_eq!(bases.cofactors_a()[j], modulo(&cofactor, channel));
            for (i, source) in bases.b().iter().enumerate() {
                check_entries(bases.b_to_a(), i, j, 4, channel, &(&b / source.p));
            }
            let powers = powers_of_words(channel, 5);
            assert!((0..5).all(|i| powers[i] == modulo(&radix.pow(i as u32), channel)));
        }
    }
}

fn check_entries(
    matrix: &Matrix,
    word: usize,
    column: usize,
    bytes: usize,
    channel: Channel,
    cofactor: &BigUint,
) {
    let mut entry = modulo(&(cofactor << 16), channel);
    for byte in 0..bytes {
        assert_eq!(matrix.entry(word, byte, column), entry);
        entry = channel.multiply(entry, 256);
    }
}

#[test]
fn a_modulus_with_a_prime_of_base_b_is_refused() {
    let bases = Bases::with_channels(8).unwrap();
    let refused = |p: u32| ModulusConstants::new(&bases, &[u64::from(p) * 7, 0]).is_none();
    assert!(bases.b().iter().all(|channel| refused(channel.p)));
    assert!(!bases.a().iter().any(|channel| refused(channel.p)));
}

/// Runs stage by stage with every word at the largest value of its range, in every channel.
#[test]
fn stages_are_exact_with_every_word_at_its_bound() {
    for bases in some_sizes() {
        let ranges = &bases.bounds().ranges;
        let words =
            |bounds: &[u64]| -> Vec<u32> { bounds.iter().map(|&bound| bound.try_into().unwrap()).collect() };
        let xi_a = words(&ranges.xi_a);
        let k = bases.quotient().largest as u32;
        let (a, b) = (product(bases.a()), product(bases.b()));
        let value = |base: &[Channel], product: &BigUint, words: &[u32]| -> BigUint {
            base.iter().zip(words).map(|(channel, &word)| (product / channel.p) * word).sum()
        };
        // The sum without the quotient, which stays positive, and then the quotient alone.
        let sum = value(bases.a(), &a, &xi_a);
        for (i, &channel) in bases.b().iter().enumerate() {
            let total = bases.a_to_b().total(i, &to_bytes(&xi_a, k));
            let x = channel.fold(total);
            assert!(u64::from(x) <= ranges.x[i]);
            let expected = &sum + &a * (u64::from(channel.p) * 4096 - u64::from(k));
            assert_eq!(channel.canonical(x), modulo(&expected, channel));
            let u = reduce(channel, u64::from(ranges.x[i] as u32).pow(2), ranges.square_b[i]);
            let largest = u64::from(u).max(ranges.square_b[i]).max(ranges.x[i]);
            reduce(channel, largest * u64::from(channel.p - 1), ranges.xi_b[i]);
        }
        let xi_b = words(&ranges.xi_b);
        let sum = value(bases.b(), &b, &xi_b);
        for (j, &channel) in bases.a().iter().enumerate() {
            let q = channel.fold(bases.b_to_a().total(j, &to_bytes(&xi_b, 0)));
            assert!(u64::from(q) <= ranges.q[j]);
            assert_eq!(channel.canonical(q), modulo(&sum, channel));
            reduce(channel, u64::from(xi_a[j]).pow(2), ranges.square_a[j]);
            let combined = u64::try_from(ranges.combined[j]).unwrap();
            reduce(channel, combined, ranges.xi_a[j]);
        }
    }
}

/// Reduces a product and checks the residue and its range.
fn reduce(channel: Channel, product: u64, bound: u64) -> u32 {
    let reduced = channel.redc(product);
    assert!(u64::from(reduced) <= bound);
    let back = channel.multiply(reduced, channel.radix);
    assert_eq!(u64::from(back), product % u64::from(channel.p));
    reduced
}

/// Lazy residues of x, as large or as small as the ranges allow, with the right quotient.
pub(super) fn lazy_residues(bases: &Bases, bounds: &Bounds, x: &BigUint, large: bool) -> (Vec<u32>, BigUint) {
    let a = product(bases.a());
    let mut sum = BigUint::ZERO;
    let residues = bases.a().iter().zip(bases.cofactor_inverses()).zip(&bounds.ranges.xi_a);
    let residues = residues.map(|((&channel, &inverse), &largest)| {
        let xi = u64::from(channel.multiply(modulo(x, channel), inverse));
        let p = u64::from(channel.p);
        let xi = if large { xi + (largest - xi) / p * p } else { xi };
        sum += (&a / channel.p) * xi;
        xi as u32
    });
    let residues = residues.collect();
    let rest = sum - x;
    assert_eq!(&rest % &a, BigUint::ZERO);
    (residues, rest / a)
}

#[test]
fn the_approximate_quotient_is_exact_up_to_its_room() {
    for bases in some_sizes() {
        let a = product(bases.a());
        let bound = (&a * (HALF - bases.quotient().error_above)) >> 64;
        let one = BigUint::from(1u32);
        let numbers = [
            BigUint::ZERO,
            one.clone(),
            &bound / 2u32,
            &bound - &one,
            (&one << bases.capacity_bits()) - &one,
        ];
        for x in numbers {
            for large in [false, true] {
                let (residues, quotient) = lazy_residues(&bases, bases.bounds(), &x, large);
                assert_eq!(
                    BigUint::from(bases.quotient().of(&residues)),
                    quotient,
                    "{} channels",
                    bases.channels()
                );
            }
        }
        // Beyond the room the quotient is wrong, so the bound is not idle.
        let (residues, quotient) = lazy_residues(&bases, bases.bounds(), &(&a - &one), true);
        assert_ne!(BigUint::from(bases.quotient().of(&residues)), quotient);
    }
}

#[test]
fn mixed_radix_knows_every_number_exactly() {
    for bases in some_sizes() {
        for (base, other, mixed) in
            [(bases.a(), bases.b(), bases.mixed_radix_a()), (bases.b(), bases.a(), bases.mixed_radix_b())]
        {
            let all = product(base);
            for x in [BigUint::ZERO, BigUint::from(1u32), &all / 3u32, &all / base[0].p, &all - 1u32] {
                let mut digits: Vec<u32> = base.iter().map(|&channel| modulo(&x, channel)).collect();
                mixed.digits(&mut digits);
                assert!(digits.iter().zip(base).all(|(&digit, channel)| digit < channel.p));
                for &channel in other.iter().step_by(7) {
                    assert_eq!(mixed.residue(&digits, channel), modulo(&x, channel));
                }
                let mut value = vec![0; base.len()];
                mixed.value(&digits, &mut value);
                assert_eq!(big(&value), x);
            }
        }
    }
}
