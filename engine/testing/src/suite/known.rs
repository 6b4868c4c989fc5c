//! Known answers, computed by other programs.

use super::check::{expect, inverses};
use super::{Outcome, Suite};
use crate::groups::groups;
use crate::oracle::batch;
use modmill::{Batch, Engine, Modulus, Public, primality};
use num_bigint::BigUint;

/// Written by `engine/testing/vectors/generate.py` with Python's integers.
const POW: &str = include_str!("../../vectors/pow.jsonl");
const INV: &str = include_str!("../../vectors/inv.jsonl");

pub(super) fn run(suite: &mut Suite<'_>) {
    let longest = suite.effort.choose(2048, usize::MAX);
    suite.case("pow, known answers", |engine| powers(engine, false, longest));
    suite.case("pow_vartime, known answers", |engine| powers(engine, true, longest));
    suite.case("inv, known answers", known_inverses);
    for group in groups(suite.effort.choose(2048, 8192)) {
        suite.case(format!("{} is a safe prime", group.name), |engine| safe_prime(engine, &group.prime));
    }
}

/// The value of a field of a line of flat JSON; `None` for null.
fn field(line: &str, name: &str) -> Option<BigUint> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    let text = rest.strip_prefix('"')?;
    let (digits, _) = text.split_once('"')?;
    BigUint::parse_bytes(digits.as_bytes(), 16)
}

fn column(text: &str, name: &str) -> Vec<BigUint> {
    text.lines().map(|line| field(line, name).unwrap_or_default()).collect()
}

/// All known powers with exponents of at most `longest` bits.
fn powers(engine: &Engine, vartime: bool, longest: usize) -> Outcome {
    let exponents = column(POW, "exp");
    let [base, exp, modulus, result] = ["base", "exp", "mod", "result"].map(|name| {
        let numbers = column(POW, name).into_iter().zip(&exponents);
        numbers.filter(|(_, exp)| exp.bits() <= longest as u64).map(|(number, _)| number).collect::<Vec<_>>()
    });
    let inputs = [("base", &base[..]), ("exp", &exp), ("mod", &modulus)];
    // One line per batch, because all exponents of a batch are as wide as the longest.
    let found: Result<Vec<BigUint>, String> = (0..base.len())
        .map(|item| {
            let one = |numbers: &[BigUint]| batch(&numbers[item..=item]);
            let (a, b, n) = (one(&base), one(&exp), one(&modulus));
            let found = if vartime { engine.pow(&a, Public(&b), &n) } else { engine.pow(&a, &b, &n) };
            Ok(crate::oracle::number(found.map_err(|error| error.to_string())?.get(0)))
        })
        .collect();
    expect(&inputs, &result, &batch(&found?))?;
    // The short ones again, in one batch.
    let short: Vec<usize> = (0..base.len()).filter(|&item| modulus[item].bits() <= 300).collect();
    let some = |numbers: &[BigUint]| short.iter().map(|&item| numbers[item].clone()).collect::<Vec<_>>();
    let (a, b, n) = (some(&base), some(&exp), some(&modulus));
    let found = if vartime {
        engine.pow(&batch(&a), Public(&batch(&b)), &batch(&n))
    } else {
        engine.pow(&batch(&a), &batch(&b), &batch(&n))
    };
    expect(
        &[("base", &a), ("exp", &b), ("mod", &n)],
        &some(&result),
        &found.map_err(|error| error.to_string())?,
    )
}

fn known_inverses(engine: &Engine) -> Outcome {
    let [a, n] = ["a", "mod"].map(|name| column(INV, name));
    let expected: Vec<Option<BigUint>> = INV.lines().map(|line| field(line, "result")).collect();
    inverses(engine.inv(&batch(&a), &batch(&n)), &a, &n, &expected)
}

/// p and q = (p - 1) / 2 are prime; 2 is a square modulo p, so that 2^q = 1; -1 is not one, so
/// that (-1)^q = -1 (p = 3 mod 4).
fn safe_prime(engine: &Engine, prime: &BigUint) -> Outcome {
    let text = |error: modmill::Error| error.to_string();
    let half: BigUint = prime >> 1;
    let both = batch(&[prime.clone(), half.clone()]);
    if primality::is_probable_prime(engine, &both, &[2, 3]).map_err(text)? != [true, true] {
        return Err("p or (p - 1) / 2 is not prime".to_owned());
    }
    // The primes are found among other numbers of a batch, which are not primes.
    let beside = batch(&[prime.clone(), prime - 2u8, prime.clone(), half + 2u8]);
    let verdicts = primality::is_probable_prime(engine, &beside, &[2]).map_err(text)?;
    if verdicts != [true, false, true, false] {
        return Err(format!("p, p - 2, p, q + 2: {verdicts:?}"));
    }
    let modulus = Modulus::new(&prime.to_u64_digits()).map_err(text)?;
    let bases = [BigUint::from(2u8), prime - 1u8, BigUint::from(4u8), BigUint::from(1u8)];
    let exponent = Batch::from_values([(prime >> 1usize).to_u64_digits()]);
    let found = engine.pow(&batch(&bases), exponent.shared(0), &modulus).map_err(text)?;
    let one = BigUint::from(1u8);
    expect(&[("base", &bases)], &[one.clone(), prime - 1u8, one.clone(), one], &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_answers_are_read() {
        assert!(POW.lines().count() > 100 && INV.lines().count() > 200);
        for line in POW.lines() {
            let [base, exp, modulus, result] =
                ["base", "exp", "mod", "result"].map(|name| field(line, name).unwrap());
            assert_eq!(crate::oracle::pow(&base, &exp, &modulus), result);
        }
        for line in INV.lines() {
            let [a, modulus] = ["a", "mod"].map(|name| field(line, name).unwrap());
            assert_eq!(crate::oracle::inv(&a, &modulus), field(line, "result"));
        }
    }
}
