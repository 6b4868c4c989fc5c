//! Columns of encrypted numbers. Keys are in [`crate::paillier::keys`].

use crate::arguments::{Call, Options};
use crate::arrow_out::Column;
use crate::errors::OrRaise;
use crate::ints::Ints;
use crate::paillier::calls::{Clear, Floats, Work, ciphertexts_in, ciphertexts_of, integers, labelled, run};
use crate::paillier::keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{EncodedColumn, EncryptedColumn, Error, Exponents, Paillier, nearest_f64};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The greatest exponent of a whole number that is decrypted. A column of somebody else's may name any, and a
/// number of this one has half a megabit already.
const GREATEST_EXPONENT: i32 = 1 << 17;

/// A column of encrypted numbers.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PaillierColumn {
    pub(crate) column: EncryptedColumn,
}

impl PaillierColumn {
    /// The answer of an operation that takes about `products` products for each item.
    fn made<'py>(
        &self,
        call: &Call<'py>,
        products: usize,
        work: impl FnOnce(&Paillier<'_>) -> Result<EncryptedColumn, Error> + Send,
    ) -> PyResult<Self> {
        let work_of = Work::new(self.column.len(), products);
        Ok(Self { column: run(call, self.column.key(), work_of, work)? })
    }

    /// Factors or summands in the clear: floating-point numbers, or whole numbers times `16^exponent`.
    fn encoded<'py>(
        &self,
        call: &Call<'py>,
        Clear(floats, whole): Clear<'py>,
        exponent: i32,
    ) -> PyResult<EncodedColumn> {
        let key = self.column.key();
        let encoded = match floats {
            Some(Floats(floats)) => EncodedColumn::from_f64(key, &floats, None),
            None => {
                let integers = integers(call, "the numbers", &whole)?;
                call.install(|| EncodedColumn::from_scaled(key, &integers, exponent))
            }
        };
        encoded.or_raise(call.py)
    }

    /// Decrypts the column and returns what `read` reads from it. The threads of the engine do both.
    pub(crate) fn decrypted<T: Send>(
        &self,
        call: &Call<'_>,
        key: &Bound<'_, PaillierPrivateKey>,
        read: impl FnOnce(&EncodedColumn) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let (key, public) = (&key.get().key, self.column.key());
        run(call, public, Work::decryption(public, self.column.len()), |paillier| {
            let decrypted = self.column.decrypt(paillier, key)?;
            paillier.engine().install(|| read(&decrypted))
        })
    }
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
        let ciphertexts = ciphertexts_of(&Call::new(options)?, key, ciphertexts)?;
        let exponents = match exponents[..] {
            [exponent] => Exponents::Shared(exponent),
            _ => Exponents::Each(exponents),
        };
        let bits = magnitude_bits.unwrap_or_else(|| key.signed_bits());
        Ok(Self { column: EncryptedColumn::new(ciphertexts, exponents, bits).or_raise(py)? })
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

    /// The ciphertexts as a column of Arrow, or as a table of one column with a name.
    fn to_arrow(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Column> {
        let engine = Call::new(Options::none(py))?.engine;
        let column = py.detach(|| Column::numbers(&engine, self.column.ciphertexts().values(), &[]))?;
        let column = labelled(column, self.column.exponents(), self.column.magnitude_bits());
        Ok(match name {
            Some(name) => column.named(name),
            None => column,
        })
    }

    /// The items at these positions.
    fn gathered(&self, py: Python<'_>, items: Vec<usize>) -> PyResult<Self> {
        let column = py.detach(|| self.column.gathered(&items));
        Ok(Self { column: column.or_raise(py)? })
    }

    /// The columns one after the other.
    #[staticmethod]
    fn joined<'py>(
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        columns: Vec<Bound<'py, Self>>,
    ) -> PyResult<Self> {
        let columns: Vec<&EncryptedColumn> = columns.iter().map(|column| &column.get().column).collect();
        let key = &key.get().key;
        let column = py.detach(|| EncryptedColumn::joined(key, &columns));
        Ok(Self { column: column.or_raise(py)? })
    }

    /// The sums of `count` groups. `groups` has the group of each item.
    fn sums(&self, groups: Vec<usize>, count: usize, options: Options<'_>) -> PyResult<Self> {
        self.made(&Call::new(options)?, 1, |paillier| self.column.sums(paillier, &groups, count))
    }

    /// The ciphertexts as numbers, in the form that `out` names.
    fn ciphertexts<'py>(&self, py: Python<'py>, out: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        ciphertexts_in(py, self.column.ciphertexts(), out)
    }

    fn add(&self, other: &Bound<'_, Self>, options: Options<'_>) -> PyResult<Self> {
        let other = &other.get().column;
        self.made(&Call::new(options)?, 1, |paillier| self.column.add(paillier, other))
    }

    /// The sums with numbers in the clear, or the differences.
    fn add_clear(&self, clear: Clear<'_>, is_difference: bool, options: Options<'_>) -> PyResult<Self> {
        let call = Call::new(options)?;
        let clear = self.encoded(&call, clear, 0)?;
        self.made(&call, 2, |paillier| match is_difference {
            true => self.column.sub_encoded(paillier, &clear),
            false => self.column.add_encoded(paillier, &clear),
        })
    }

    fn negate(&self, options: Options<'_>) -> PyResult<Self> {
        self.made(&Call::new(options)?, 8, |paillier| self.column.neg(paillier))
    }

    fn multiply(&self, clear: Clear<'_>, secret: bool, options: Options<'_>) -> PyResult<Self> {
        let call = Call::new(options)?;
        let factors = self.encoded(&call, clear, 0)?;
        self.made(&call, factors.magnitude_bits(), |paillier| match secret {
            true => self.column.mul(paillier, &factors),
            false => self.column.mul_vartime(paillier, &factors),
        })
    }

    /// The products by `number 16^exponent`, which is public.
    fn scaled(&self, number: &Bound<'_, PyAny>, exponent: i32, options: Options<'_>) -> PyResult<Self> {
        let call = Call::new(options)?;
        let factor = self.encoded(&call, Clear(None, number.clone()), exponent)?;
        let products = factor.magnitude_bits();
        self.made(&call, products, |paillier| self.column.mul_vartime(paillier, &factor))
    }

    fn dot(&self, clear: Clear<'_>, options: Options<'_>) -> PyResult<Self> {
        let call = Call::new(options)?;
        let weights = self.encoded(&call, clear, 0)?;
        self.made(&call, weights.magnitude_bits(), |paillier| self.column.dot(paillier, &weights))
    }

    fn sum(&self, options: Options<'_>) -> PyResult<Self> {
        self.made(&Call::new(options)?, 1, |paillier| self.column.sum(paillier))
    }

    fn randomize(&self, options: Options<'_>) -> PyResult<Self> {
        let products = self.column.key().bits();
        self.made(&Call::new(options)?, products, |paillier| self.column.randomize(paillier))
    }

    /// Decrypts the column. Numbers with an exponent of 0 or above are `int`, others `float`.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PaillierPrivateKey>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (call, exponents) = (Call::new(options)?, self.column.exponents());
        if let Exponents::Shared(..0) = exponents {
            return PyList::new(py, self.decrypted(&call, key, EncodedColumn::to_f64)?);
        }
        let integers = self.decrypted(&call, key, EncodedColumn::integers)?;
        let ints = Ints::new(py)?;
        let number = |(index, magnitude): (usize, &[u64])| -> PyResult<Bound<'py, PyAny>> {
            let is_negative = integers.is_negative(index);
            match exponents.get(index) {
                0 => ints.read(magnitude, is_negative),
                exponent @ 1..=GREATEST_EXPONENT => ints.read(magnitude, is_negative)?.lshift(4 * exponent),
                exponent => {
                    let value = nearest_f64(magnitude, exponent).filter(|_| exponent < 0);
                    let value = value.ok_or_else(|| {
                        let text = format!("item {index} is too large: its exponent is {exponent}");
                        PyOverflowError::new_err(text)
                    })?;
                    (if is_negative { -value } else { value }).into_bound_py_any(py)
                }
            }
        };
        let numbers: Vec<_> =
            integers.magnitudes().iter().enumerate().map(number).collect::<PyResult<_>>()?;
        PyList::new(py, numbers)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.column.to_bytes().or_raise(py)?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, key: &Bound<'_, PaillierPublicKey>, data: &[u8]) -> PyResult<Self> {
        let column = EncryptedColumn::from_bytes(&key.get().key, data);
        Ok(Self { column: column.or_raise(py)? })
    }

    fn __len__(&self) -> usize {
        self.column.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<modmill.paillier column of {} numbers, {} bits>",
            self.column.len(),
            self.column.key().bits()
        )
    }
}
