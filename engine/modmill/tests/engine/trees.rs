//! Trees of products and remainders, held against the same numbers one by one.

use modmill::trees::{BatchGcdSteps, Phase, ProductTree, batch_gcd, crt, product, smooth_parts};
use modmill::{Batch, Engine, Error, ItemError, ItemErrorKind, Watch};
use modmill_testing::oracle::{batch_of_width, gcd, numbers};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::sync::Arc;

/// Columns of every small length, with ones, equal numbers, powers, factors in common, and numbers that are
/// far shorter than the column is wide.
fn columns() -> Vec<(usize, Vec<BigUint>)> {
    let rng = &mut Rng::new(11);
    let mut columns = Vec::new();
    for count in (0..=20).chain([31, 32, 33, 63, 64, 65, 100]) {
        for bits in [5, 64, 65, 300] {
            let mut column: Vec<BigUint> = (0..count).map(|_| rng.exact(bits)).collect();
            for index in 1..count {
                let before = column[rng.below(index)].clone();
                match rng.below(8) {
                    0 => column[index] = before,
                    1 => column[index] = BigUint::from(1u8),
                    2 => column[index] = (BigUint::from(1u8) << bits) - 1u8,
                    3 => column[index] = BigUint::from(1u8) << rng.below(bits),
                    4 => column[index] = gcd(&before, &column[index]),
                    5 => column[index] = BigUint::from(3u8).pow(2),
                    _ => {}
                }
            }
            columns.push((bits, column));
        }
    }
    columns
}

#[test]
fn products_remainders_and_divisors_are_those_of_single_numbers() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let rng = &mut Rng::new(12);
    for (bits, column) in columns() {
        let what = format!("{} numbers of {bits} bits", column.len());
        let moduli = batch_of_width(&column, bits);
        let z: BigUint = column.iter().product();
        let tree = ProductTree::new(&engine, &moduli).unwrap();
        assert_eq!(numbers(tree.product()), std::slice::from_ref(&z), "{what}");
        assert_eq!(numbers(&product(&engine, &moduli).unwrap()), std::slice::from_ref(&z), "{what}");
        for number in [
            BigUint::ZERO,
            BigUint::from(1u8),
            &z - 1u8,
            z.clone(),
            &z << 64u32,
            rng.exact(17),
            rng.exact(bits * column.len() + 65),
            rng.exact(2 * bits * column.len() + 200),
        ] {
            let expected: Vec<BigUint> = column.iter().map(|modulus| &number % modulus).collect();
            let number = batch_of_width(&[number], 2 * bits * column.len() + 200);
            assert_eq!(numbers(&tree.remainders(&engine, &number).unwrap()), expected, "{what}");
        }
        let expected: Vec<BigUint> = column.iter().map(|modulus| gcd(modulus, &(&z / modulus))).collect();
        let divisors = batch_gcd(&engine, &moduli).unwrap();
        assert_eq!((divisors.bits(), numbers(&divisors)), (moduli.bits(), expected), "{what}");

        let numerators: Vec<BigUint> = column.iter().map(|_| rng.exact(bits + 3)).collect();
        let sum: BigUint =
            numerators.iter().zip(&column).map(|(a, modulus)| a % modulus * (&z / modulus)).sum();
        let combined = tree.combine(&engine, &batch_of_width(&numerators, bits + 3)).unwrap();
        assert_eq!(numbers(&combined), [sum], "{what}");
    }
}

/// Nodes that are long enough for transforms, of columns of every shape: numbers and products of them that
/// wrap around in rings, and remainders at both ends.
#[test]
fn long_nodes_have_the_remainders_of_single_numbers() {
    let rng = &mut Rng::new(16);
    let engines = [1, 3].map(|threads| Engine::builder().threads(threads).build().unwrap());
    for (count, bits) in [(2, 60_000), (3, 40_000), (5, 33_000), (13, 9000), (64, 2048), (100, 2000)] {
        let mut random: Vec<BigUint> = (0..count).map(|_| rng.exact(bits)).collect();
        random[count - 1] = gcd(&random[0], &random[count - 1]);
        let ones = vec![(BigUint::from(1u8) << bits) - 1u8; count];
        let powers = vec![BigUint::from(1u8) << (bits - 1); count];
        let after: Vec<BigUint> = powers.iter().map(|power| power + 1u8).collect();
        for column in [random, ones, powers, after] {
            let moduli = batch_of_width(&column, bits);
            let z: BigUint = column.iter().product();
            let numbers_of =
                |rng: &mut Rng| [BigUint::from(1u8), &z - 1u8, &z + 1u8, &z / 2u8, rng.exact(bits * count)];
            let rests: Vec<BigUint> = column.iter().map(|modulus| &z / modulus).collect();
            let one = BigUint::from(1u8);
            let sum: BigUint =
                column.iter().zip(&rests).filter(|(n, _)| **n != one).map(|(_, rest)| rest).sum();
            let expected: Vec<BigUint> = column.iter().zip(&rests).map(|(n, rest)| gcd(n, rest)).collect();
            for engine in &engines {
                let tree = ProductTree::new(engine, &moduli).unwrap();
                for number in numbers_of(rng) {
                    let expected: Vec<BigUint> = column.iter().map(|modulus| &number % modulus).collect();
                    let number = batch_of_width(&[number], bits * count + 64);
                    assert!(numbers(&tree.remainders(engine, &number).unwrap()) == expected, "{count}");
                }
                let ones = batch_of_width(&vec![one.clone(); count], 1);
                assert!(
                    numbers(&tree.combine(engine, &ones).unwrap()) == std::slice::from_ref(&sum),
                    "{count}"
                );
                assert!(numbers(&batch_gcd(engine, &moduli).unwrap()) == expected, "{count} x {bits}");
            }
        }
    }
}

