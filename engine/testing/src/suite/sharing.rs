//! A shared base, exponent or modulus gives the same answers as copies of it for every item.

use super::check::{expect_same, inverses};
use super::{Outcome, Suite};
use crate::oracle::{self, batch};
use crate::rng::Rng;
use crate::{hard, oracle::numbers};
use modmill::{Batch, Engine, Moduli, Modulus, Operand, Public};
use num_bigint::BigUint;

const COUNT: usize = 19;

pub(super) fn run(suite: &mut Suite<'_>) {
    for bits in suite.effort.some([1, 2, 52, 64, 65, 200, 521, 1024]) {
        let mut rng = Rng::new(40_000 + bits as u64);
        let mut moduli = vec![("odd", hard::odd_moduli(bits, 6, &mut rng).pop())];
        if bits > 1 {
            moduli.push(("even", hard::even_moduli(bits, 6, &mut rng).pop()));
            moduli.push(("power of two", Some(hard::power_of_two(bits - 1))));
        }
        for (kind, modulus) in moduli {
            let modulus = modulus.expect("six were asked for");
            let what = format!("shared operands, {kind} modulus of {bits} bits");
            suite.case(what, |engine| combinations(engine, &modulus, bits));
            let what = format!("inverses for one {kind} modulus of {bits} bits");
            suite.case(what, |engine| shared_inverses(engine, &modulus, bits));
        }
    }
    suite.case("shared factors of full products", shared_factors);
    suite.case("a modulus kept over many calls", kept_modulus);
    suite.case("prepared moduli in changing company", prepared_moduli);
}

/// All combinations of shared and repeated operands and moduli.
fn combinations(engine: &Engine, modulus: &BigUint, bits: usize) -> Outcome {
    let mut rng = Rng::new(bits as u64);
    let repeat = |number: &BigUint| batch(&vec![number.clone(); COUNT]);
    let base = hard::number(bits + 70, &mut rng);
    let exponent = hard::number(50, &mut rng);
    let other = |count: usize, bits: usize, rng: &mut Rng| -> Vec<BigUint> {
        (0..count).map(|_| hard::number(bits, rng)).collect()
    };
    let (bases, exponents) = (batch(&other(COUNT, bits + 3, &mut rng)), batch(&other(COUNT, 50, &mut rng)));
    let shared_modulus = Modulus::new(&modulus.to_u64_digits()).map_err(|error| error.to_string())?;
    let repeated_modulus = repeat(modulus);
    let (one_base, one_exponent) = (repeat(&base), repeat(&exponent));
    for choice in 0..8 {
        let (a, a_each): (Operand<'_>, &Batch) = match choice & 1 {
            0 => (Operand::from(&bases), &bases),
            _ => (one_base.shared(0), &one_base),
        };
        let (b, b_each): (Operand<'_>, &Batch) = match choice & 2 {
            0 => (Operand::from(&exponents), &exponents),
            _ => (one_exponent.shared(0), &one_exponent),
        };
        let n: Moduli<'_> = match choice & 4 {
            0 => Moduli::from(&repeated_modulus),
            _ => Moduli::from(&shared_modulus),
        };
        // A call with all operands shared has one answer.
        let count = if choice == 7 { 1 } else { COUNT };
        let pairs = [
            ("mul_mod", engine.mul_mod(a, b, n), engine.mul_mod(a_each, b_each, &repeated_modulus)),
            ("pow", engine.pow(a, b, n), engine.pow(a_each, b_each, &repeated_modulus)),
            (
                "pow_vartime",
                engine.pow(a, Public(b), n),
                engine.pow(a_each, Public(b_each), &repeated_modulus),
            ),
        ];
        for (op, found, copies) in pairs {
            let (found, copies) = (found.map_err(|e| e.to_string())?, copies.map_err(|e| e.to_string())?);
            let what = format!("{op}, sharing {choice:03b} (modulus, second, first)");
            same_as_copies(&what, &found, &copies, count)?;
            let (a, b) = (numbers(a_each), numbers(b_each));
            for item in 0..count {
                let expected = match op {
                    "mul_mod" => oracle::mul_mod(&a[item], &b[item], modulus),
                    _ => oracle::pow(&a[item], &b[item], modulus),
                };
                if oracle::number(found.get(item)) != expected {
                    return Err(format!("{what}: item {item} is wrong for modulus {modulus:x}"));
                }
            }
        }
        if choice & 2 == 0 {
            let count = if choice == 5 { 1 } else { COUNT };
            let found = engine.square_mod(a, n).map_err(|error| error.to_string())?;
            let copies = engine.square_mod(a_each, &repeated_modulus).map_err(|error| error.to_string())?;
            same_as_copies(&format!("square_mod, sharing {choice:03b}"), &found, &copies, count)?;
        }
    }
    Ok(())
}

fn same_as_copies(what: &str, found: &Batch, copies: &Batch, count: usize) -> Outcome {
    let first: Vec<BigUint> = numbers(copies).into_iter().take(count).collect();
    expect_same(what, found, &oracle::batch_of_width(&first, copies.bits()))
}

