//! The parts that the operations of Paillier's encryption share: how they are run, how their numbers are
//! read, and how their columns of Arrow are labelled.

use crate::arguments::{Call, Options};
use crate::arrow_out::Column;
use crate::errors::of_call;
use modmill_paillier::{Error, Exponents, Integers, Paillier, PublicKey};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// How often the engine counts an item that is decrypted: a power and a product modulo each prime.
pub(crate) const DECRYPTION_COUNTS: usize = 4;

/// The exception of an error of Paillier's operations.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Engine(error) => of_call(py, error),
        Error::Overflow { .. }
        | Error::Headroom { .. }
        | Error::TooLarge { .. }
        | Error::NotEncoded { .. } => PyOverflowError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

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

/// Runs Paillier's operations with the options of a call.
pub(crate) fn run<'py, T: Send>(
    py: Python<'py>,
    options: Options<'py>,
    key: &PublicKey,
    Work { items, products, counts }: Work,
    work: impl FnOnce(&Paillier<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let call = Call::new(py, options)?;
    let steps = items.saturating_mul(products).saturating_mul(2 * key.square().bits().div_ceil(64).pow(2));
    let answer = call.run_counted(items, (steps, counts), |engine| work(&Paillier::new(engine)))?;
    answer.map_err(|error| raised(py, &error))
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
    let batch = column.into_batch().map_err(|error| call.error(&error))?;
    let mut negative = vec![false; batch.len()];
    items.into_iter().for_each(|item| negative[item] = true);
    Integers::new(batch, negative).map_err(|error| raised(object.py(), &error))
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

/// The options of a call that has none.
pub(crate) fn plain_options(py: Python<'_>) -> PyResult<Options<'_>> {
    (None::<usize>, "like", "raise", None::<usize>, None::<usize>).into_pyobject(py)?.extract()
}

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