#[test]
fn smooth_parts_are_those_of_trial_division() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let rng = &mut Rng::new(17);
    let primes = [2u32, 3, 5, 7, 11, 13, 65_537];
    let column: Vec<BigUint> = primes.into_iter().map(BigUint::from).collect();
    let tree = ProductTree::new(&engine, &batch_of_width(&column, 17)).unwrap();
    for bits in [4, 64, 65, 300] {
        let mut all: Vec<BigUint> = (0..40).map(|_| rng.exact(bits)).collect();
        all.extend([BigUint::from(1u8), BigUint::from(1u8) << (bits - 1)]);
        // The highest powers, and numbers without any factor that is not a prime of the tree.
        all.extend(primes.map(|prime| {
            let power = (1u32..).find(|&k| BigUint::from(prime).pow(k).bits() > bits as u64).unwrap();
            BigUint::from(prime).pow(power - 1)
        }));
        for _ in 0..20 {
            let mut number = BigUint::from(1u8);
            loop {
                let next = &number * primes[rng.below(primes.len())];
                if next.bits() > bits as u64 {
                    break;
                }
                number = next;
            }
            all.push(number);
        }
        let part = |number: &BigUint| {
            let (mut rest, mut part) = (number.clone(), BigUint::from(1u8));
            for prime in primes {
                while &rest % prime == BigUint::ZERO {
                    (rest, part) = (rest / prime, part * prime);
                }
            }
            part
        };
        let expected: Vec<BigUint> = all.iter().map(part).collect();
        let parts = smooth_parts(&engine, &batch_of_width(&all, bits), &tree).unwrap();
        assert_eq!((parts.bits(), numbers(&parts)), (bits, expected));
    }
    let Err(Error::Items(partial)) = smooth_parts(&engine, &Batch::from_hex(["6", "0"]).unwrap(), &tree)
    else {
        panic!("zero has no parts")
    };
    assert_eq!((partial.answers.as_limbs(), partial.failed[0].index), (&[6, 0][..], 1));
    assert_eq!(smooth_parts(&engine, &Batch::zeros(5, 0), &tree).unwrap().len(), 0);
    let none = ProductTree::new(&engine, &Batch::zeros(5, 0)).unwrap();
    assert_eq!(smooth_parts(&engine, &Batch::from_hex(["6"]).unwrap(), &none).unwrap().as_limbs(), [1]);
}

#[test]
fn factors_are_shared_with_numbers_outside_of_the_column() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let rng = &mut Rng::new(14);
    for (bits, column) in columns() {
        let (inside, outside) = column.split_at(rng.below(column.len() + 1));
        let tree = ProductTree::new(&engine, &batch_of_width(inside, bits)).unwrap();
        let product: BigUint = outside.iter().product();
        let (one, z): (BigUint, BigUint) = (BigUint::from(1u8), inside.iter().product());
        let expected: Vec<BigUint> =
            inside.iter().map(|modulus| gcd(modulus, &(&z / modulus * &product))).collect();
        // A product may be reduced by the column's.
        for others in [&product, &(&product % if z == one { &product } else { &z })] {
            let others = batch_of_width(std::slice::from_ref(others), bits * column.len() + 64);
            let divisors = tree.shared_factors(&engine, &others).unwrap();
            assert_eq!(numbers(&divisors), expected, "{} of {} numbers", inside.len(), column.len());
        }
    }
}

