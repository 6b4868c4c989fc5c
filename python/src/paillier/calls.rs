//! The parts that the operations of Paillier's encryption share: how they are run, how their numbers are
//! read, and how their columns of Arrow are labelled.

use crate::answers::{Answers, OnFailure, Target};
use crate::arguments::{Call, Options};
use crate::arrow_out::Column;
use crate::column::Form;
use crate::errors::OrRaise;
use modmill_paillier::{Ciphertexts, Error, Exponents, Integers, Paillier, PublicKey};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How much an operation of Paillier's has to do.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    /// The number of items.
    pub(crate) items: usize,
    /// The products modulo the square of n for an item, about. They decide whether signals are looked at.
    pub(crate) products: usize,
    /// How often the engine counts an item before its answer is near.
    pub(crate) counts: usize,
}

impl Work {
    /// An operation that takes about `products` products for each item, and counts it once.
    pub(crate) fn new(items: usize, products: usize) -> Self {
        Self { items, products, counts: 1 }
    }

    /// The decryption of `items` items: a power and a product modulo each prime.
    pub(crate) fn decryption(key: &PublicKey, items: usize) -> Self {
        Self { items, products: key.bits(), counts: 4 }
    }
}

/// Runs Paillier's operations as a part of a call.
pub(crate) fn run<'py, T: Send>(
    call: &Call<'py>,
    key: &PublicKey,
    Work { items, products, counts }: Work,
    work: impl FnOnce(&Paillier<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let steps = products.saturating_mul(2 * key.square().bits().div_ceil(64).pow(2));
    call.run_counted(items, (steps, counts), |engine| work(&Paillier::new(engine)))?.or_raise(call.py)
}

/// Reads whole numbers, which may be negative. None may be null.
pub(crate) fn integers<'py>(
    call: &Call<'py>,
    name: &'static str,
    object: &Bound<'py, PyAny>,
) -> PyResult<Integers> {
    let [column] = call.columns([(name, object)])?;
    if let Some(item) = column.null.first() {
        return Err(PyValueError::new_err(format!("{name}: item {item} is null")));
    }
    let items = column.negative.clone();
    let batch = column.into_batch().or_raise(call.py)?;
    let mut negative = vec![false; batch.len()];
    items.into_iter().for_each(|item| negative[item] = true);
    Integers::new(batch, negative).or_raise(call.py)
}

/// Floating-point numbers: a buffer of doubles, or a sequence.
pub(crate) struct Floats(pub(crate) Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Floats {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match PyBuffer::<f64>::get(&object) {
            Ok(buffer) => buffer.to_vec(object.py()).map(Self),
            Err(_) => object.extract().map(Self),
        }
    }
}

/// The ciphertexts of a column as numbers, in the form that `out` names.
pub(crate) fn ciphertexts_in<'py>(
    py: Python<'py>,
    ciphertexts: &Ciphertexts,
    out: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(Options::none(py))?;
    let answers = Answers::new(ciphertexts.values().try_clone().or_raise(py)?);
    answers.deliver(py, &call.engine, &Target::read(out, &[Form::Ints])?, OnFailure::Raise)
}

/// Reads ciphertexts that came from elsewhere.
pub(crate) fn ciphertexts_of<'py>(
    call: &Call<'py>,
    key: &PublicKey,
    object: &Bound<'py, PyAny>,
) -> PyResult<Ciphertexts> {
    let values = integers(call, "ciphertexts", object)?;
    if values.signs().contains(&true) {
        return Err(PyValueError::new_err("ciphertexts are not negative"));
    }
    call.install(|| Ciphertexts::from_batch(key, values.into_magnitudes())).or_raise(call.py)
}

/// Numbers in the clear: floating-point ones, or else whole ones.
#[derive(FromPyObject)]
pub(crate) struct Clear<'py>(pub(crate) Option<Floats>, pub(crate) Bound<'py, PyAny>);

/// A column of ciphertexts whose field says the exponent of its numbers, or that each has its own, and their
/// bound.
pub(crate) fn labelled(column: Column, exponents: &Exponents, magnitude_bits: usize) -> Column {
    let exponent = match exponents {
        Exponents::Shared(exponent) => exponent.to_string(),
        Exponents::Each(_) => "each".to_owned(),
    };
    let labels = [("exponent", exponent), ("magnitude_bits", magnitude_bits.to_string())];
    column.with_metadata(labels.map(|(name, value)| (format!("modmill.paillier.{name}"), value)).into())
}
