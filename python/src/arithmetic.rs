//! The functions of the package that compute with numbers.

use crate::arguments::{Call, Options, count};
use crate::column::Column;
use crate::signs;
use modmill::{Batch, Engine, Error, ItemError, Public};
use pyo3::prelude::*;

/// `base^exp` modulo `modulus`. With a negative exponent the base is inverted, as Python's `pow` does it.
#[pyfunction]
pub(crate) fn powmod<'py>(
    py: Python<'py>,
    base: &Bound<'py, PyAny>,
    exp: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    secret: bool,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(py, options)?;
    let [base, exp, modulus] = call.columns([("base", base), ("exp", exp), ("mod", modulus)])?;
    let columns = [&base, &exp, &modulus];
    let items = count(&columns);
    let moduli = call.moduli(&modulus, items)?;
    let resident = call.on_device(&columns, |device| match secret {
        true => device.pow(base.operand(), exp.operand(), moduli.of_engine()),
        false => device.pow(base.operand(), Public(exp.operand()), moduli.of_engine()),
    })?;
    if let Some(powers) = resident {
        return Ok(powers);
    }
    let power = |engine: &Engine| {
        let pow = |bases: modmill::Operand<'_>| match secret {
            true => engine.pow(bases, exp.operand(), moduli.of_engine()),
            false => engine.pow(bases, Public(exp.operand()), moduli.of_engine()),
        };
        let powers = match exp.negative.is_empty() {
            true => pow(base.operand()),
            false => {
                let (bases, failed) = signs::inverted(engine, &base, &exp, &moduli, items)?;
                with_failed(pow((&bases).into()), failed)
            }
        };
        if base.negative.is_empty() {
            return powers;
        }
        let is_odd = |item: usize| exp.get(item)[0] & 1 == 1;
        in_answers(powers, |answers| {
            signs::negate(answers, &moduli, |item| base.is_negative(item) && is_odd(item));
        })
    };
    let limbs = modulus.bits().div_ceil(64);
    let steps = items.saturating_mul(exp.bits()).saturating_mul(limbs * limbs);
    let powers = call.run(items, steps, power)?;
    call.deliver(call.answers(powers, &columns)?, &columns)
}

/// `a b` modulo `modulus`.
#[pyfunction]
pub(crate) fn mulmod<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(py, options)?;
    let [a, b, modulus] = call.columns([("a", a), ("b", b), ("mod", modulus)])?;
    let columns = [&a, &b, &modulus];
    let items = count(&columns);
    let moduli = call.moduli(&modulus, items)?;
    let resident =
        call.on_device(&columns, |device| device.mul_mod(a.operand(), b.operand(), moduli.of_engine()))?;
    if let Some(products) = resident {
        return Ok(products);
    }
    let multiply = |engine: &Engine| {
        let products = engine.mul_mod(a.operand(), b.operand(), moduli.of_engine());
        if a.negative.is_empty() && b.negative.is_empty() {
            return products;
        }
        in_answers(products, |answers| {
            signs::negate(answers, &moduli, |item| a.is_negative(item) != b.is_negative(item));
        })
    };
    let products = call.run(items, items.saturating_mul(square_of_limbs(&columns)), multiply)?;
    call.deliver(call.answers(products, &columns)?, &columns)
}

/// The inverse of `a` modulo `modulus`.
#[pyfunction]
pub(crate) fn invert<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(py, options)?;
    let [a, modulus] = call.columns([("a", a), ("mod", modulus)])?;
    let columns = [&a, &modulus];
    let items = count(&columns);
    let moduli = call.moduli(&modulus, items)?;
    let inverse = |engine: &Engine| {
        let inverses = engine.inv(a.operand(), moduli.of_engine());
        if a.negative.is_empty() {
            return inverses;
        }
        in_answers(inverses, |answers| signs::negate(answers, &moduli, |item| a.is_negative(item)))
    };
    // An inverse takes the time of some dozens of products.
    let steps = items.saturating_mul(64).saturating_mul(square_of_limbs(&columns));
    let inverses = call.run(items, steps, inverse)?;
    call.deliver(call.answers(inverses, &columns)?, &columns)
}

/// The greatest common divisor of `a` and `b`.
#[pyfunction]
pub(crate) fn gcd<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(py, options)?;
    let [a, b] = call.columns([("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let items = count(&columns);
    let steps = items.saturating_mul(64).saturating_mul(square_of_limbs(&columns));
    let divisors = call.run(items, steps, |engine| engine.gcd(a.operand(), b.operand()))?;
    call.deliver(call.answers(divisors, &columns)?, &columns)
}

/// The product of `a` and `b`.
#[pyfunction]
pub(crate) fn mul<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(py, options)?;
    let [a, b] = call.columns([("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let items = count(&columns);
    if let Some(products) = call.on_device(&columns, |device| device.mul(a.operand(), b.operand()))? {
        return Ok(products);
    }
    let steps = items.saturating_mul(square_of_limbs(&columns));
    let products = call.run(items, steps, |engine| engine.mul(a.operand(), b.operand()))?;
    let mut answers = call.answers(products, &columns)?;
    if !(a.negative.is_empty() && b.negative.is_empty()) {
        answers.negative = (0..items).filter(|&item| a.is_negative(item) != b.is_negative(item)).collect();
    }
    call.deliver(answers, &columns)
}

/// The square of the number of limbs of the widest column.
fn square_of_limbs(columns: &[&Column]) -> usize {
    let limbs = columns.iter().map(|column| column.bits().div_ceil(64)).max().unwrap_or(1);
    limbs.saturating_mul(limbs)
}

/// Changes the answers, also where some items failed.
fn in_answers(computed: Result<Batch, Error>, change: impl FnOnce(&mut Batch)) -> Result<Batch, Error> {
    match computed {
        Ok(mut answers) => {
            change(&mut answers);
            Ok(answers)
        }
        Err(Error::Items(mut partial)) => {
            change(&mut partial.answers);
            Err(Error::Items(partial))
        }
        Err(error) => Err(error),
    }
}

/// Adds failed items to those of a computation.
fn with_failed(computed: Result<Batch, Error>, mut failed: Vec<ItemError>) -> Result<Batch, Error> {
    let answers = match computed {
        Ok(answers) if failed.is_empty() => return Ok(answers),
        Ok(answers) => answers,
        Err(Error::Items(partial)) => {
            failed.retain(|item| partial.failed.iter().all(|other| other.index != item.index));
            failed.extend(&partial.failed);
            partial.answers.clone()
        }
        Err(error) => return Err(error),
    };
    failed.sort_by_key(|item| item.index);
    Err(Error::items(answers, failed))
}
