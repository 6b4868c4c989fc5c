//! Checks of operations against the oracles. A report shows the inputs.

use super::Outcome;
use crate::oracle::{self, batch, show};
use modmill::{Batch, Engine, Error, ItemErrorKind, Modulus, Public};
use num_bigint::BigUint;

/// The items of a call: `a` and `b` are factors, or base and exponent.
#[derive(Debug, Default, Clone)]
pub(super) struct Items {
    pub(super) a: Vec<BigUint>,
    pub(super) b: Vec<BigUint>,
    pub(super) n: Vec<BigUint>,
}

impl Items {
    pub(super) fn push(&mut self, a: BigUint, b: BigUint, n: BigUint) {
        self.a.push(a);
        self.b.push(b);
        self.n.push(n);
    }

    pub(super) fn len(&self) -> usize {
        self.n.len()
    }

    fn map(&self, operation: impl Fn(&BigUint, &BigUint, &BigUint) -> BigUint) -> Vec<BigUint> {
        (0..self.len()).map(|item| operation(&self.a[item], &self.b[item], &self.n[item])).collect()
    }

    fn batches(&self) -> [Batch; 3] {
        [batch(&self.a), batch(&self.b), batch(&self.n)]
    }

    fn named(&self) -> [(&'static str, &[BigUint]); 3] {
        [("a", &self.a), ("b", &self.b), ("n", &self.n)]
    }

    /// The powers of all items, computed by the oracle.
    pub(super) fn powers(&self) -> Vec<BigUint> {
        self.map(oracle::pow)
    }
}

/// A check of some items.
pub(super) type Check = fn(&Engine, &Items) -> Outcome;

/// The operations that cost about one product.
pub(super) const CHEAP: [(&str, Check); 5] =
    [("mul", mul), ("square", square), ("mul_mod", mul_mod), ("square_mod", square_mod), ("reduce", reduce)];

/// Every operation on items.
pub(super) const ALL: [(&str, Check); 8] = [
    ("mul", mul),
    ("square", square),
    ("mul_mod", mul_mod),
    ("square_mod", square_mod),
    ("reduce", reduce),
    ("pow", pow),
    ("pow_vartime", pow_vartime),
    ("inv", inv),
];

fn mul(engine: &Engine, items: &Items) -> Outcome {
    let [a, b, _] = items.batches();
    let found = engine.mul(&a, &b).map_err(|error| error.to_string())?;
    expect_width(&found, a.bits() + b.bits())?;
    expect(&items.named()[..2], &items.map(|a, b, _| a * b), &found)
}

fn square(engine: &Engine, items: &Items) -> Outcome {
    let [a, _, _] = items.batches();
    let found = engine.square(&a).map_err(|error| error.to_string())?;
    expect_width(&found, 2 * a.bits())?;
    expect(&items.named()[..1], &items.map(|a, _, _| a * a), &found)
}

fn mul_mod(engine: &Engine, items: &Items) -> Outcome {
    let [a, b, n] = items.batches();
    let found = engine.mul_mod(&a, &b, &n).map_err(|error| error.to_string())?;
    expect_width(&found, n.bits())?;
    expect(&items.named(), &items.map(oracle::mul_mod), &found)
}

fn square_mod(engine: &Engine, items: &Items) -> Outcome {
    let [a, _, n] = items.batches();
    let found = engine.square_mod(&a, &n).map_err(|error| error.to_string())?;
    expect_width(&found, n.bits())?;
    expect(&items.named(), &items.map(|a, _, n| oracle::mul_mod(a, a, n)), &found)
}

/// Checks the remainders of all `a`, and of all `a` by the first modulus.
fn reduce(engine: &Engine, items: &Items) -> Outcome {
    let [a, _, n] = items.batches();
    let found = engine.reduce(&a, &n).map_err(|error| error.to_string())?;
    expect_width(&found, n.bits())?;
    expect(&items.named(), &items.map(|a, _, n| a % n), &found)?;
    let Some(first) = items.n.first() else { return Ok(()) };
    let modulus = Modulus::new(&first.to_u64_digits()).map_err(|error| error.to_string())?;
    let found = engine.reduce(&a, &modulus).map_err(|error| error.to_string())?;
    expect(&items.named()[..1], &items.map(|a, _, _| a % first), &found)
        .map_err(|wrong| format!("modulo {}: {wrong}", show(first)))
}

fn pow(engine: &Engine, items: &Items) -> Outcome {
    powers(engine, items, &items.powers())
}

fn pow_vartime(engine: &Engine, items: &Items) -> Outcome {
    powers_vartime(engine, items, &items.powers())
}

/// Compares [`Engine::pow`] with given answers.
pub(super) fn powers(engine: &Engine, items: &Items, expected: &[BigUint]) -> Outcome {
    let [a, b, n] = items.batches();
    let found = engine.pow(&a, &b, &n).map_err(|error| error.to_string())?;
    expect_width(&found, n.bits())?;
    expect(&items.named(), expected, &found)
}

/// Compares [`Engine::pow`] by public exponents with given answers.
pub(super) fn powers_vartime(engine: &Engine, items: &Items, expected: &[BigUint]) -> Outcome {
    let [a, b, n] = items.batches();
    let found = engine.pow(&a, Public(&b), &n).map_err(|error| error.to_string())?;
    expect_width(&found, n.bits())?;
    expect(&items.named(), expected, &found)
}

/// Checks the inverses of all `a`. Items without an inverse must be named, and the others answered.
pub(super) fn inv(engine: &Engine, items: &Items) -> Outcome {
    let [a, _, n] = items.batches();
    let expected: Vec<Option<BigUint>> =
        items.a.iter().zip(&items.n).map(|(a, n)| oracle::inv(a, n)).collect();
    inverses(engine.inv(&a, &n), &items.a, &items.n, &expected)
}

/// Compares inverses with the expected ones, which are `None` for items without an inverse.
pub(super) fn inverses(
    found: Result<Batch, Error>,
    a: &[BigUint],
    n: &[BigUint],
    expected: &[Option<BigUint>],
) -> Outcome {
    let (answers, failed) = match found {
        Ok(answers) => (answers, Vec::new()),
        Err(Error::Items(partial)) => (partial.answers, partial.failed),
        Err(other) => return Err(other.to_string()),
    };
    for (item, expected) in expected.iter().enumerate() {
        let refused = failed.iter().find(|error| error.index == item).map(|error| error.kind);
        let inputs = || format!("item {item}: a = {}, n = {}", show(&a[item]), show(&n[item]));
        match (expected, refused) {
            (Some(_), None) => {}
            (None, Some(ItemErrorKind::NotInvertible)) => {}
            (Some(inverse), Some(kind)) => {
                return Err(format!("{}: expected {}, refused: {kind}", inputs(), show(inverse)));
            }
            (None, other) => return Err(format!("{}: has no inverse, but {other:?}", inputs())),
        }
    }
    if !failed.is_sorted_by(|a, b| a.index < b.index) {
        return Err("failed items are not in order".to_owned());
    }
    let expected: Vec<BigUint> = expected.iter().map(|inverse| inverse.clone().unwrap_or_default()).collect();
    expect(&[("a", a), ("n", n)], &expected, &answers)
}

/// Describes the first wrong item with its inputs, and the number of wrong items.
pub(super) fn expect(inputs: &[(&str, &[BigUint])], expected: &[BigUint], found: &Batch) -> Outcome {
    if found.len() != expected.len() {
        return Err(format!("{} answers where {} were expected", found.len(), expected.len()));
    }
    let found = oracle::numbers(found);
    let wrong: Vec<usize> = (0..expected.len()).filter(|&item| found[item] != expected[item]).collect();
    let Some(&item) = wrong.first() else { return Ok(()) };
    let shown: Vec<String> =
        inputs.iter().map(|(name, values)| format!("{name} = {}", show(&values[item]))).collect();
    Err(format!(
        "{} of {} items wrong; item {item}: {}: expected {}, found {}",
        wrong.len(),
        expected.len(),
        shown.join(", "),
        show(&expected[item]),
        show(&found[item])
    ))
}

/// Checks that answers are as wide as the moduli, and products as wide as both factors together.
pub(super) fn expect_width(found: &Batch, bits: usize) -> Outcome {
    if found.bits() == bits {
        Ok(())
    } else {
        Err(format!("answers of {} bits, expected {bits}", found.bits()))
    }
}

/// Checks that two batches are equal.
pub(super) fn expect_same(what: &str, left: &Batch, right: &Batch) -> Outcome {
    if left.len() != right.len() {
        return Err(format!("{what}: {} and {} items", left.len(), right.len()));
    }
    match (0..left.len()).find(|&item| left.get(item) != right.get(item)) {
        None => Ok(()),
        Some(item) => Err(format!("{what}: item {item}: {} and {}", left.to_hex(item), right.to_hex(item))),
    }
}
