//! Products with merged matrices, on both sides of zero.

use crate::rns::matrix::to_bytes;
use crate::rns::tests::{lazy_residues, product};
use crate::rns::{Bases, Merged, ModulusConstants};
use num_bigint::BigUint;
use std::sync::Arc;

/// A few sizes, up to the longest with kernels for one modulus.
fn some_sizes() -> impl Iterator<Item = Arc<Bases>> {
    [4, 8, 36, 68, 136, 140].into_iter().map(|channels| Bases::with_channels(channels).unwrap())
}

/// Squares with the modulus merged into the matrices, from numbers on both sides of zero at their bounds.
#[test]
fn a_merged_modulus_squares_without_its_constant() {
    for bases in some_sizes() {
        let one = BigUint::from(1u32);
        let modulus = (&one << bases.capacity_bits()) - &one;
        // Leaves room for unlucky entries.
        let modulus: BigUint = (&modulus >> 2) | one;
        let limbs = modulus.to_u64_digits();
        let constants = ModulusConstants::new(&bases, &limbs).unwrap();
        let merged = Merged::new(&bases, &limbs, &constants).unwrap();
        let (a, b, bounds) = (product(bases.a()), product(bases.b()), merged.bounds());
        let bound = &modulus * bounds.growth;
        let undo = b.modinv(&modulus).unwrap();
        // Negative numbers are represented modulo A.
        for (x, negative) in
            [(&bound - 1u32, false), (&bound - 1u32, true), (BigUint::ZERO, false), (&bound / 3u32, true)]
        {
            let (mut words, _) =
                lazy_residues(&bases, bounds, &if negative { &a - &x } else { x.clone() }, true);
            let mut expected = x;
            for _ in 0..3 {
                expected = &expected * &expected * &undo % &modulus;
                let xi_b = to_bytes(&words, bounds.quotient.of(&words));
                let xi_b: Vec<u32> = bases
                    .b()
                    .iter()
                    .enumerate()
                    .map(|(i, channel)| {
                        let x = u64::from(channel.fold(merged.a_to_b().total(i, &xi_b)));
                        channel.redc(x * x)
                    })
                    .collect();
                for (j, channel) in bases.a().iter().enumerate() {
                    let square = channel.redc(u64::from(words[j]) * u64::from(words[j]));
                    words[j] = channel.fold(merged.b_to_a().total(j, &to_bytes(&xi_b, square)));
                    assert!(u64::from(words[j]) <= bounds.ranges.xi_a[j]);
                }
                let sum: BigUint =
                    bases.a().iter().zip(&words).map(|(channel, &xi)| &a / channel.p * xi).sum();
                let value = sum % &a;
                // In -c N ... c N, as a residue modulo A.
                let right = if value < bound {
                    value % &modulus
                } else {
                    let below = &a - value;
                    assert!(below < bound, "{} channels", bases.channels());
                    (&modulus - below % &modulus) % &modulus
                };
                assert_eq!(right, expected, "{} channels", bases.channels());
            }
        }
    }
}

#[test]
fn moduli_of_the_usual_lengths_can_be_merged() {
    for bits in [1024, 1536, 2048, 3072, 4096] {
        let bases = Bases::for_bits(bits).unwrap();
        for seed in 1..=4u32 {
            // The top bits of a power of three, at full length.
            let power = BigUint::from(3u32).pow(bits as u32 + seed);
            let modulus = (&power >> (power.bits() - bits as u64)) | BigUint::from(1u32);
            let limbs = modulus.to_u64_digits();
            let constants = ModulusConstants::new(&bases, &limbs).unwrap();
            let merged = Merged::new(&bases, &limbs, &constants).expect("the bounds hold");
            assert!(merged.bounds().holds());
            // The result of a product does not exceed its input, and the quotient is the one of the plain
            // matrices.
            let state = &merged.bounds().ranges.xi_a;
            assert!(state.iter().zip(&bases.bounds().ranges.xi_a).all(|(merged, plain)| merged <= plain));
            assert_eq!(merged.bounds().quotient.weights, bases.quotient().weights, "{bits} bits");
        }
    }
}

/// Runs a product with every word at the largest value of its range, in every channel.
#[test]
fn merged_products_are_exact_with_every_word_at_its_bound() {
    for bases in some_sizes() {
        let one = BigUint::from(1u32);
        let modulus: BigUint = (&one << (bases.capacity_bits() - 2)) - &one;
        let limbs = modulus.to_u64_digits();
        let constants = ModulusConstants::new(&bases, &limbs).unwrap();
        let merged = Merged::new(&bases, &limbs, &constants).unwrap();
        let ranges = &merged.bounds().ranges;
        let words =
            |bounds: &[u64]| -> Vec<u32> { bounds.iter().map(|&word| word.try_into().unwrap()).collect() };
        let (xi_a, xi_b) = (words(&ranges.xi_a), words(&ranges.xi_b));
        let k = u32::try_from(merged.bounds().quotient.largest).unwrap();
        for (i, channel) in bases.b().iter().enumerate() {
            let x = channel.fold(merged.a_to_b().total(i, &to_bytes(&xi_a, k)));
            assert!(u64::from(x) <= ranges.x[i]);
            assert!(u64::from(channel.redc(ranges.x[i].pow(2))) <= ranges.square_b[i]);
        }
        for (j, channel) in bases.a().iter().enumerate() {
            let square = channel.redc(u64::from(xi_a[j]).pow(2));
            assert!(u64::from(square) <= ranges.square_a[j]);
            // q n / 2^32 + s C / 2^32 with q from the plain matrix, whose words have their signs.
            let own = BigUint::from(u32::try_from(ranges.square_a[j]).unwrap());
            let folded = channel.fold(merged.b_to_a().total(j, &to_bytes(&xi_b, ranges.square_a[j] as u32)));
            assert!(u64::from(folded) <= ranges.xi_a[j]);
            let (b, p) = (product(bases.b()), BigUint::from(channel.p));
            let mut sum = own * bases.combine()[j];
            for (i, source) in bases.b().iter().enumerate() {
                // The square of the root is c_i 2^-32 or its negative.
                let square = source.canonical(source.redc(u64::from(constants.quotient[i])));
                let is_positive = source.multiply(merged.roots()[i], merged.roots()[i]) == square;
                let term = &b / source.p * xi_b[i] % &p * constants.modulus[j];
                sum += if is_positive { term } else { &p * &p - term };
            }
            assert_eq!((BigUint::from(folded) << 32usize) % &p, sum % &p, "{} channels", bases.channels());
        }
    }
}
