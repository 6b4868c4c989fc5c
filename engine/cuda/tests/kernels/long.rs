//! Products and powers modulo long numbers by transforms, against `num-bigint`.

use crate::products::{answers, by_transforms, multiply};
use crate::{devices, run};
use modmill_core::{Batch, Family, Job, Moduli, Modulus, Op, Operand, Request};
use modmill_cuda::cache::Cache;
use modmill_cuda::{Cuda, Device, Error, Faults, Reciprocals, Run, Settings};
use modmill_testing::hard::{ones, power_of_two};
use modmill_testing::oracle::{batch_of_width, number};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Reciprocals by `num-bigint`.
struct Oracle;

impl Reciprocals for Oracle {
    fn reciprocal(&self, divisor: &[u64]) -> Zeroizing<Vec<u64>> {
        let all = (BigUint::from(1u8) << (128 * divisor.len())) - 1u8;
        Zeroizing::new((all / number(divisor)).to_u64_digits())
    }
}

fn dividing(cuda: Cuda) -> Cuda {
    cuda.divided_by(Arc::new(Oracle))
}

fn modulus_of(value: &BigUint) -> Modulus {
    Modulus::new(&value.to_u64_digits()).unwrap()
}

/// Plans an operation modulo numbers of `bits` bits by transforms, and runs the plan.
fn compute(
    cuda: &Cuda,
    op: Op,
    (a, b): (Operand<'_>, Operand<'_>),
    moduli: Moduli<'_>,
    items: &[usize],
) -> Result<Run, Error> {
    let job = Job::new(items, moduli.bits(), a, b, moduli);
    let run = run(cuda, op, &job)?;
    assert!(run.kernel_seconds > 0.0 || items.is_empty());
    Ok(run)
}

/// Moduli of `bits` bits: both ends of the range, next to a power of two, and a random one.
fn hard_moduli(bits: usize, rng: &mut Rng) -> Vec<BigUint> {
    let top = power_of_two(bits - 1);
    vec![
        &top | BigUint::from(1u8),
        ones(bits),
        top.clone(),
        ones(bits) - 4u8,
        &top | rng.number(bits - 1),
        ones(bits) ^ power_of_two(bits / 2),
        ones(bits / 3) << (bits - bits / 3),
    ]
}

/// Numbers for a modulus: none, one, its neighbours, and the largest that are as long.
fn hard_numbers(modulus: &BigUint, rng: &mut Rng) -> Vec<BigUint> {
    let bits = modulus.bits() as usize;
    vec![
        modulus - 1u8,
        BigUint::from(1u8),
        modulus.clone(),
        ones(bits),
        BigUint::ZERO,
        ones(bits / 2),
        rng.number(bits),
    ]
}

/// Products modulo one number: those that leave nothing, those next to them, and the largest. At 13 312
/// bits the 512 points of the last product of a reduction are used up to the last bit, beyond there are more.
#[test]
fn products_modulo_one_number() {
    let cuda = dividing(by_transforms(devices()));
    for (bits, moduli) in [(3_000, 7), (6_401, 5), (13_312, 7), (13_313, 1), (60_000, 2)] {
        let mut rng = Rng::new(bits as u64);
        for modulus in hard_moduli(bits, &mut rng).into_iter().take(moduli) {
            let kept = modulus_of(&modulus);
            let moduli = Moduli::from(&kept);
            let a = hard_numbers(&modulus, &mut rng);
            let b: Vec<BigUint> = a.iter().cycle().skip(3).take(a.len()).cloned().collect();
            let (left, right) = (batch_of_width(&a, bits), batch_of_width(&b, bits));
            let items: Vec<usize> = (0..a.len()).rev().collect();
            let (x, y) = (Operand::from(&left), Operand::from(&right));
            let Some(products) = answers(compute(&cuda, Op::MulMod, (x, y), moduli, &items)) else { return };
            let squares = compute(&cuda, Op::SquareMod, (x, x), moduli, &items).unwrap().answers;
            let shared = compute(&cuda, Op::MulMod, (x, right.shared(3)), moduli, &items).unwrap().answers;
            for (place, &item) in items.iter().enumerate() {
                let expected =
                    [&a[item] * &b[item], &a[item] * &a[item], &a[item] * &b[3]].map(|x| x % &modulus);
                let found = [&products, &squares, &shared].map(|answers| number(answers.get(place)));
                assert!(found == expected, "{bits} bits, item {item}");
            }
        }
    }
}

