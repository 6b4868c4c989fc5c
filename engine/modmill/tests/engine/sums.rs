//! Sums of products and sums with weights modulo one number, on the host and on a device.

use crate::places::{engines, numbers};
use modmill::sums::{ModularSums, Sums};
use modmill::{Batch, Error, Modulus};
use modmill_testing::oracle::number as big;
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// Moduli of one bit more and one bit less than whole limbs, whose sums are the longest: all ones.
fn moduli(bits: usize, rng: &mut Rng) -> Vec<Modulus> {
    let ones = "f".repeat(bits / 4);
    let random = numbers(bits, 1, rng).to_hex(0);
    let text = [format!("1{ones}"), ones, format!("1{}1", "0".repeat(bits / 4 - 1)), format!("8{random}")];
    text.iter().map(|text| Modulus::from_hex(text).unwrap()).collect()
}

/// Numbers of the width of a modulus: the largest, zero, one, and random ones.
fn factors(modulus: &Modulus, count: usize, rng: &mut Rng) -> Batch {
    let mut batch = numbers(modulus.bits(), count, rng);
    let ones = (BigUint::from(1u8) << modulus.bits()) - 1u8;
    for (item, value) in [ones, BigUint::ZERO, BigUint::from(1u8)].into_iter().enumerate() {
        let limbs = batch.get_mut(item);
        limbs.fill(0);
        limbs.iter_mut().zip(value.iter_u64_digits()).for_each(|(to, from)| *to = from);
    }
    batch
}

#[test]
fn sums_of_products_are_right() {
    for engine in engines() {
        let rng = &mut Rng::new(71);
        for bits in [256, 4096, 100_000] {
            for modulus in moduli(bits, rng) {
                let count = 7;
                let numbers = factors(&modulus, count, rng);
                let all: Vec<usize> = (0..count).collect();
                let often = vec![0; 200];
                let mut sums = Sums::default();
                sums.push([]);
                sums.push([(0, &[0][..])]);
                sums.push([(0, &often[..]), (3, &[4, 5, 6]), (2, &[])]);
                sums.push((0..count).map(|left| (left, &all[..])));
                sums.push([(2, &[5][..])]);
                let modular = ModularSums::new(&engine, &modulus, sums.most_products()).unwrap();
                let expected: Vec<BigUint> = (0..sums.len())
                    .map(|sum| {
                        let number = |index: usize| big(numbers.get(index));
                        let term = |(left, rights): (usize, &[u32])| {
                            number(left) * rights.iter().map(|&right| number(right as usize)).sum::<BigUint>()
                        };
                        sums.terms(sum).map(term).sum::<BigUint>() % big(modulus.value())
                    })
                    .collect();
                for on_device in [false, true] {
                    let factors = match on_device {
                        false => modular.factors(&numbers),
                        true => modular.factors(&engine.upload(&numbers).unwrap()),
                    };
                    let answers = modular.sums_of_products(&[&factors.unwrap()], &sums).unwrap();
                    let answers = answers.download().unwrap();
                    assert_eq!((answers.bits(), answers.len()), (modulus.bits(), sums.len()));
                    for (answer, expected) in answers.iter().zip(&expected) {
                        assert_eq!(big(answer), *expected, "{} bits", modulus.bits());
                    }
                }
            }
        }
    }
}

/// Weights may add up to more than there are digits for products of.
#[test]
fn long_numbers_have_weights_though_not_so_many_products() {
    for engine in engines() {
        let modulus = Modulus::from_hex(&"f".repeat(1 << 16)).unwrap();
        let modular = ModularSums::new(&engine, &modulus, 1_000_000).unwrap();
        let number = Batch::from_hex(["3"]).unwrap();
        let sums = modular.weighted_sums(&number, &[0, 255]).unwrap().download().unwrap();
        assert_eq!((sums.get(0)[0], sums.get(1)[0]), (0, 765));
    }
}

/// Indices run through several groups of factors.
#[test]
fn factors_come_in_groups() {
    for engine in engines() {
        let rng = &mut Rng::new(74);
        let modulus = Modulus::from_hex(&"f".repeat(999)).unwrap();
        let all = factors(&modulus, 6, rng);
        let modular = ModularSums::new(&engine, &modulus, 4).unwrap();
        let mut sums = Sums::default();
        sums.push([(5, &[0, 3][..]), (2, &[4])]);
        let whole = modular.factors(&all).unwrap();
        let groups = [0..1, 1..1, 1..5, 5..6].map(|range| modular.factors(all.slice(range)).unwrap());
        let expected = modular.sums_of_products(&[&whole], &sums).unwrap().download().unwrap();
        let found = modular.sums_of_products(&groups.each_ref(), &sums).unwrap().download().unwrap();
        assert!(found == expected);
    }
}

