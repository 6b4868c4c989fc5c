//! Powers of one base, products of powers and products of columns.

use crate::arguments::{Call, Options, count};
use crate::column::{Column, Moduli};
use crate::errors::OrRaise;
use crate::signs;
use modmill::{Engine, Modulus, Operand, Public};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A base that was prepared for powers modulo one number.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct FixedBase {
    fixed: modmill::FixedBase,
    limbs: usize,
}

/// Prepares a base for powers modulo one number by exponents of at most `exp_bits` bits.
#[pyfunction]
pub(crate) fn fixed_base(
    base: &Bound<'_, PyAny>,
    modulus: &Bound<'_, PyAny>,
    exp_bits: usize,
    options: Options<'_>,
) -> PyResult<FixedBase> {
    let (call, [base, column], _) = Call::of(options.only(&["engine"])?, [("base", base), ("mod", modulus)])?;
    not_negative(&base)?;
    if !base.form.is_scalar() {
        return Err(PyValueError::new_err("base is one number"));
    }
    let modulus = one_modulus(&call, &column)?;
    let prepare = |engine: &Engine| engine.fixed_base(base.operand(), &modulus, exp_bits);
    let fixed = call.run(1, usize::MAX, prepare)?.or_raise(call.py)?;
    Ok(FixedBase { fixed, limbs: column.bits().div_ceil(64) })
}

#[pymethods]
impl FixedBase {
    /// The powers by some exponents.
    fn pow<'py>(
        &self,
        exp: &Bound<'py, PyAny>,
        secret: bool,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (call, [exp], _) = Call::of(options, [("exp", exp)])?;
        not_negative(&exp)?;
        let power = |engine: &Engine| match secret {
            true => engine.pow_fixed_base(&self.fixed, exp.operand()),
            false => engine.pow_fixed_base(&self.fixed, Public(exp.operand())),
        };
        let steps = exp.bits().saturating_mul(self.limbs * self.limbs) / 4;
        call.answer(&[&exp], steps, power)
    }
}

/// The product of `base^exp` over several bases and exponents, modulo `modulus`.
#[pyfunction]
pub(crate) fn multi_pow<'py>(
    bases: Vec<Bound<'py, PyAny>>,
    exps: Vec<Bound<'py, PyAny>>,
    modulus: &Bound<'py, PyAny>,
    secret: bool,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(options)?;
    let read = |name: &'static str, objects: &[Bound<'py, PyAny>]| {
        let one = |object: &Bound<'py, PyAny>| {
            let [column] = call.columns([(name, object)])?;
            not_negative(&column).map(|()| column)
        };
        objects.iter().map(one).collect::<PyResult<Vec<Column>>>()
    };
    let (bases, exps) = (read("bases", &bases)?, read("exps", &exps)?);
    let [modulus] = call.columns([("mod", modulus)])?;
    let columns: Vec<&Column> = bases.iter().chain(&exps).chain([&modulus]).collect();
    let items = count(&columns);
    let moduli = call.moduli(&modulus, items)?;
    let (bases, exps) = (operands(&bases), operands(&exps));
    let power = |engine: &Engine| match secret {
        true => engine.multi_pow(&bases, &exps, moduli.of_engine()),
        false => engine.multi_pow(&bases, Public(&exps), moduli.of_engine()),
    };
    let limbs = modulus.bits().div_ceil(64);
    let longest = exps.iter().map(Operand::bits).max().unwrap_or(0);
    call.answer(&columns, longest.saturating_mul(limbs * limbs), power)
}

/// The product of all numbers of a column modulo one number.
#[pyfunction]
pub(crate) fn product_mod<'py>(
    numbers: &Bound<'py, PyAny>,
    modulus: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options.only(&["width", "max_bits", "engine", "progress"])?;
    let (call, [numbers, column], _) = Call::of(options, [("numbers", numbers), ("mod", modulus)])?;
    if let Some(item) = numbers.null.first().or(numbers.long.first().map(|(item, _)| item)) {
        return Err(PyValueError::new_err(format!("numbers: item {item} is null or too long")));
    }
    let modulus = one_modulus(&call, &column)?;
    let limbs = column.bits().div_ceil(64);
    let multiply = |engine: &Engine| engine.product_mod(numbers.operand(), &modulus);
    let mut product = call.run(count(&[&numbers]), limbs * limbs, multiply)?.or_raise(call.py)?;
    let moduli = Moduli::Shared(modulus);
    signs::negate(&mut product, &moduli, |_| numbers.negative.len() % 2 == 1);
    call.deliver(call.answers(Ok(product), &[&column])?, &[&column])
}

fn operands(columns: &[Column]) -> Vec<Operand<'_>> {
    columns.iter().map(Column::operand).collect()
}

/// Refuses columns with negative numbers.
pub(crate) fn not_negative(column: &Column) -> PyResult<()> {
    match column.negative.first() {
        Some(item) => Err(PyValueError::new_err(format!("{}: item {item} is negative", column.name))),
        None => Ok(()),
    }
}

/// A modulus that serves all items.
fn one_modulus(call: &Call<'_>, column: &Column) -> PyResult<Modulus> {
    match call.moduli(column, 1)? {
        Moduli::Shared(modulus) => Ok(modulus),
        _ => Err(PyValueError::new_err("mod is one number, and not zero")),
    }
}