/// A modulus for each item, and factors up to twice as long.
#[test]
fn products_modulo_many_numbers() {
    let cuda = dividing(by_transforms(devices()));
    for bits in [3_000, 6_464] {
        let mut rng = Rng::new(bits as u64);
        let moduli = hard_moduli(bits, &mut rng);
        let each = batch_of_width(&moduli, bits);
        let each = Moduli::from(&each);
        for (turn, (a_bits, b_bits)) in
            [(bits, bits), (2 * bits, bits), (bits, 2 * bits - 1), (bits + 1, 2 * bits), (60, bits + 1)]
                .into_iter()
                .enumerate()
        {
            let numbers = |width: usize, turn: usize| -> Vec<BigUint> {
                let long = |modulus: &BigUint| {
                    hard_numbers(&(modulus << (width.max(bits) - bits)), &mut Rng::new(7))
                };
                let numbers = moduli.iter().enumerate();
                numbers.map(|(i, modulus)| &long(modulus)[(i + turn) % 7] & ones(width)).collect()
            };
            let (a, b) = (numbers(a_bits, turn), numbers(b_bits, turn + 3));
            let (left, right) = (batch_of_width(&a, a_bits), batch_of_width(&b, b_bits));
            let (x, y) = (Operand::from(&left), Operand::from(&right));
            // All but the first.
            let items: Vec<usize> = (1..moduli.len()).collect();
            let Some(products) = answers(compute(&cuda, Op::MulMod, (x, y), each, &items)) else { return };
            let squares = compute(&cuda, Op::SquareMod, (x, x), each, &items).unwrap().answers;
            let shared = compute(&cuda, Op::MulMod, (x, right.shared(3)), each, &items).unwrap().answers;
            for (place, &item) in items.iter().enumerate() {
                let expected =
                    [&a[item] * &b[item], &a[item] * &a[item], &a[item] * &b[3]].map(|x| x % &moduli[item]);
                let found = [&products, &squares, &shared].map(|answers| number(answers.get(place)));
                assert!(found == expected, "{a_bits} by {b_bits} modulo {bits} bits, item {item}");
            }
        }
    }
}

/// Exponents that are nothing, one, two, all ones, and so long that windows do not divide them.
fn hard_exponents(count: usize, rng: &mut Rng) -> Vec<(usize, Vec<BigUint>)> {
    let cycle = |numbers: Vec<BigUint>| numbers.iter().cycle().take(count).cloned().collect();
    vec![
        (1, cycle(vec![BigUint::from(1u8), BigUint::ZERO])),
        (2, cycle(vec![BigUint::from(2u8), BigUint::from(3u8)])),
        (
            19,
            cycle(vec![ones(19), BigUint::ZERO, power_of_two(18), rng.number(19), BigUint::from(65_537u32)]),
        ),
    ]
}

fn check_powers(moduli: Moduli<'_>, values: &[BigUint], base_bits: usize, items: &[usize], rng: &mut Rng) {
    let cuda = dividing(by_transforms(devices()));
    let bits = moduli.bits();
    let pick = |item: usize, numbers: Vec<BigUint>| numbers[item % numbers.len()].clone();
    let long = |item: usize, rng: &mut Rng| {
        pick(item, hard_numbers(&(&values[item] << (base_bits.max(bits) - bits)), rng)) & ones(base_bits)
    };
    let bases: Vec<BigUint> = (0..values.len()).map(|item| long(item, rng)).collect();
    let base_batch = batch_of_width(&bases, base_bits);
    let check =
        |what: &str, answers: Batch, base: &dyn Fn(usize) -> BigUint, exponent: &dyn Fn(usize) -> BigUint| {
            for (place, &item) in items.iter().enumerate() {
                let expected = base(item).modpow(&exponent(item), &values[item]);
                assert!(
                    number(answers.get(place)) == expected,
                    "{what}, {bits} bits, item {item}, {}",
                    exponent(item)
                );
            }
        };
    for (exponent_bits, exponents) in hard_exponents(values.len(), rng) {
        let exponent_batch = batch_of_width(&exponents, exponent_bits);
        let (a, b) = (Operand::from(&base_batch), Operand::from(&exponent_batch));
        let (base, exponent) = (|item: usize| bases[item].clone(), |item: usize| exponents[item].clone());
        let Some(powers) = answers(compute(&cuda, Op::Pow, (a, b), moduli, items)) else { return };
        check("secret", powers, &base, &exponent);
        let powers = compute(&cuda, Op::PowVartime, (a, b), moduli, items).unwrap().answers;
        check("public", powers, &base, &exponent);
        let last = exponents.len() - 1;
        let one = exponent_batch.shared(last);
        let shared = |_: usize| exponents[last].clone();
        let powers = compute(&cuda, Op::PowVartime, (a, one), moduli, items).unwrap().answers;
        check("public for all", powers, &base, &shared);
        let powers = compute(&cuda, Op::Pow, (base_batch.shared(0), one), moduli, items).unwrap().answers;
        check("secret for all", powers, &|_| bases[0].clone(), &shared);
        if exponent_bits < 19 {
            let settings = Settings { family: Some(Family::Fft), direct_tables: true, ..Settings::default() };
            let direct = dividing(Cuda::on(devices(), settings));
            let powers = compute(&direct, Op::Pow, (a, b), moduli, items).unwrap().answers;
            check("secret, direct tables", powers, &base, &exponent);
        }
    }
}

#[test]
fn powers_modulo_one_number() {
    for (bits, moduli) in [(1_024, 4), (3_009, 1)] {
        let mut rng = Rng::new(bits as u64);
        for modulus in hard_moduli(bits, &mut rng).into_iter().take(moduli) {
            let kept = modulus_of(&modulus);
            let values = vec![modulus; 7];
            check_powers(Moduli::from(&kept), &values, bits, &[6, 5, 4, 3, 2, 1, 0], &mut rng);
        }
    }
}

