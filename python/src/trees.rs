//! Products and remainders of whole columns.

use crate::answers::{Answers, OnFailure, deliver, summary};
use crate::arguments::{Call, Options, count, reasons, square_of_limbs};
use crate::column::{Column, Form};
use crate::errors::{OrRaise, exception};
use crate::powers::not_negative;
use modmill::trees::{self, BatchGcdSteps};
use modmill::{Batch, Engine, Error, ItemError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The products of limbs that an item of a tree takes on all levels, in squares of its limbs, about.
const TREE: usize = 64;

/// The products of a column, level by level.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct ProductTree {
    tree: trees::ProductTree,
    /// The form of the column, which columns of answers have too.
    form: Form,
    bits: usize,
}

/// The levels of a tree below its root.
fn levels(items: usize) -> usize {
    items.next_power_of_two().trailing_zeros() as usize
}

/// Refuses what is no column, and a column of which an item is negative.
fn check_column(column: &Column) -> PyResult<()> {
    not_negative(column)?;
    match column.form.is_scalar() {
        true => Err(PyValueError::new_err(format!("{} is one number; it must be a column", column.name))),
        false => Ok(()),
    }
}

/// Refuses a column of which not all items are numbers.
fn check_complete(column: &Column) -> PyResult<()> {
    match column.null.first().or(column.long.first().map(|(item, _)| item)) {
        Some(item) => Err(PyValueError::new_err(format!("{}: item {item} is null or too long", column.name))),
        None => Ok(()),
    }
}

/// Python's object for one number of a column, which leaves out the items of the column that failed.
fn one<'py>(call: &Call<'py>, number: Batch, failed: &[ItemError]) -> PyResult<Bound<'py, PyAny>> {
    let like = Column::new("answer", Form::Int, Batch::zeros(1, 1));
    let object = call.deliver(call.widened(Answers::new(number))?, &[&like])?;
    deliver(call.py, object, 1, reasons(failed), Form::Int, OnFailure::Raise)
}

#[pymethods]
impl ProductTree {
    #[new]
    fn new(column: &Bound<'_, PyAny>, options: Options<'_>) -> PyResult<Self> {
        let options = options.only(&["width", "max_bits", "engine", "progress"])?;
        let (call, [column], items) = Call::of(options, [("column", column)])?;
        check_column(&column)?;
        check_complete(&column)?;
        let work = (TREE * square_of_limbs(&[&column]), levels(items).max(1));
        let made = |engine: &Engine| trees::ProductTree::new(engine, column.operand());
        let tree = call.run_counted(items, work, made)?.or_raise(call.py)?;
        Ok(Self { tree, form: column.form, bits: column.bits() })
    }

    fn __len__(&self) -> usize {
        self.tree.len()
    }

    /// Bytes of memory that the tree takes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.tree.bytes()
    }

    /// The product of the column.
    fn product<'py>(&self, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(options.only(&["width", "out", "engine"])?)?;
        one(&call, self.tree.product().try_clone().or_raise(call.py)?, self.tree.zeros())
    }

    /// A number modulo every number of the column.
    fn remainders<'py>(&self, x: &Bound<'py, PyAny>, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(options)?;
        let [x] = call.columns([("x", x)])?;
        not_negative(&x)?;
        check_complete(&x)?;
        let counts = levels(self.tree.len()) + 2;
        self.of_all(&call, counts, |engine| self.tree.remainders(engine, x.operand()))
    }

    /// The factors that every number shares with all others and with a number outside of the column.
    fn shared_factors<'py>(
        &self,
        others: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(options)?;
        let [others] = call.columns([("others", others)])?;
        not_negative(&others)?;
        check_complete(&others)?;
        let counts = 2 * levels(self.tree.len()) + 3;
        self.of_all(&call, counts, |engine| self.tree.shared_factors(engine, others.operand()))
    }

    /// The sum of `a_i Z / N_i` over the column N with the product Z.
    fn combine<'py>(&self, a: &Bound<'py, PyAny>, options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (call, [a], items) = Call::of(options.only(&ONE)?, [("a", a)])?;
        not_negative(&a)?;
        check_complete(&a)?;
        let work = (self.steps(), levels(items).max(1));
        let sum = call.run_counted(items, work, |engine| self.tree.combine(engine, a.operand()))?;
        one(&call, sum.or_raise(call.py)?, self.tree.zeros())
    }
}

/// The options of functions whose answer is one number.
const ONE: [&str; 5] = ["width", "max_bits", "out", "engine", "progress"];

impl ProductTree {
    /// The products of limbs of an item, about.
    fn steps(&self) -> usize {
        let limbs = self.bits.div_ceil(64);
        TREE * limbs.saturating_mul(limbs)
    }

    /// An answer for each number of the column, in its form. The engine counts each item `counts` times.
    fn of_all<'py>(
        &self,
        call: &Call<'py>,
        counts: usize,
        work: impl FnOnce(&Engine) -> Result<Batch, Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let items = self.tree.len();
        let like = Column::new("column", self.form, Batch::zeros(1, items));
        let computed = call.run_counted(items, (self.steps(), counts), work)?;
        call.deliver(call.answers(computed, &[&like])?, &[&like])
    }
}

/// The greatest common divisor of each number and the product of all others.
#[pyfunction]
pub(crate) fn batch_gcd<'py>(
    moduli: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (call, [moduli], items) = Call::of(options, [("moduli", moduli)])?;
    check_column(&moduli)?;
    let columns = [&moduli];
    let counts = BatchGcdSteps::new(items).items() / items.max(1);
    let work = (TREE * square_of_limbs(&columns), counts.max(1));
    let computed = call.run_counted(items, work, |engine| trees::batch_gcd(engine, moduli.operand()))?;
    call.deliver(call.answers(computed, &columns)?, &columns)
}

/// The number that has given remainders modulo coprime moduli.
#[pyfunction]
pub(crate) fn crt<'py>(
    residues: &Bound<'py, PyAny>,
    moduli: &Bound<'py, PyAny>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = [("residues", residues), ("moduli", moduli)];
    let (call, [residues, moduli], items) = Call::of(options.only(&ONE)?, arguments)?;
    not_negative(&residues)?;
    check_column(&moduli)?;
    check_complete(&residues)?;
    check_complete(&moduli)?;
    let columns = [&residues, &moduli];
    let work = (TREE * square_of_limbs(&columns), 4 * levels(count(&columns)) + 4);
    let solve = |engine: &Engine| trees::crt(engine, residues.operand(), moduli.operand());
    match call.run_counted(items, work, solve)? {
        // There is no number at all, not even without these items.
        Err(Error::Items(partial)) => {
            let failed = reasons(&partial.failed);
            Err(exception(call.py, "ItemError", (summary(&failed), failed, call.py.None())))
        }
        number => one(&call, number.or_raise(call.py)?, &[]),
    }
}
