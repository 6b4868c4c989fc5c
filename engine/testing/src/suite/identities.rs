//! Identities that all answers satisfy. They need no oracle, so long numbers are cheap to check.

use super::check::expect_same;
use super::{Outcome, Suite};
use crate::hard;
use crate::oracle::batch;
use crate::rng::Rng;
use modmill::{Batch, Engine, Error, Public};
use num_bigint::BigUint;

pub(super) fn run(suite: &mut Suite<'_>) {
    let large = suite.effort.choose(2048, 8192);
    for bits in suite.effort.some([5, 53, 64, 65, 192, 256, 521, 1040, 2048, 4096, 8192]) {
        if bits > large {
            continue;
        }
        let count = if bits > 1100 { 2 } else { 11 };
        let mut rng = Rng::new(50_000 + bits as u64);
        let mut moduli: Vec<BigUint> = hard::odd_moduli(bits, 6, &mut rng).into_iter().rev().collect();
        moduli.extend(hard::even_moduli(bits, 6, &mut rng));
        let pick = |rng: &mut Rng| -> Vec<BigUint> { (0..count).map(|_| hard::number(bits, rng)).collect() };
        let moduli: Vec<BigUint> = (0..count).map(|item| moduli[item % moduli.len()].clone()).collect();
        let (a, b, n) = (batch(&pick(&mut rng)), batch(&pick(&mut rng)), batch(&moduli));
        suite.case(format!("products commute, {bits} bits"), |engine| {
            products(engine, &a, &b, &n).map_err(text)?
        });
        let seed = bits as u64;
        let length = bits / 2;
        suite.case(format!("powers add and multiply, {bits} bits"), |engine| {
            powers(engine, &a, &n, length, seed).map_err(text)?
        });
        suite.case(format!("numbers times their inverses, {bits} bits"), |engine| {
            inverses(engine, &a, &n).map_err(text)?
        });
    }
}

fn text(error: Error) -> String {
    error.to_string()
}

fn products(engine: &Engine, a: &Batch, b: &Batch, n: &Batch) -> Result<Outcome, Error> {
    let product = engine.mul_mod(a, b, n)?;
    let one = Batch::from_values([[1u64]]);
    let reduced = engine.mul_mod(&engine.mul(a, b)?, one.shared(0), n)?;
    let two = Batch::from_values([[2u64]]);
    let squares = engine.square_mod(a, n)?;
    let checks = [
        ("a b = b a", &product, &engine.mul_mod(b, a, n)?),
        ("a b reduced = a b", &product, &reduced),
        ("a a = a^2", &squares, &engine.mul_mod(a, a, n)?),
        ("a^2 = a squared", &squares, &engine.pow(a, two.shared(0), n)?),
        ("a^2 = a squared, vartime", &squares, &engine.pow(a, Public(two.shared(0)), n)?),
        ("full products commute", &engine.mul(a, b)?, &engine.mul(b, a)?),
    ];
    Ok(checks.into_iter().try_for_each(|(what, left, right)| expect_same(what, left, right)))
}

/// `a^x a^y = a^(x+y)` and `(a^x)^y = a^(x y)`; x and y together are as long as the modulus.
fn powers(engine: &Engine, a: &Batch, n: &Batch, length: usize, seed: u64) -> Result<Outcome, Error> {
    let mut rng = Rng::new(seed);
    let draw =
        |rng: &mut Rng| -> Vec<BigUint> { (0..a.len()).map(|_| hard::number(length.max(1), rng)).collect() };
    let (x, y) = (draw(&mut rng), draw(&mut rng));
    let join = |with: &dyn Fn(&BigUint, &BigUint) -> BigUint| {
        batch(&x.iter().zip(&y).map(|(x, y)| with(x, y)).collect::<Vec<_>>())
    };
    let (sum, product) = (join(&|x, y| x + y), join(&|x, y| x * y));
    let (x, y) = (batch(&x), batch(&y));
    let (first, second) = (engine.pow(a, &x, n)?, engine.pow(a, &y, n)?);
    let checks = [
        ("a^x a^y = a^(x+y)", engine.mul_mod(&first, &second, n)?, engine.pow(a, &sum, n)?),
        ("(a^x)^y = a^(xy)", engine.pow(&first, &y, n)?, engine.pow(a, &product, n)?),
        (
            "(a^y)^x = a^(xy), vartime",
            engine.pow(&second, Public(&x), n)?,
            engine.pow(a, Public(&product), n)?,
        ),
    ];
    Ok(checks.into_iter().try_for_each(|(what, left, right)| expect_same(what, &left, &right)))
}

/// `a a^-1 = 1` and `(a^-1)^-1 = a` where there is an inverse. Odd numbers modulo powers of two, and the
/// neighbours of a modulus, always have one.
fn inverses(engine: &Engine, a: &Batch, n: &Batch) -> Result<Outcome, Error> {
    let (inverses, failed) = match engine.inv(a, n) {
        Ok(inverses) => (inverses, Vec::new()),
        Err(Error::Items(partial)) => (partial.answers, partial.failed),
        Err(other) => return Err(other),
    };
    let units = engine.mul_mod(a, &inverses, n)?;
    for item in (0..a.len()).filter(|item| failed.iter().all(|error| error.index != *item)) {
        if units.to_hex(item) != "1" {
            return Ok(Err(format!(
                "{} times {} is {} modulo {}",
                a.to_hex(item),
                inverses.to_hex(item),
                units.to_hex(item),
                n.to_hex(item)
            )));
        }
    }
    // N - 1 is its own inverse for every N >= 2.
    let one = BigUint::from(1u8);
    let minus_one: Vec<BigUint> = crate::oracle::numbers(n).into_iter().map(|n| n - &one).collect();
    let minus_one = crate::oracle::batch_of_width(&minus_one, n.bits());
    Ok(expect_same("(-1)^-1 = -1", &engine.inv(&minus_one, n)?, &minus_one))
}
