//! Powers of a fixed base, products of several powers, and products and sums over columns.

use super::check::{expect, expect_width};
use super::{Effort, Outcome, Suite};
use crate::hard;
use crate::oracle::{self, batch, batch_of_width, number};
use crate::rng::Rng;
use modmill::{Batch, Engine, Error, ItemErrorKind, Modulus, Operand, Public, random};
use num_bigint::BigUint;

pub(super) fn run(suite: &mut Suite<'_>) {
    // A brief run takes the first length, whose kernels other cases use too.
    let is_brief = suite.effort == Effort::Brief;
    for bits in suite.effort.some([256, 1, 2, 52, 64, 65, 521, 1024, 1060]) {
        let mut rng = Rng::new(90_000 + bits as u64);
        let mut moduli = hard::odd_moduli(bits, 2, &mut rng);
        if bits > 1 {
            moduli.extend(hard::even_moduli(bits, 1, &mut rng));
        }
        for modulus in moduli {
            let kind = if modulus.bit(0) { "odd" } else { "even" };
            let what = format!("a {kind} modulus of {bits} bits");
            suite.case(format!("powers of a fixed base, {what}"), |engine| {
                fixed_base(engine, &modulus, is_brief)
            });
            suite.case(format!("products of powers, {what}"), |engine| multi_pow(engine, &modulus, is_brief));
            suite.case(format!("products and sums of columns, {what}"), |engine| {
                columns(engine, &modulus, is_brief)
            });
        }
    }
    suite.case("exponents that are too long for a fixed base are refused", long_exponents);
    suite.case("products of powers with a modulus for each item", many_moduli);
    suite.case("products of powers name moduli of zero", zero_moduli);
    suite.case("products and sums of nothing", nothing);
}

fn text(error: Error) -> String {
    error.to_string()
}

fn shared(modulus: &BigUint) -> Result<Modulus, String> {
    Modulus::new(&modulus.to_u64_digits()).map_err(text)
}

/// Exponents of every kind: 0, 1, single bits, all ones, and hard ones, in batches around the number of
/// lanes.
fn fixed_base(engine: &Engine, modulus: &BigUint, is_brief: bool) -> Outcome {
    let mut rng = Rng::new(91_000 + modulus.bits());
    for &exponent_bits in if is_brief { &[16][..] } else { &[1, 4, 67] } {
        let bases = [hard::number(modulus.bits() as usize + 20, &mut rng), modulus - 1u8, BigUint::ZERO];
        let mut exponents = hard::exponents(exponent_bits);
        exponents.truncate(20);
        exponents.retain(|exponent| exponent.bits() <= exponent_bits as u64);
        exponents.extend((0..9).map(|_| hard::number(exponent_bits, &mut rng)));
        for base in bases {
            let fixed = engine
                .fixed_base(&batch(std::slice::from_ref(&base)), &shared(modulus)?, exponent_bits)
                .map_err(text)?;
            for count in [exponents.len(), 1, 0] {
                let exponents = &exponents[exponents.len() - count..];
                let expected: Vec<BigUint> =
                    exponents.iter().map(|exponent| oracle::pow(&base, exponent, modulus)).collect();
                let numbers = batch_of_width(exponents, exponent_bits);
                let found = engine.pow_fixed_base(&fixed, &numbers).map_err(text)?;
                expect_width(&found, modulus.bits() as usize)?;
                expect(&[("exponent", exponents)], &expected, &found)?;
                // The declared width of public exponents may be greater.
                let wider = batch_of_width(exponents, exponent_bits + 100);
                let found = engine.pow_fixed_base(&fixed, Public(&wider)).map_err(text)?;
                expect(&[("exponent", exponents)], &expected, &found)?;
                let found = engine.on_device().pow_fixed_base(&fixed, &numbers).map_err(text)?;
                expect(&[("exponent", exponents)], &expected, &found.download().map_err(text)?)?;
            }
        }
    }
    Ok(())
}

