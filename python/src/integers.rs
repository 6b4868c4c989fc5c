//! The functions of the package that divide, find roots, multiples, cofactors and symbols.

use crate::answers::{Answers, Target, deliver};
use crate::arguments::{Call, Options, square_of_limbs, with_unread};
use crate::column::{Column, is_zero};
use crate::errors::OrRaise;
use crate::powers::not_negative;
use crate::primes::deliver_verdicts;
use crate::signs;
use modmill::{Batch, Engine, Error, ItemError, Jacobi, integers};
use modmill_core::limbs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Products of limbs of a quotient, a root or a symbol, as a multiple of the square of the limbs, about.
const STEPS: usize = 4;

/// Quotients, rounded down, and remainders of `a` by a positive `b`.
#[pyfunction]
pub(crate) fn f_divmod<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b], items) = Call::of(options, [("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let divisors = call.moduli(&b, items)?;
    let divide = |engine: &Engine| match engine.div_rem(a.operand(), divisors.of_engine()) {
        Ok((quotients, remainders)) => Ok((quotients, remainders, Vec::new())),
        // The error has the remainders alone.
        Err(Error::Items(partial)) => {
            let quotients = match engine.div(a.operand(), divisors.of_engine()) {
                Err(Error::Items(partial)) => partial.answers,
                found => found?,
            };
            Ok((quotients, partial.answers, partial.failed))
        }
        Err(error) => Err(error),
    };
    let found = call.run(items, steps(&columns), divide)?;
    let (mut quotients, mut remainders, failed) = found.or_raise(call.py)?;
    // For a < 0 the quotient is rounded away from zero, where a remainder is left.
    for item in (0..items).filter(|&item| a.is_negative(item) && !is_zero(remainders.get(item))) {
        limbs::add_assign(quotients.get_mut(item), &[1]);
    }
    signs::negate(&mut remainders, &divisors, |item| a.is_negative(item));
    let failed = reasons(&failed);
    let is_negative = |item: &usize| a.is_negative(*item) && !is_zero(quotients.get(*item));
    let negative: Vec<usize> = (0..items).filter(is_negative).collect();
    let quotients = Answers { negative, failed: failed.clone(), ..Answers::new(quotients) };
    tuple(&call, vec![quotients, Answers { failed, ..Answers::new(remainders) }], &columns)
}

/// Exact quotients of `a` by a positive `b`.
#[pyfunction]
pub(crate) fn divexact<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b], items) = Call::of(options, [("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let divisors = call.moduli(&b, items)?;
    let divide = |engine: &Engine| integers::div_exact(engine, a.operand(), divisors.of_engine());
    let quotients = call.run(items, steps(&columns), divide)?;
    let mut answers = call.answers(quotients, &columns)?;
    answers.negative =
        (0..items).filter(|&item| a.is_negative(item) && !is_zero(answers.batch.get(item))).collect();
    call.deliver(answers, &columns)
}

/// Least common multiples of `a` and `b`.
#[pyfunction]
pub(crate) fn lcm<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b], _) = Call::of(options, [("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let find = |engine: &Engine| integers::lcm(engine, a.operand(), b.operand());
    call.answer(&columns, 16 * steps(&columns), find)
}

/// Greatest common divisors g of `a` and `b` with `g = s a + t b`.
#[pyfunction]
pub(crate) fn gcdext<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, b], items) = Call::of(options, [("a", a), ("b", b)])?;
    let columns = [&a, &b];
    let find = |engine: &Engine| engine.xgcd(a.operand(), b.operand());
    let found = call.run(items, 16 * steps(&columns), find)?.or_raise(call.py)?;
    // The engine has g = s a - t b, or the negative of it, for absolute values.
    let signed = |batch: Batch, column: &Column, is_subtracted: bool| {
        let is_negative = |item: &usize| {
            let is_turned = found.is_swapped[*item] != is_subtracted;
            is_turned != column.is_negative(*item) && !is_zero(batch.get(*item))
        };
        let negative = (0..items).filter(is_negative).collect();
        Answers { negative, ..Answers::new(batch) }
    };
    let s = signed(found.s, &a, false);
    let t = signed(found.t, &b, true);
    tuple(&call, vec![Answers::new(found.gcd), s, t], &columns)
}