#[test]
fn levels_are_counted_and_stopped() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let rng = &mut Rng::new(15);
    for count in [0, 1, 2, 3, 17, 64] {
        let column: Vec<BigUint> = (0..count).map(|_| rng.exact(200)).collect();
        let column = batch_of_width(&column, 200);
        let watch = Arc::new(Watch::new());
        let watched = engine.watched_by(&watch);
        let divisors = batch_gcd(&watched, &column).unwrap();
        assert_eq!(divisors, batch_gcd(&engine, &column).unwrap());
        assert_eq!(watch.done(), BatchGcdSteps::new(count).items(), "{count} numbers");
        watch.stop();
        if count > 1 {
            assert_eq!(batch_gcd(&watched, &column), Err(Error::Interrupted));
            assert!(matches!(ProductTree::new(&watched, &column), Err(Error::Interrupted)));
        }
    }
    let steps = BatchGcdSteps::new(5);
    let phases: Vec<_> = (0..12).map(|step| steps.at(5 * step)).collect();
    let expected: Vec<_> = [Phase::Products, Phase::Sums, Phase::Root, Phase::Fractions, Phase::Divisors]
        .into_iter()
        .zip([3, 3, 1, 3, 2])
        .flat_map(|(phase, of)| (1..=of).map(move |step| (phase, step, of)))
        .collect();
    assert_eq!(phases, expected);
}

#[test]
fn zeros_are_named_and_left_out() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let moduli = Batch::from_hex(["f", "0", "23", "0", "8f"]).unwrap();
    let failed = |error: Error| match error {
        Error::Items(partial) => (partial.answers, partial.failed),
        error => panic!("{error}"),
    };
    let zeros: Vec<_> =
        [1, 3].map(|index| ItemError { index, kind: ItemErrorKind::ZeroModulus }).into_iter().collect();
    let (divisors, named) = failed(batch_gcd(&engine, &moduli).unwrap_err());
    assert_eq!((divisors.as_limbs(), &named), (&[5, 0, 5, 0, 1][..], &zeros));
    let (found, named) = failed(product(&engine, &moduli).unwrap_err());
    assert_eq!((numbers(&found), &named), (vec![BigUint::from(15u32 * 35 * 143)], &zeros));
    let tree = ProductTree::new(&engine, &moduli).unwrap();
    assert_eq!((tree.product().as_limbs(), tree.zeros()), (found.as_limbs(), &zeros[..]));
    let (remainders, named) =
        failed(tree.remainders(&engine, &Batch::from_hex(["64"]).unwrap()).unwrap_err());
    assert_eq!((remainders.as_limbs(), &named), (&[10, 0, 30, 0, 100][..], &zeros));
    assert_eq!(failed(crt(&engine, &moduli, &moduli).unwrap_err()).1, zeros);
}

#[test]
fn residues_are_combined_modulo_many_coprime_numbers() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let rng = &mut Rng::new(13);
    // Consecutive prime powers, 2 and 1 among them.
    let mut moduli: Vec<BigUint> = vec![BigUint::from(1u8), BigUint::from(2u8).pow(60)];
    for prime in [3u32, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53] {
        moduli.push(BigUint::from(prime).pow(1 + rng.below(10) as u32));
        let z: BigUint = moduli.iter().product();
        for number in [BigUint::ZERO, &z - 1u8, rng.exact(z.bits() as usize) % &z] {
            let residues: Vec<BigUint> = moduli.iter().map(|modulus| &number % modulus).collect();
            let found = crt(&engine, &batch_of_width(&residues, 64), &batch_of_width(&moduli, 64)).unwrap();
            assert_eq!(numbers(&found), [number]);
        }
    }
    let (residues, moduli) =
        (Batch::from_hex(["1", "2", "3"]).unwrap(), Batch::from_hex(["6", "5", "4"]).unwrap());
    let Err(Error::Items(partial)) = crt(&engine, &residues, &moduli) else {
        panic!("6 and 4 share a factor")
    };
    let failed = [0, 2].map(|index| ItemError { index, kind: ItemErrorKind::NotCoprime });
    assert_eq!(partial.failed, failed);
}

#[test]
fn wrong_numbers_of_operands_are_refused() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let column = Batch::from_hex(["3", "5"]).unwrap();
    let tree = ProductTree::new(&engine, &column).unwrap();
    for refused in [
        tree.remainders(&engine, &column),
        tree.combine(&engine, &Batch::from_hex(["1", "2", "3"]).unwrap()),
        crt(&engine, &Batch::from_hex(["1", "2", "3"]).unwrap(), &column),
    ] {
        assert!(matches!(refused, Err(Error::LengthMismatch { .. })), "{refused:?}");
    }
}
