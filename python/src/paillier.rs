//! Paillier's encryption: columns of encrypted numbers. Keys are in [`crate::paillier_keys`].

use crate::answers::{Answers, OnFailure, Target};
use crate::arguments::{Call, Options};
use crate::arrow_out::Column;
use crate::column::Form;
use crate::errors::of_call;
use crate::ints::Ints;
use crate::paillier_keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{
    Ciphertexts, EncodedColumn, EncryptedColumn, Error, Exponents, Integers, Paillier, PublicKey,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// How often the engine counts an item that is decrypted: a power and a product modulo each prime.
pub(crate) const DECRYPTION_COUNTS: usize = 4;

/// The exception of an error of Paillier's operations.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Engine(error) => of_call(py, error),
        Error::Overflow { .. } | Error::TooLarge { .. } | Error::NotEncoded { .. } => {
            PyOverflowError::new_err(error.to_string())
        }
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

/// A column of encrypted numbers.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PaillierColumn {
    pub(crate) column: EncryptedColumn,
}

impl PaillierColumn {
    /// The answer of an operation that takes about `products` products for each item.
    fn made<'py>(
        &self,
        py: Python<'py>,
        options: Options<'py>,
        products: usize,
        work: impl FnOnce(&Paillier<'_>) -> Result<EncryptedColumn, Error> + Send,
    ) -> PyResult<Self> {
        let items = self.column.len();
        let extent = Work { items, products, counts: 1 };
        Ok(Self { column: run(py, options, self.column.key(), extent, work)? })
    }

    /// Factors or summands in the clear: floating-point numbers, or whole numbers.
    fn encoded<'py>(
        &self,
        py: Python<'py>,
        floats: Option<Floats>,
        whole: &Bound<'py, PyAny>,
    ) -> PyResult<EncodedColumn> {
        let key = self.column.key();
        let encoded = match floats {
            Some(Floats(floats)) => EncodedColumn::from_f64(key, &floats, None),
            None => {
                let call = Call::new(py, plain_options(py)?)?;
                let integers = integers(&call, "the numbers", whole)?;
                py.detach(|| call.engine.install(|| EncodedColumn::from_integers(key, &integers)))
            }
        };
        encoded.map_err(|error| raised(py, &error))
    }
}

