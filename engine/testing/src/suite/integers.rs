//! Operations on whole numbers: quotients, square roots, divisors, symbols, sums modulo numbers, numbers from
//! two remainders.

use super::check::{expect, expect_width};
use super::{Outcome, Suite};
use crate::hard;
use crate::oracle::{self, batch, batch_of_width, number, show};
use crate::rng::Rng;
use modmill::{Batch, Engine, Error, ItemError, ItemErrorKind, integers};
use num_bigint::BigUint;

/// A check of an operation, for a length in bits and a number of items.
type Check = fn(&Engine, usize, usize) -> Outcome;

pub(super) fn run(suite: &mut Suite<'_>) {
    let count = suite.effort.choose(40, 200);
    for bits in suite.effort.some([1, 30, 63, 64, 65, 128, 256, 384, 521, 1024, 2048, 4096]) {
        let cases: [(&str, Check); 7] = [
            ("quotients", quotients),
            ("exact quotients", exact_quotients),
            ("square roots", square_roots),
            ("divisors and multiples", divisors),
            ("Jacobi symbols", symbols),
            ("sums and differences", sums),
            ("numbers from two remainders", joined),
        ];
        for (name, check) in cases {
            suite.case(format!("{name}, {bits} bits"), |engine| check(engine, bits, count));
        }
    }
    suite.case("quotients name divisors of zero and answer the others", zero_divisors);
}

fn text(error: Error) -> String {
    error.to_string()
}

/// Divisors of at most `bits` bits: of all lengths, and of one length and hard.
fn moduli(bits: usize, count: usize, rng: &mut Rng) -> Vec<BigUint> {
    let mut moduli = hard::odd_moduli(bits, count.min(6), rng);
    moduli.push(hard::power_of_two(bits - 1));
    while moduli.len() < count {
        let length = if rng.below(2) == 0 { bits } else { 1 + rng.below(bits) };
        moduli.push(rng.exact(length));
    }
    moduli.truncate(count);
    moduli
}

/// Dividends: hard numbers of twice the length, multiples of the divisors, and neighbours of multiples, for
/// which a digit of a quotient is estimated too high or too low.
fn dividends(divisors: &[BigUint], bits: usize, rng: &mut Rng) -> Vec<BigUint> {
    let dividend = |n: &BigUint| match rng.below(5) {
        0 => n * hard::number(bits, rng),
        1 => n * hard::number(bits, rng) + n - 1u8,
        2 => (n * hard::ones(bits)) - 1u8,
        3 => hard::number(bits, rng),
        _ => hard::number(2 * bits, rng),
    };
    divisors.iter().map(dividend).collect()
}

fn quotients(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let mut rng = Rng::new(70_000 + bits as u64);
    let n = moduli(bits, count, &mut rng);
    let a = dividends(&n, bits, &mut rng);
    let (numbers, divisors) = (batch_of_width(&a, 2 * bits), batch(&n));
    let expected: Vec<BigUint> = a.iter().zip(&n).map(|(a, n)| a / n).collect();
    let rests: Vec<BigUint> = a.iter().zip(&n).map(|(a, n)| a % n).collect();
    let (found, remainders) = engine.div_rem(&numbers, &divisors).map_err(text)?;
    let named: [(&str, &[BigUint]); 2] = [("a", &a), ("n", &n)];
    expect_width(&found, 2 * bits)?;
    expect(&named, &expected, &found)?;
    expect(&named, &rests, &remainders)?;
    expect(&named, &rests, &engine.reduce(&numbers, &divisors).map_err(text)?)?;
    expect(&named, &expected, &engine.div(&numbers, &divisors).map_err(text)?)?;
    // Divisors of one length alone, which lanes take together, and the first divisor for all.
    let longest: Vec<usize> = (0..count).filter(|&item| n[item].bits() == bits as u64).collect();
    let some = |all: &[BigUint]| -> Vec<BigUint> { longest.iter().map(|&item| all[item].clone()).collect() };
    let (a, n) = (some(&a), some(&n));
    let (found, remainders) =
        engine.div_rem(&batch_of_width(&a, 2 * bits), &batch_of_width(&n, bits)).map_err(text)?;
    expect(&[("a", &a), ("n", &n)], &some(&expected), &found)?;
    expect(&[("a", &a), ("n", &n)], &some(&rests), &remainders)
}

