//! Products with merged matrices, on both sides of zero.

use crate::rns::matrix::to_bytes;
use crate::rns::tests::{lazy_residues, product, some_sizes};
use crate::rns::{Bases, Bounds, Merged, ModulusConstants};
use num_bigint::BigUint;

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
                let bytes = to_bytes(&xi_b, 0);
                for (j, channel) in bases.a().iter().enumerate() {
                    let q = u64::from(channel.fold(merged.b_to_a().total(j, &bytes)));
                    let square = u64::from(channel.redc(u64::from(words[j]) * u64::from(words[j])));
                    let sum = q * u64::from(constants.modulus[j]) + square * u64::from(bases.combine()[j]);
                    words[j] = channel.redc(sum);
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
            // The bounds found in one step are not below the smallest fixed point.
            let near = Bounds::like(bases.bounds(), bases.a(), bases.b(), merged.a_to_b(), merged.b_to_a());
            assert_eq!(near.as_ref(), Some(merged.bounds()), "{bits} bits");
            let smallest = Bounds::new(bases.a(), bases.b(), merged.a_to_b(), merged.b_to_a());
            let pairs = smallest.ranges.xi_a.iter().zip(&merged.bounds().ranges.xi_a);
            assert!(pairs.into_iter().all(|(smallest, bound)| smallest <= bound), "{bits} bits");
        }
    }
}