/// The options of a call that has none.
pub(crate) fn plain_options(py: Python<'_>) -> PyResult<Options<'_>> {
    (None::<usize>, "like", "raise", None::<usize>, None::<usize>).into_pyobject(py)?.extract()
}

#[pymethods]
impl PaillierColumn {
    /// A column of ciphertexts that came from elsewhere.
    #[staticmethod]
    pub(crate) fn from_ciphertexts<'py>(
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        ciphertexts: &Bound<'py, PyAny>,
        exponents: Vec<i32>,
        magnitude_bits: Option<usize>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let key = &key.get().key;
        let call = Call::new(py, options)?;
        let values = integers(&call, "ciphertexts", ciphertexts)?;
        if values.signs().contains(&true) {
            return Err(PyValueError::new_err("ciphertexts are not negative"));
        }
        let exponents = match exponents[..] {
            [exponent] => Exponents::Shared(exponent),
            _ => Exponents::Each(exponents),
        };
        let bits = magnitude_bits.unwrap_or_else(|| key.signed_bits());
        let read = || Ciphertexts::from_batch(key, values.into_magnitudes());
        let column = py
            .detach(|| call.engine.install(read))
            .and_then(|ciphertexts| EncryptedColumn::new(ciphertexts, exponents, bits));
        Ok(Self { column: column.map_err(|error| raised(py, &error))? })
    }

    /// The public key.
    #[getter]
    fn public_key(&self) -> PaillierPublicKey {
        PaillierPublicKey { key: self.column.key().clone() }
    }

    /// The exponents: one for all items, or a list with one for each.
    #[getter]
    fn exponent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.column.exponents() {
            Exponents::Shared(exponent) => Ok(exponent.into_pyobject(py)?.into_any()),
            Exponents::Each(exponents) => Ok(PyList::new(py, exponents)?.into_any()),
        }
    }

    /// The bound: every magnitude is below 2 to this power.
    #[getter]
    fn magnitude_bits(&self) -> usize {
        self.column.magnitude_bits()
    }

    /// The ciphertexts as a column of Arrow.
    fn to_arrow(&self, py: Python<'_>) -> PyResult<Column> {
        let engine = Call::new(py, plain_options(py)?)?.engine;
        py.detach(|| Column::numbers(&engine, self.column.ciphertexts().values(), &[]))
    }

    /// The ciphertexts as numbers, in the form that `out` names.
    fn ciphertexts<'py>(&self, py: Python<'py>, out: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(py, plain_options(py)?)?;
        let answers = Answers::new(self.column.ciphertexts().values().clone());
        answers.deliver(py, &call.engine, &Target::read(out, &[Form::Ints])?, OnFailure::Raise)
    }

    fn add<'py>(&self, py: Python<'py>, other: &Bound<'py, Self>, options: Options<'py>) -> PyResult<Self> {
        let other = &other.get().column;
        self.made(py, options, 1, |paillier| self.column.add(paillier, other))
    }

    fn add_clear<'py>(
        &self,
        py: Python<'py>,
        floats: Option<Floats>,
        whole: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let clear = self.encoded(py, floats, whole)?;
        self.made(py, options, 2, |paillier| self.column.add_encoded(paillier, &clear))
    }

    fn negate<'py>(&self, py: Python<'py>, options: Options<'py>) -> PyResult<Self> {
        self.made(py, options, 8, |paillier| self.column.neg(paillier))
    }

    fn multiply<'py>(
        &self,
        py: Python<'py>,
        floats: Option<Floats>,
        whole: &Bound<'py, PyAny>,
        secret: bool,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let factors = self.encoded(py, floats, whole)?;
        self.made(py, options, factors.magnitude_bits(), |paillier| match secret {
            true => self.column.mul(paillier, &factors),
            false => self.column.mul_vartime(paillier, &factors),
        })
    }

    fn dot<'py>(
        &self,
        py: Python<'py>,
        floats: Option<Floats>,
        whole: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let weights = self.encoded(py, floats, whole)?;
        self.made(py, options, weights.magnitude_bits(), |paillier| self.column.dot(paillier, &weights))
    }

    fn sum<'py>(&self, py: Python<'py>, options: Options<'py>) -> PyResult<Self> {
        self.made(py, options, 1, |paillier| self.column.sum(paillier))
    }

    fn randomize<'py>(&self, py: Python<'py>, options: Options<'py>) -> PyResult<Self> {
        let products = self.column.key().bits();
        self.made(py, options, products, |paillier| self.column.randomize(paillier))
    }

    /// Decrypts the column. Whole numbers are `int`, others `float`.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PaillierPrivateKey>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        if self.column.exponents().least() < 0 {
            return PyList::new(py, self.decrypted(py, key, options, EncodedColumn::to_f64)?);
        }
        let integers = self.decrypted(py, key, options, EncodedColumn::integers)?;
        let ints = Ints::new(py)?;
        let number = |(index, magnitude): (usize, &[u64])| -> PyResult<Bound<'py, PyAny>> {
            let number = ints.read(magnitude, integers.is_negative(index))?;
            match self.column.exponents().get(index) {
                0 => Ok(number),
                exponent => number.lshift(4 * exponent),
            }
        };
        let numbers: Vec<_> =
            integers.magnitudes().iter().enumerate().map(number).collect::<PyResult<_>>()?;
        PyList::new(py, numbers)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.column.to_bytes().map_err(|error| raised(py, &error))?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, key: &Bound<'_, PaillierPublicKey>, data: &[u8]) -> PyResult<Self> {
        let column = EncryptedColumn::from_bytes(&key.get().key, data);
        Ok(Self { column: column.map_err(|error| raised(py, &error))? })
    }

    fn __len__(&self) -> usize {
        self.column.len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let unpickle = py.get_type::<Self>().getattr("from_bytes")?;
        (unpickle, (Bound::new(py, self.public_key())?, self.to_bytes(py)?)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<modmill.paillier column of {} numbers, {} bits>",
            self.column.len(),
            self.column.key().bits()
        )
    }
}

impl PaillierColumn {
    /// Decrypts the column and returns what `read` reads from it. The threads of the engine do both.
    pub(crate) fn decrypted<T: Send>(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PaillierPrivateKey>,
        options: Options<'_>,
        read: impl FnOnce(&EncodedColumn) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let key = &key.get().key;
        let (items, public) = (self.column.len(), self.column.key());
        let work = Work { items, products: public.bits(), counts: DECRYPTION_COUNTS };
        run(py, options, public, work, |paillier| {
            let decrypted = self.column.decrypt(paillier, key)?;
            paillier.engine().install(|| read(&decrypted))
        })
    }
}