#[test]
fn powers_modulo_many_numbers() {
    for (bits, base_bits) in [(1_025, 2_050), (3_000, 100)] {
        let mut rng = Rng::new(bits as u64);
        let values = hard_moduli(bits, &mut rng);
        let each = batch_of_width(&values, bits);
        check_powers(Moduli::from(&each), &values, base_bits, &[0, 2, 1, 4, 3, 6, 5], &mut rng);
    }
}

/// Small chunks, because memory is short, and two devices: every item with its own modulus, and with one for
/// all.
#[test]
fn long_batches_are_cut_up_and_shared_out() {
    let bits = 1_030;
    let rng = &mut Rng::new(3);
    let values: Vec<BigUint> = hard_moduli(bits, rng).into_iter().cycle().take(21).collect();
    let each = batch_of_width(&values, bits);
    let kept: Vec<Modulus> = values.iter().map(modulus_of).collect();
    let kept: Vec<&Modulus> = kept.iter().collect();
    let a: Vec<BigUint> = (0..21).map(|_| rng.number(bits + 9)).collect();
    let batch = batch_of_width(&a, bits + 9);
    let exponents = batch_of_width(&[BigUint::from(5u8)], 3);
    let little = || {
        let faults = Faults { out_of_memory_above: Some(1 << 18), ..Faults::default() };
        Device::emulator_with(faults, Cache::from_environment())
    };
    for (devices, count) in
        [(vec![little()], 21), (vec![little(), little()], 21), (vec![little(), little()], 1)]
    {
        let cuda = dividing(by_transforms(devices));
        let items: Vec<usize> = (21 - count..21).rev().collect();
        let x = Operand::from(&batch);
        let check = |moduli: Moduli<'_>, of: &dyn Fn(usize) -> BigUint| {
            let Some(squares) = answers(compute(&cuda, Op::SquareMod, (x, x), moduli, &items)) else {
                return;
            };
            let powers = compute(&cuda, Op::Pow, (x, exponents.shared(0)), moduli, &items).unwrap().answers;
            for (place, &item) in items.iter().enumerate() {
                assert_eq!(number(squares.get(place)), &a[item] * &a[item] % of(item), "{count}, {item}");
                assert_eq!(
                    number(powers.get(place)),
                    a[item].modpow(&5u8.into(), &of(item)),
                    "{count}, {item}"
                );
            }
        };
        check(Moduli::from(&each), &|item| values[item].clone());
        check(Moduli::from(&kept[..]), &|item| values[item].clone());
        check(Moduli::from(kept[4]), &|_| values[4].clone());
    }
}

/// Nothing of this panics, or reads what is not there.
#[test]
fn items_that_cannot_be_computed_are_named() {
    let cuda = dividing(by_transforms(devices()));
    let batch = Batch::zeros(1_000, 3);
    let x = Operand::from(&batch);
    let modulus = modulus_of(&ones(1_024));
    let each = batch_of_width(&[ones(1_024), ones(1_024), ones(1_024)], 1_024);
    for moduli in [Moduli::from(&modulus), Moduli::from(&each)] {
        for op in [Op::Pow, Op::PowVartime, Op::MulMod, Op::SquareMod] {
            let named = compute(&cuda, op, (x, x), moduli, &[0, 7]);
            assert!(matches!(named, Err(Error::Item { item: 7, .. })), "{op}");
        }
        assert!(compute(&cuda, Op::Pow, (x, x), moduli, &[]).unwrap().answers.is_empty());
    }
    // Factors of more than twice the bits of a modulus have no plan, and so have exponents that no word
    // counts.
    let long = Batch::zeros(2_049, 3);
    let longer = Operand::from(&long);
    let endless = Operand::Shared { bits: 1 << 33, value: &[3] };
    for (op, a, b) in [(Op::Pow, longer, x), (Op::MulMod, x, longer), (Op::Pow, x, endless)] {
        let job = Job::new(&[0], 1_024, a, b, Moduli::from(&modulus));
        assert!(cuda.plan(&Request::of(op, &job)).is_none(), "{op}");
    }
    // Nobody finds reciprocals.
    let alone = by_transforms(devices());
    let job = Job::new(&[0], 1_024, x, x, Moduli::from(&modulus));
    assert!(alone.plan(&Request::of(Op::MulMod, &job)).is_none());

    assert!(multiply(&cuda, Operand::Shared { bits: usize::MAX / 2, value: &[3] }, Some(x), 1).is_err());
    assert!(matches!(multiply(&cuda, x, Some(x), 4), Err(Error::Item { item: 3, .. })));
    assert!(matches!(multiply(&cuda, x, None, 4), Err(Error::Item { item: 3, .. })));
    assert_eq!(multiply(&cuda, x, Some(x), 0).unwrap().answers, Batch::zeros(2_000, 0));
    let without = dividing(by_transforms(Vec::new()));
    let none = compute(&without, Op::Pow, (x, x), Moduli::from(&modulus), &[0]);
    assert_eq!(none.unwrap_err(), Error::NoDevice);
}