/// Square roots of numbers, rounded down.
#[pyfunction]
pub(crate) fn isqrt<'py>(n: &Bound<'py, PyAny>, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (call, [n], _) = Call::of(options, [("n", n)])?;
    not_negative(&n)?;
    call.answer(&[&n], steps(&[&n]), |engine| integers::isqrt(engine, n.operand()))
}

/// Square roots of numbers, rounded down, with what is left.
#[pyfunction]
pub(crate) fn isqrt_rem<'py>(n: &Bound<'py, PyAny>, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (call, [n], items) = Call::of(options, [("n", n)])?;
    not_negative(&n)?;
    let find = |engine: &Engine| integers::sqrt_rem(engine, n.operand());
    let (roots, rests) = call.run(items, steps(&[&n]), find)?.or_raise(call.py)?;
    tuple(&call, vec![Answers::new(roots), Answers::new(rests)], &[&n])
}

/// Whether numbers are squares.
#[pyfunction]
pub(crate) fn is_square<'py>(n: &Bound<'py, PyAny>, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (call, [n], items) = Call::of(options, [("n", n)])?;
    let find = |engine: &Engine| integers::is_square(engine, n.operand());
    let verdicts = call.run(items, steps(&[&n]), find)?.or_raise(call.py)?;
    deliver_verdicts(&call, &n, verdicts)
}

/// Jacobi symbols of `a` modulo an odd `n`.
#[pyfunction]
pub(crate) fn jacobi<'py>(
    a: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [a, n], items) = Call::of(options, [("a", a), ("n", n)])?;
    let columns = [&a, &n];
    let moduli = call.moduli(&n, items)?;
    let find = |engine: &Engine| engine.jacobi(a.operand(), moduli.of_engine());
    let symbols = call.run(items, 16 * steps(&columns), find)?.or_raise(call.py)?;
    let mut answers = Answers::new(Batch::try_zeros(1, items).or_raise(call.py)?);
    for (item, symbol) in symbols.into_iter().enumerate() {
        // The symbol of -1 is -1 modulo numbers that are 3 modulo 4.
        let is_turned = |low: u64| a.is_negative(item) && low & 3 == 3;
        match symbol {
            None => answers.failed.push((item, "there is no symbol modulo an even number".to_owned())),
            Some(Jacobi::Zero) => {}
            Some(symbol) => {
                answers.batch.get_mut(item)[0] = 1;
                if (symbol == Jacobi::MinusOne) != is_turned(moduli.of_engine().get(item)[0]) {
                    answers.negative.push(item);
                }
            }
        }
    }
    answers.failed = with_unread(answers.failed, &columns);
    call.deliver(answers, &columns)
}

fn steps(columns: &[&Column]) -> usize {
    STEPS.saturating_mul(square_of_limbs(columns))
}

fn reasons(failed: &[ItemError]) -> Vec<(usize, String)> {
    failed.iter().map(|item| (item.index, item.kind.to_string())).collect()
}

/// A tuple of Python's objects for several answers of each item, which have the same failed items.
fn tuple<'py>(call: &Call<'py>, answers: Vec<Answers>, columns: &[&Column]) -> PyResult<Bound<'py, PyAny>> {
    let Target::New(form) = call.target(columns) else {
        return Err(PyValueError::new_err("several answers are not written to one array"));
    };
    let failed = with_unread(answers.first().map_or(Vec::new(), |first| first.failed.clone()), columns);
    let items = answers.first().map_or(0, |first| first.batch.len());
    let object = |answers: Answers| {
        let mut answers = call.widened(Answers { failed: failed.clone(), ..answers })?;
        failed.iter().for_each(|(index, _)| answers.batch.get_mut(*index).fill(0));
        answers.negative.retain(|item| failed.iter().all(|(index, _)| index != item));
        answers.object(call.py, &call.engine, form)
    };
    let objects: Vec<_> = answers.into_iter().map(object).collect::<PyResult<_>>()?;
    let object = PyTuple::new(call.py, objects)?.into_any();
    deliver(call.py, object, items, failed, form, call.on_failure)
}