fn exact_quotients(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let mut rng = Rng::new(71_000 + bits as u64);
    let n = moduli(bits, count, &mut rng);
    let expected: Vec<BigUint> = (0..count).map(|_| hard::number(bits, &mut rng)).collect();
    let a: Vec<BigUint> = n.iter().zip(&expected).map(|(n, quotient)| n * quotient).collect();
    let found = integers::div_exact(engine, &batch_of_width(&a, 2 * bits), &batch(&n)).map_err(text)?;
    expect(&[("a", &a), ("n", &n)], &expected, &found)
}

fn square_roots(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let mut rng = Rng::new(72_000 + bits as u64);
    let mut a = hard::patterns(bits);
    a.truncate(count);
    while a.len() < 2 * count {
        // Squares and their neighbours, and numbers right below the next square.
        let root = hard::number(bits.div_ceil(2), &mut rng);
        let square = &root * &root;
        a.push(match rng.below(5) {
            0 => hard::number(bits, &mut rng),
            1 => &square + 2u8 * &root,
            2 => &square + 1u8,
            3 if root.bits() > 0 => square - 1u8,
            _ => square,
        });
    }
    a.retain(|a| a.bits() <= bits as u64);
    let expected: Vec<BigUint> = a.iter().map(BigUint::sqrt).collect();
    let rests: Vec<BigUint> = a.iter().zip(&expected).map(|(a, root)| a - root * root).collect();
    let numbers = batch_of_width(&a, bits);
    let found = integers::isqrt(engine, &numbers).map_err(text)?;
    expect_width(&found, bits.div_ceil(2))?;
    expect(&[("a", &a)], &expected, &found)?;
    let (roots, remainders) = integers::sqrt_rem(engine, &numbers).map_err(text)?;
    expect(&[("a", &a)], &expected, &roots)?;
    expect(&[("a", &a)], &rests, &remainders)?;
    let verdicts = integers::is_square(engine, &numbers).map_err(text)?;
    let zero = BigUint::ZERO;
    match (0..a.len()).find(|&item| verdicts[item] != (rests[item] == zero)) {
        Some(item) => Err(format!("wrong: whether {} is a square", show(&a[item]))),
        None => Ok(()),
    }
}

/// Pairs of numbers: hard ones, and ones that share a factor.
fn pairs(bits: usize, count: usize, rng: &mut Rng) -> [Vec<BigUint>; 2] {
    let half = bits.div_ceil(2);
    let mut pair = || {
        let common = hard::number(bits - half, rng);
        match rng.below(3) {
            0 => [&common * hard::number(half, rng), &common * hard::number(half, rng)],
            1 => [hard::number(bits, rng), common],
            _ => [hard::number(bits, rng), hard::number(bits, rng)],
        }
    };
    let (a, b) = (0..count).map(|_| pair().into()).unzip();
    [a, b]
}

fn divisors(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let [a, b] = pairs(bits, count, &mut Rng::new(73_000 + bits as u64));
    let common: Vec<BigUint> = a.iter().zip(&b).map(|(a, b)| oracle::gcd(a, b)).collect();
    let multiple = |item: usize| match common[item].bits() {
        0 => BigUint::ZERO,
        _ => &a[item] / &common[item] * &b[item],
    };
    let (left, right) = (batch_of_width(&a, bits), batch_of_width(&b, bits));
    expect(&[("a", &a), ("b", &b)], &common, &engine.gcd(&left, &right).map_err(text)?)?;
    let multiples: Vec<BigUint> = (0..count).map(multiple).collect();
    expect(&[("a", &a), ("b", &b)], &multiples, &integers::lcm(engine, &left, &right).map_err(text)?)
}