/// More sums than a chunk has.
#[test]
fn many_sums_are_cut_into_chunks() {
    for engine in engines() {
        let rng = &mut Rng::new(72);
        let modulus = Modulus::from_hex(&"f".repeat(300)).unwrap();
        let numbers = factors(&modulus, 10, rng);
        let mut sums = Sums::default();
        (0..600).for_each(|sum| sums.push([(sum % 10, &[sum % 7, sum % 3][..])]));
        let modular = ModularSums::new(&engine, &modulus, 2).unwrap();
        let answers = modular.sums_of_products(&[&modular.factors(&numbers).unwrap()], &sums).unwrap();
        let answers = answers.download().unwrap();
        for (sum, answer) in answers.iter().enumerate() {
            let number = |index: usize| big(numbers.get(index));
            let expected = number(sum % 10) * (number(sum % 7) + number(sum % 3)) % big(modulus.value());
            assert_eq!(big(answer), expected);
        }
    }
}

#[test]
fn weighted_sums_are_right() {
    for engine in engines() {
        let rng = &mut Rng::new(73);
        for bits in [256, 4096, 70_000] {
            for modulus in moduli(bits, rng) {
                let (count, sums) = (37, 18);
                let numbers = factors(&modulus, count, rng);
                let weights: Vec<u8> = (0..count * sums)
                    .map(|place| if place < count { 255 } else { rng.word() as u8 })
                    .collect();
                let modular = ModularSums::new(&engine, &modulus, 255 * count).unwrap();
                let resident = engine.upload(&numbers).unwrap();
                let answers = modular.weighted_sums(&resident, &weights).unwrap().download().unwrap();
                assert_eq!((answers.bits(), answers.len()), (modulus.bits(), sums));
                for (answer, weights) in answers.iter().zip(weights.chunks(count)) {
                    let terms =
                        weights.iter().zip(numbers.iter()).map(|(&weight, number)| big(number) * weight);
                    assert_eq!(big(answer), terms.sum::<BigUint>() % big(modulus.value()));
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for engine in engines() {
        let modulus = Modulus::from_hex("ffffffffffffffc5").unwrap();
        let modular = ModularSums::new(&engine, &modulus, 3).unwrap();
        let numbers = Batch::zeros(64, 2);
        let long = Batch::zeros(65, 2);
        assert!(matches!(modular.factors(&long), Err(Error::TooLong { bits: 65, limit: 64, .. })));
        let factors = modular.factors(&numbers).unwrap();
        let mut sums = Sums::default();
        sums.push([(0, &[2][..])]);
        let found = modular.sums_of_products(&[&factors], &sums);
        assert!(matches!(found, Err(Error::LengthMismatch { expected: 3, found: 2, .. })));
        let mut sums = Sums::default();
        sums.push([(0, &[1, 1, 1, 1][..])]);
        assert!(matches!(
            modular.sums_of_products(&[&factors], &sums),
            Err(Error::OutOfRange { value: 4, .. })
        ));
        let other = ModularSums::new(&engine, &modulus, 3).unwrap().factors(&numbers).unwrap();
        assert!(matches!(modular.sums_of_products(&[&other], &Sums::default()), Err(Error::Unavailable(_))));
        let resident = engine.upload(&numbers).unwrap();
        assert!(matches!(modular.weighted_sums(&resident, &[1; 3]), Err(Error::LengthMismatch { .. })));
        assert!(matches!(modular.weighted_sums(&resident, &[2; 2]), Err(Error::OutOfRange { .. })));
        let long = engine.upload(&long).unwrap();
        assert!(matches!(modular.weighted_sums(&long, &[0; 2]), Err(Error::TooLong { .. })));
        let many = Batch::zeros(1, (1 << 16) + 1);
        let found = modular.weighted_sums(&many, &vec![0; many.len()]);
        assert!(matches!(found, Err(Error::OutOfRange { value: 65_537, most: 65_536, .. })));
        assert!(modular.factors(&Batch::zeros(64, 0)).unwrap().is_empty());
    }
}
