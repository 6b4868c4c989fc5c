//! The functions of the package that compute with numbers.

use crate::arguments::{Call, Options, square_of_limbs};
use crate::column::Column;
use crate::signs;
use modmill::{Batch, Engine, Error, ItemError, Public};
use pyo3::prelude::*;

/// The products that an inverse or a divisor takes the time of, about.
const INVERSE: usize = 64;

/// `base^exp` modulo `modulus`. With a negative exponent the base is inverted, as Python's `pow` does it.
#[pyfunction]
pub(crate) fn powmod<'py>(
    base: &Bound<'py, PyAny>,
    exp: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    secret: bool,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [base, exp, modulus], items) =
        Call::of(options, [("base", base), ("exp", exp), ("mod", modulus)])?;
    let columns = [&base, &exp, &modulus];
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
        let is_odd = |item: usize| exp.get(item)[0] & 1 == 1;
        in_answers(powers, &[&base], |answers| {
            signs::negate(answers, &moduli, |item| base.is_negative(item) && is_odd(item));
        })
    };
    let limbs = modulus.bits().div_ceil(64);
    call.answer(&columns, exp.bits().saturating_mul(limbs * limbs), power)
}

/// `a b` modulo `modulus`.
#[pyfunction]
pub(crate) fn mulmod<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b, modulus], items) = Call::of(options, [("a", a), ("b", b), ("mod", modulus)])?;
    let columns = [&a, &b, &modulus];
    let moduli = call.moduli(&modulus, items)?;
    let resident =
        call.on_device(&columns, |device| device.mul_mod(a.operand(), b.operand(), moduli.of_engine()))?;
    if let Some(products) = resident {
        return Ok(products);
    }
    let multiply = |engine: &Engine| {
        let products = engine.mul_mod(a.operand(), b.operand(), moduli.of_engine());
        in_answers(products, &[&a, &b], |answers| {
            signs::negate(answers, &moduli, |item| a.is_negative(item) != b.is_negative(item));
        })
    };
    call.answer(&columns, square_of_limbs(&columns), multiply)
}

/// The inverse of `a` modulo `modulus`.
#[pyfunction]
pub(crate) fn invert<'py>(
    a: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, modulus], items) = Call::of(options, [("a", a), ("mod", modulus)])?;
    let columns = [&a, &modulus];
    let moduli = call.moduli(&modulus, items)?;
    let inverse = |engine: &Engine| {
        let inverses = engine.inv(a.operand(), moduli.of_engine());
        in_answers(inverses, &[&a], |answers| signs::negate(answers, &moduli, |item| a.is_negative(item)))
    };
    call.answer(&columns, INVERSE * square_of_limbs(&columns), inverse)
}

/// The greatest common divisor of `a` and `b`.
#[pyfunction]
pub(crate) fn gcd<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b], _) = Call::of(options, [("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let find = |engine: &Engine| engine.gcd(a.operand(), b.operand());
    call.answer(&columns, INVERSE * square_of_limbs(&columns), find)
}

/// The product of `a` and `b`.
#[pyfunction]
pub(crate) fn mul<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b], items) = Call::of(options, [("a", a), ("b", b)])?;
    let columns = [&a, &b];
    if let Some(products) = call.on_device(&columns, |device| device.mul(a.operand(), b.operand()))? {
        return Ok(products);
    }
    let multiply = |engine: &Engine| engine.mul(a.operand(), b.operand());
    let products = call.run(items, square_of_limbs(&columns), multiply)?;
    let mut answers = call.answers(products, &columns)?;
    if !(a.negative.is_empty() && b.negative.is_empty()) {
        answers.negative = (0..items).filter(|&item| a.is_negative(item) != b.is_negative(item)).collect();
    }
    call.deliver(answers, &columns)
}

/// Changes the answers if some of the columns have negative numbers, also where some items failed.
fn in_answers(
    computed: Result<Batch, Error>,
    columns: &[&Column],
    change: impl FnOnce(&mut Batch),
) -> Result<Batch, Error> {
    match computed {
        computed if columns.iter().all(|column| column.negative.is_empty()) => computed,
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