/// One to eighteen powers, with bases and exponents of different widths, each for all items or one for every
/// item.
fn multi_pow(engine: &Engine, modulus: &BigUint, is_brief: bool) -> Outcome {
    const COUNT: usize = 9;
    let mut rng = Rng::new(92_000 + modulus.bits());
    let bits = modulus.bits() as usize;
    for &powers in if is_brief { &[0, 2][..] } else { &[0, 1, 2, 3, 18] } {
        let numbers = |bits: usize, rng: &mut Rng| -> Vec<BigUint> {
            (0..COUNT).map(|_| hard::number(bits, rng)).collect()
        };
        let bases: Vec<Vec<BigUint>> = (0..powers).map(|k| numbers(bits + 3 * k, &mut rng)).collect();
        let exponents: Vec<Vec<BigUint>> = (0..powers).map(|k| numbers(1 + 13 * k % 60, &mut rng)).collect();
        let batches =
            |all: &[Vec<BigUint>]| -> Vec<Batch> { all.iter().map(|numbers| batch(numbers)).collect() };
        let (base_batches, exponent_batches) = (batches(&bases), batches(&exponents));
        for choice in 0..3 {
            let is_shared = |k: usize, second: usize| choice == 1 && k % 2 == second || choice == 2;
            fn operand(batch: &Batch, is_shared: bool) -> Operand<'_> {
                if is_shared { batch.shared(3) } else { batch.into() }
            }
            let a: Vec<Operand<'_>> =
                base_batches.iter().enumerate().map(|(k, all)| operand(all, is_shared(k, 0))).collect();
            let b: Vec<Operand<'_>> =
                exponent_batches.iter().enumerate().map(|(k, all)| operand(all, is_shared(k, 1))).collect();
            let count = if choice == 2 || powers == 0 { 1 } else { COUNT };
            let expected: Vec<BigUint> = (0..count)
                .map(|item| {
                    (0..powers).fold(BigUint::from(1u8) % modulus, |product, k| {
                        let base = &bases[k][if is_shared(k, 0) { 3 } else { item }];
                        let exponent = &exponents[k][if is_shared(k, 1) { 3 } else { item }];
                        product * oracle::pow(base, exponent, modulus) % modulus
                    })
                })
                .collect();
            let modulus = shared(modulus)?;
            let resident = engine.on_device().multi_pow(&a, &b, &modulus).map_err(text)?;
            for found in [
                engine.multi_pow(&a, &b, &modulus),
                engine.multi_pow(&a, Public(&b), &modulus),
                resident.download(),
            ] {
                let found = found.map_err(text)?;
                expect(&[], &expected, &found).map_err(|error| format!("{powers} powers: {error}"))?;
            }
        }
    }
    Ok(())
}

fn columns(engine: &Engine, modulus: &BigUint, is_brief: bool) -> Outcome {
    let mut rng = Rng::new(93_000 + modulus.bits());
    let bits = modulus.bits() as usize;
    let shared = shared(modulus)?;
    let one = BigUint::from(1u8) % modulus;
    let all = [(33, bits), (1, bits), (2, 1), (7, bits + 90), (150, bits)];
    for &(count, width) in if is_brief { &all[..1] } else { &all } {
        // A zero would hide mistakes in the other factors.
        let numbers = |rng: &mut Rng| -> Vec<BigUint> {
            (0..count).map(|_| hard::number(width, rng).max(BigUint::from(1u8))).collect()
        };
        let (a, b) = (numbers(&mut rng), numbers(&mut rng));
        let exponents: Vec<BigUint> = (0..count).map(|_| hard::number(20, &mut rng)).collect();
        let (a_batch, b_batch) = (batch(&a), batch(&b));
        let check = |what: &str, found: Result<Batch, Error>, expected: BigUint| {
            expect(&[], &[expected], &found.map_err(text)?)
                .map_err(|error| format!("{what} of {count} numbers: {error}"))
        };
        let product = a.iter().fold(one.clone(), |product, number| product * number % modulus);
        check("product", engine.product_mod(&a_batch, &shared), product.clone())?;
        let resident = engine.upload(&a_batch).map_err(text)?;
        check("product", engine.product_mod(&resident, &shared), product.clone())?;
        let found = engine.on_device().product_mod(&resident, &shared).map_err(text)?;
        check("product", found.download(), product)?;
        check("sum", engine.sum_mod(&a_batch, &shared), a.iter().sum::<BigUint>() % modulus)?;
        let sum = a.iter().zip(&b).map(|(a, b)| a * b).sum::<BigUint>() % modulus;
        check("sum of products", engine.sum_products(&a_batch, &b_batch, &shared), sum)?;
        let sum = a.iter().map(|a| a * &b[0]).sum::<BigUint>() % modulus;
        check("sum with one factor", engine.sum_products(&a_batch, b_batch.shared(0), &shared), sum)?;
        let pairs = a.iter().zip(&exponents);
        let powers = pairs.fold(one.clone(), |product, (base, exponent)| {
            product * oracle::pow(base, exponent, modulus) % modulus
        });
        let exponents = batch(&exponents);
        check("powers", engine.product_of_powers(&a_batch, &exponents, &shared), powers.clone())?;
        check("powers", engine.product_of_powers(&a_batch, Public(&exponents), &shared), powers)?;
        for group in [1, 3, 16, count] {
            let found = engine.products_mod(&a_batch, group, &shared).map_err(text)?;
            let product =
                |group: &[BigUint]| group.iter().fold(one.clone(), |product, n| product * n % modulus);
            let expected: Vec<BigUint> = a.chunks(group).map(product).collect();
            expect(&[], &expected, &found).map_err(|error| format!("groups of {group}: {error}"))?;
        }
    }
    Ok(())
}