fn symbols(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let [a, mut n] = pairs(bits, count, &mut Rng::new(74_000 + bits as u64));
    // One modulus in five stays as it is, and may be even or zero.
    for (item, n) in n.iter_mut().enumerate() {
        n.set_bit(0, n.bit(0) || item % 5 > 0);
    }
    let found = engine.jacobi(&batch_of_width(&a, bits), &batch_of_width(&n, bits)).map_err(text)?;
    for item in 0..count {
        let expected = n[item].bit(0).then(|| oracle::jacobi(&a[item], &n[item]));
        let found = found[item].map(i8::from);
        if found != expected {
            return Err(format!("({} / {}): {found:?} for {expected:?}", show(&a[item]), show(&n[item])));
        }
    }
    Ok(())
}

fn sums(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let mut rng = Rng::new(75_000 + bits as u64);
    let n = moduli(bits, count, &mut rng);
    let mut pick = || -> Vec<BigUint> { (0..count).map(|_| hard::number(bits, &mut rng)).collect() };
    let (a, b) = (pick(), pick());
    let (left, right, moduli) = (batch(&a), batch(&b), batch(&n));
    let of = |operation: fn(&BigUint, &BigUint, &BigUint) -> BigUint| -> Vec<BigUint> {
        (0..count).map(|item| operation(&a[item], &b[item], &n[item])).collect()
    };
    let named: [(&str, &[BigUint]); 3] = [("a", &a), ("b", &b), ("n", &n)];
    let found = integers::add_mod(engine, &left, &right, &moduli).map_err(text)?;
    expect(&named, &of(|a, b, n| (a + b) % n), &found)?;
    let found = integers::sub_mod(engine, &left, &right, &moduli).map_err(text)?;
    expect(&named, &of(|a, b, n| (a % n + n - b % n) % n), &found)
}

fn joined(engine: &Engine, bits: usize, count: usize) -> Outcome {
    let mut rng = Rng::new(76_000 + bits as u64);
    let m = moduli(bits, count, &mut rng);
    // Neighbours are coprime.
    let n: Vec<BigUint> = m.iter().map(|m| m + 1u8).collect();
    let mut pick = || -> Vec<BigUint> { (0..count).map(|_| hard::number(bits, &mut rng)).collect() };
    let (a, b) = (pick(), pick());
    let found = integers::crt(engine, (&batch(&a), &batch(&m)), (&batch(&b), &batch(&n))).map_err(text)?;
    for item in 0..count {
        let (found, m, n) = (number(found.get(item)), &m[item], &n[item]);
        if &found % m != &a[item] % m || &found % n != &b[item] % n || found >= m * n {
            let [a, b, m, n, found] = [&a[item], &b[item], m, n, &found].map(show);
            return Err(format!("{found} for {a} modulo {m} and {b} modulo {n}"));
        }
    }
    Ok(())
}

fn zero_divisors(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(77_000);
    let a: Vec<BigUint> = (0..40).map(|_| rng.exact(512)).collect();
    // One in every group of lanes, and a group of nothing but zeros.
    let is_zero = |item: usize| item % 7 == 3 || (16..24).contains(&item);
    let n: Vec<BigUint> =
        (0..40).map(|item| if is_zero(item) { BigUint::ZERO } else { rng.exact(256) }).collect();
    let failed: Vec<ItemError> = (0..40)
        .filter(|&item| is_zero(item))
        .map(|index| ItemError { index, kind: ItemErrorKind::ZeroModulus })
        .collect();
    let expected = |operation: fn(&BigUint, &BigUint) -> BigUint| -> Vec<BigUint> {
        let answer = |item: usize| if is_zero(item) { BigUint::ZERO } else { operation(&a[item], &n[item]) };
        (0..40).map(answer).collect()
    };
    let (numbers, divisors) = (batch(&a), batch(&n));
    let check = |outcome: Result<Batch, Error>, expected: Vec<BigUint>| match outcome {
        Err(Error::Items(partial)) if partial.failed == failed => {
            expect(&[("a", &a), ("n", &n)], &expected, &partial.answers)
        }
        Err(error) => Err(format!("another error: {error}")),
        Ok(_) => Err("divisors of zero were accepted".to_owned()),
    };
    check(engine.div(&numbers, &divisors), expected(|a, n| a / n))?;
    check(engine.div_rem(&numbers, &divisors).map(|(quotients, _)| quotients), expected(|a, n| a % n))?;
    check(engine.reduce(&numbers, &divisors), expected(|a, n| a % n))
}
