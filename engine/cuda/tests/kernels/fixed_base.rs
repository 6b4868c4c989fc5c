//! Powers of one base: the tables and their kernels, against modular powers of big integers.

use crate::{chunks, devices, held_to, variant};
use modmill_core::{Batch, Call, Family, FixedPowers, Modulus, Operand, Request, Secrecy};
use modmill_cuda::{Cuda, Error, FixedBase, Result};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// A batch of numbers that are `bits` bits wide.
fn batch(bits: usize, numbers: &[BigUint]) -> Batch {
    Batch::from_values(numbers.iter().map(BigUint::to_u64_digits)).with_bits(bits).unwrap()
}

/// `base^(d 2^(window j))` for all d of a window, for every position j.
fn powers(base: &BigUint, modulus: &BigUint, window: u32, positions: u32) -> Vec<BigUint> {
    let exponent = |entry: u32| BigUint::from(entry % (1 << window)) << ((entry >> window) * window);
    (0..positions << window).map(|entry| base.modpow(&exponent(entry), modulus)).collect()
}

/// The powers by a table, planned for exponents of `prepared_bits` bits.
fn run(
    cuda: &Cuda,
    table: &FixedBase,
    modulus: &Modulus,
    exponents: &Batch,
    prepared_bits: usize,
) -> Result<Batch> {
    let powers = FixedPowers {
        // The table has all that is known of the base.
        base: Operand::Shared { bits: 0, value: &[] },
        modulus,
        exponents: exponents.into(),
        secrecy: Secrecy::Secret,
        prepared_bits,
        tables: Some(table),
        watch: None,
    };
    let plan = cuda.plan(&Request::of_fixed(&powers)).expect("kernels for tables");
    assert!(cuda.reads_table(&plan));
    Ok(cuda.run_new(&plan, Call::FixedPow(&powers))?.answers)
}

fn check(cuda: &Cuda, bits: usize, window: u32, positions: u32, count: usize) {
    let mut rng = Rng::new((bits + count) as u64);
    let one = BigUint::from(1u8);
    let modulus = rng.exact(bits) | &one;
    let exponent_bits = (window * positions) as usize;
    let longest = (&one << exponent_bits) - &one;
    for base in [rng.number(bits) % &modulus, BigUint::default(), &modulus - &one] {
        let rows = batch(bits, &powers(&base, &modulus, window, positions));
        let shared = Modulus::new(&modulus.to_u64_digits()).unwrap();
        let table = cuda.fixed_base(&rows, window, &shared).unwrap().expect("a table");
        assert_eq!(table.exponent_bits(), exponent_bits);
        assert!(table.bytes() > 0);
        let mut exponents: Vec<BigUint> = (0..count).map(|_| rng.number(exponent_bits)).collect();
        for (place, hard) in [BigUint::default(), one.clone(), longest.clone()].into_iter().enumerate() {
            if place < count {
                exponents[place] = hard;
            }
        }
        let given = batch(exponent_bits, &exponents);
        let answers = run(cuda, &table, &shared, &given, exponent_bits).unwrap();
        for (item, exponent) in exponents.iter().enumerate() {
            let answer = BigUint::from_bytes_be(&answers.to_be_bytes(item));
            assert_eq!(answer, base.modpow(exponent, &modulus), "{bits} bits, item {item} of {count}");
        }
    }
}

#[test]
fn powers_of_one_base() {
    for (bits, window, positions, counts) in
        [(200, 4, 5, vec![1, 17, 200]), (256, 6, 3, vec![33]), (512, 1, 40, vec![16]), (512, 8, 2, vec![20])]
    {
        let variant = variant(Family::Rns, 2, chunks(1, 1), bits);
        let Some(cuda) = held_to(devices(), variant) else { return };
        for count in counts {
            check(&cuda, bits, window, positions, count);
        }
    }
}

#[test]
fn wrong_tables_and_exponents_are_refused() {
    let bits = 256;
    let variant = variant(Family::Rns, 2, chunks(1, 1), bits);
    let Some(cuda) = held_to(devices(), variant) else { return };
    let modulus = Modulus::from_hex(&"f".repeat(64)).unwrap();
    let ones = |bits, count| batch(bits, &vec![BigUint::from(1u8); count]);
    for (rows, window) in [(ones(256, 17), 4), (ones(256, 0), 4), (ones(256, 16), 0), (ones(128, 16), 4)] {
        assert!(matches!(cuda.fixed_base(&rows, window, &modulus), Err(Error::Call { .. })), "{window}");
    }
    let table = cuda.fixed_base(&ones(256, 32), 4, &modulus).unwrap().expect("a table");
    let refused = run(&cuda, &table, &modulus, &ones(9, 1), 9);
    assert!(matches!(refused, Err(Error::TooLong { bits: 9, limit: 8, .. })));
}