fn long_exponents(engine: &Engine) -> Outcome {
    for modulus in [BigUint::from(1u8), BigUint::from(101u8), BigUint::from(1000u16)] {
        let base = Batch::from_values([[3u64]]);
        let fixed = engine.fixed_base(&base, &shared(&modulus)?, 8).map_err(text)?;
        let exponents = Batch::from_values([[255u64], [256], [1]]);
        let found = engine.pow_fixed_base(&fixed, &exponents);
        if !matches!(found, Err(Error::TooLong { bits: 9, limit: 8, .. })) {
            return Err(format!("secret exponents: {found:?}"));
        }
        let found = engine.pow_fixed_base(&fixed, Public(&exponents));
        if found != Err(Error::DoesNotFit { index: 1, bits: 8 }) {
            return Err(format!("public exponents: {found:?}"));
        }
        let two = engine.fixed_base(&exponents, &shared(&modulus)?, 8);
        if !matches!(two, Err(Error::LengthMismatch { expected: 1, found: 3, .. })) {
            return Err(format!("three bases: {two:?}"));
        }
    }
    Ok(())
}

/// Moduli of one length, which are interleaved, and of all lengths and kinds, which are not.
fn many_moduli(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(94_000);
    for is_mixed in [false, true] {
        let modulus = |item: usize, rng: &mut Rng| match (is_mixed, item % 4) {
            (false, _) => rng.exact(190) | BigUint::from(1u8),
            (true, 0) => BigUint::from(1u8),
            (true, 1) => rng.exact(100) << 3u8,
            (true, _) => rng.exact(10 + 9 * item) | BigUint::from(1u8),
        };
        let moduli: Vec<BigUint> = (0..21).map(|item| modulus(item, &mut rng)).collect();
        let numbers = |bits: usize, rng: &mut Rng| -> Vec<BigUint> {
            (0..21).map(|_| hard::number(bits, rng)).collect()
        };
        let all =
            [numbers(200, &mut rng), numbers(30, &mut rng), numbers(90, &mut rng), numbers(61, &mut rng)];
        let expected: Vec<BigUint> = (0..21)
            .map(|item| {
                let power = |base: usize| oracle::pow(&all[base][item], &all[base + 1][item], &moduli[item]);
                power(0) * power(2) % &moduli[item]
            })
            .collect();
        let batches = all.each_ref().map(|numbers| batch(numbers));
        let [a, b, c, d] = batches.each_ref().map(Operand::from);
        let found = engine.multi_pow(&[a, c], &[b, d], &batch(&moduli)).map_err(text)?;
        expect(&[("n", &moduli)], &expected, &found)?;
        let found = engine.multi_pow(&[a, c], Public(&[b, d]), &batch(&moduli)).map_err(text)?;
        expect(&[("n", &moduli)], &expected, &found)?;
    }
    Ok(())
}

fn zero_moduli(engine: &Engine) -> Outcome {
    let numbers = Batch::from_values([[2u64], [3], [5]]);
    let moduli = Batch::from_values([[7u64], [0], [11]]);
    let operands = [Operand::from(&numbers), Operand::from(&numbers)];
    match engine.multi_pow(&operands, &operands, &moduli) {
        Err(Error::Items(partial)) => {
            let named: Vec<_> = partial.failed.iter().map(|failed| (failed.index, failed.kind)).collect();
            // 2^4 modulo 7, and 5^10 modulo 11.
            let right = named == [(1, ItemErrorKind::ZeroModulus)] && partial.answers.as_limbs() == [2, 0, 1];
            if right { Ok(()) } else { Err(format!("{named:?}")) }
        }
        other => Err(format!("{other:?}")),
    }
}

fn nothing(engine: &Engine) -> Outcome {
    let none = Batch::zeros(64, 0);
    for modulus in [1u64, 2, 101] {
        let shared = Modulus::new(&[modulus]).map_err(text)?;
        let one = number(&[1 % modulus]);
        for found in [
            engine.product_mod(&none, &shared),
            engine.product_of_powers(&none, &none, &shared),
            engine.multi_pow(&[], &[], &shared),
        ] {
            expect(&[], std::slice::from_ref(&one), &found.map_err(text)?)?;
        }
        for found in [engine.sum_mod(&none, &shared), engine.sum_products(&none, &none, &shared)] {
            expect(&[], &[BigUint::ZERO], &found.map_err(text)?)?;
        }
        expect(&[], &[], &engine.products_mod(&none, 5, &shared).map_err(text)?)?;
        expect(&[], &[], &random::below(engine, &shared, 0).map_err(text)?)?;
        // Numbers of no width at all are zeros.
        let zeros = Batch::zeros(0, 3);
        expect(&[], &[BigUint::ZERO], &engine.product_mod(&zeros, &shared).map_err(text)?)?;
        expect(&[], &[BigUint::ZERO], &engine.sum_mod(&zeros, &shared).map_err(text)?)?;
    }
    let (one, two) = (Operand::from(&none), Operand::Shared { bits: 8, value: &[3] });
    let shared = Modulus::new(&[7]).map_err(text)?;
    expect(&[], &[], &engine.multi_pow(&[one, two], &[two, two], &shared).map_err(text)?)?;
    match engine.multi_pow(&[two, two], &[two], &shared) {
        Err(Error::LengthMismatch { expected: 2, found: 1, .. }) => Ok(()),
        other => Err(format!("one exponent for two bases: {other:?}")),
    }
}