fn shared_inverses(engine: &Engine, modulus: &BigUint, bits: usize) -> Outcome {
    let mut rng = Rng::new(bits as u64 + 7);
    let a: Vec<BigUint> = (0..COUNT).map(|_| hard::number(bits + 5, &mut rng)).collect();
    let expected: Vec<Option<BigUint>> = a.iter().map(|a| oracle::inv(a, modulus)).collect();
    let shared = Modulus::new(&modulus.to_u64_digits()).map_err(|error| error.to_string())?;
    inverses(engine.inv(&batch(&a), &shared), &a, &vec![modulus.clone(); COUNT], &expected)
}

fn shared_factors(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(41_000);
    for (left, right) in [(64, 64), (1, 200), (521, 1024), (2048, 52)] {
        let a: Vec<BigUint> = (0..COUNT).map(|_| hard::number(left, &mut rng)).collect();
        let b = hard::number(right, &mut rng);
        let (a_batch, b_batch) = (batch(&a), batch(std::slice::from_ref(&b)));
        let expected: Vec<BigUint> = a.iter().map(|a| a * &b).collect();
        for found in [engine.mul(&a_batch, b_batch.shared(0)), engine.mul(b_batch.shared(0), &a_batch)] {
            let found = found.map_err(|error| error.to_string())?;
            super::check::expect(&[("a", &a)], &expected, &found)?;
        }
        let one = engine.mul(a_batch.shared(3), b_batch.shared(0)).map_err(|error| error.to_string())?;
        super::check::expect(&[("a", &a[3..4])], &expected[3..4], &one)?;
    }
    Ok(())
}

/// The constants of a modulus are computed once, and must be right in later calls too.
fn kept_modulus(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(42_000);
    for modulus in [hard::ones(521), rng.exact(300) << 5, hard::power_of_two(77), BigUint::from(1u8)] {
        let shared = Modulus::new(&modulus.to_u64_digits()).map_err(|error| error.to_string())?;
        for round in 0..4 {
            let a: Vec<BigUint> = (0..9).map(|_| hard::number(530, &mut rng)).collect();
            let batch = batch(&a);
            let expected: Vec<BigUint> = a.iter().map(|a| oracle::mul_mod(a, a, &modulus)).collect();
            let squares = engine.square_mod(&batch, &shared).map_err(|error| error.to_string())?;
            super::check::expect(&[("a", &a)], &expected, &squares)
                .map_err(|e| format!("round {round}: {e}"))?;
            let two = Batch::from_values([[2u64]]);
            let powers =
                engine.pow(&batch, two.shared(0), &shared.clone()).map_err(|error| error.to_string())?;
            expect_same(&format!("round {round}"), &squares, &powers)?;
        }
    }
    Ok(())
}

/// Prepared moduli, which each keep their own constants: a single one, equal ones, groups of lanes that
/// change, and lengths that differ within a limb, together with even moduli and the modulus 1.
fn prepared_moduli(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(43_000);
    for bits in [64, 130, 521, 1060] {
        let mut numbers: Vec<BigUint> = (0..10).map(|_| rng.exact(bits) | BigUint::from(1u8)).collect();
        numbers.extend([bits - 1, bits - 3, bits / 2].map(hard::ones));
        numbers.extend([rng.exact(bits) << 3u8, BigUint::from(1u8)]);
        let moduli: Result<Vec<Modulus>, _> =
            numbers.iter().map(|number| Modulus::new(&number.to_u64_digits())).collect();
        let moduli = moduli.map_err(|error| error.to_string())?;
        for round in 0..6 {
            // Every modulus once, then a single one, then runs of equal ones, then a random order.
            let items: Vec<usize> = match round {
                0 => (0..moduli.len()).collect(),
                1 => vec![3; COUNT],
                2 => (0..COUNT).map(|item| item / 5).collect(),
                _ => (0..COUNT).map(|_| rng.below(moduli.len())).collect(),
            };
            let chosen: Vec<&Modulus> = items.iter().map(|&item| &moduli[item]).collect();
            let chosen = chosen.as_slice();
            let a: Vec<BigUint> = items.iter().map(|_| hard::number(bits + 9, &mut rng)).collect();
            let b: Vec<BigUint> = items.iter().map(|_| hard::number(40, &mut rng)).collect();
            let (a_batch, b_batch) = (batch(&a), batch(&b));
            let expect =
                |what: &str, found: Result<Batch, modmill::Error>, expected: &dyn Fn(usize) -> BigUint| {
                    let found = found.map_err(|error| error.to_string())?;
                    let expected: Vec<BigUint> = (0..items.len()).map(expected).collect();
                    super::check::expect(&[("a", &a), ("b", &b)], &expected, &found)
                        .map_err(|error| format!("{what}, {bits} bits, round {round}: {error}"))
                };
            let modulus = |item: usize| &numbers[items[item]];
            let power = |item: usize| oracle::pow(&a[item], &b[item], modulus(item));
            let product = |item: usize| oracle::mul_mod(&a[item], &b[item], modulus(item));
            expect("pow", engine.pow(&a_batch, &b_batch, chosen), &power)?;
            expect("pow_vartime", engine.pow(&a_batch, Public(&b_batch), chosen), &power)?;
            expect("mul_mod", engine.mul_mod(&a_batch, &b_batch, chosen), &product)?;
        }
    }
    Ok(())
}
