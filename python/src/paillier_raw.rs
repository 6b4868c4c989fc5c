//! Columns of plain ciphertexts, whose plaintexts are numbers modulo n: for formats that encode numbers in
//! another way than [`crate::paillier`].

use crate::answers::{Answers, OnFailure, Target};
use crate::arguments::{Call, Options};
use crate::column::Form;
use crate::errors::of_call;
use crate::ints::Ints;
use crate::paillier_calls::{DECRYPTION_COUNTS, Work, integers, plain_options, raised, run};
use crate::paillier_keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{Ciphertexts, EncodedColumn, EncryptedColumn, Error, Exponents, Paillier};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::borrow::Cow;

/// Ciphertexts of one key.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PaillierCiphertexts {
    ciphertexts: Ciphertexts,
}

impl PaillierCiphertexts {
    /// The answer of an operation that takes about `products` products for each item.
    fn made<'py>(
        &self,
        py: Python<'py>,
        options: Options<'py>,
        products: usize,
        work: impl FnOnce(&Paillier<'_>) -> Result<Ciphertexts, Error> + Send,
    ) -> PyResult<Self> {
        let items = self.ciphertexts.len();
        let extent = Work { items, products, counts: 1 };
        Ok(Self { ciphertexts: run(py, options, self.ciphertexts.key(), extent, work)? })
    }

    /// These ciphertexts, or the only one as often as there are `items`.
    fn spread(&self, items: usize) -> Result<Cow<'_, Ciphertexts>, Error> {
        match self.ciphertexts.len() {
            1 if items != 1 => Ok(Cow::Owned(self.ciphertexts.gathered(&vec![0; items])?)),
            _ => Ok(Cow::Borrowed(&self.ciphertexts)),
        }
    }
}

#[pymethods]
impl PaillierCiphertexts {
    /// Ciphertexts that came from elsewhere.
    #[staticmethod]
    fn from_numbers<'py>(
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        numbers: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let values = integers(&Call::new(py, options)?, "ciphertexts", numbers)?;
        if values.signs().contains(&true) {
            return Err(PyValueError::new_err("ciphertexts are not negative"));
        }
        let ciphertexts = Ciphertexts::new(&key.get().key, values.magnitudes());
        Ok(Self { ciphertexts: ciphertexts.map_err(|error| raised(py, &error))? })
    }

    /// Ciphertexts of signed numbers; without masks if `is_masked` is false, so that anyone can read them.
    #[staticmethod]
    fn encrypt<'py>(
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        numbers: &Bound<'py, PyAny>,
        is_masked: bool,
        options: Options<'py>,
        reading: Options<'py>,
    ) -> PyResult<Self> {
        let key = &key.get().key;
        let integers = integers(&Call::new(py, reading)?, "numbers", numbers)?;
        let products = if is_masked { key.bits() } else { 1 };
        let extent = Work { items: integers.len(), products, counts: 1 };
        let ciphertexts = run(py, options, key, extent, |paillier| {
            let encoded = EncodedColumn::from_integers(key, &integers)?;
            match is_masked {
                true => Ok(encoded.encrypt(paillier)?.into_ciphertexts()),
                false => paillier.unmasked(key, &*paillier.engine().install(|| encoded.try_residues())?),
            }
        })?;
        Ok(Self { ciphertexts })
    }

    /// The columns one after the other.
    #[staticmethod]
    fn joined<'py>(
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        columns: Vec<Bound<'py, Self>>,
    ) -> PyResult<Self> {
        let columns: Vec<&Ciphertexts> = columns.iter().map(|column| &column.get().ciphertexts).collect();
        let ciphertexts = Ciphertexts::joined(&key.get().key, &columns);
        Ok(Self { ciphertexts: ciphertexts.map_err(|error| raised(py, &error))? })
    }

    /// The items at these positions.
    fn gathered(&self, py: Python<'_>, items: Vec<usize>) -> PyResult<Self> {
        let gathered = self.ciphertexts.gathered(&items);
        Ok(Self { ciphertexts: gathered.map_err(|error| raised(py, &error))? })
    }

    /// The sums with another column. A column of one item serves all items of the other.
    fn add<'py>(&self, py: Python<'py>, other: &Bound<'py, Self>, options: Options<'py>) -> PyResult<Self> {
        let other = other.get();
        let items = self.ciphertexts.len().max(other.ciphertexts.len());
        self.made(py, options, 1, |paillier| paillier.add(&*self.spread(items)?, &*other.spread(items)?))
    }

    /// The products by signed numbers, one for each item or one for all. If they are not secret, the time
    /// depends on them.
    fn multiply<'py>(
        &self,
        py: Python<'py>,
        numbers: &Bound<'py, PyAny>,
        is_secret: bool,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let factors = integers(&Call::new(py, plain_options(py)?)?, "factors", numbers)?;
        self.made(py, options, factors.magnitudes().bits(), |paillier| match is_secret {
            true => paillier.mul(&self.ciphertexts, &factors),
            false => paillier.mul_vartime(&self.ciphertexts, &factors),
        })
    }

    /// The sum, a column of one item.
    fn sum<'py>(&self, py: Python<'py>, options: Options<'py>) -> PyResult<Self> {
        self.made(py, options, 1, |paillier| paillier.sum(&self.ciphertexts))
    }

    /// The sum of the products by signed numbers, one for each item, as a column of one item. The time
    /// depends on the numbers.
    fn dot<'py>(
        &self,
        py: Python<'py>,
        numbers: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let weights = integers(&Call::new(py, plain_options(py)?)?, "weights", numbers)?;
        let products = weights.magnitudes().bits();
        self.made(py, options, products, |paillier| paillier.dot(&self.ciphertexts, &weights))
    }

    /// Other ciphertexts of the same numbers, with the masks of `key`, which has the same n.
    fn randomize<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let key = &key.get().key;
        self.made(py, options, key.bits(), |paillier| {
            paillier.randomize_with(&self.ciphertexts, paillier.masks(key, self.ciphertexts.len())?)
        })
    }

    /// The numbers, of which those above a third of n stand for negative ones.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PaillierPrivateKey>,
        options: Options<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let key = &key.get().key;
        let bits = self.ciphertexts.key().signed_bits();
        let column = self.ciphertexts.try_clone();
        let column = column.and_then(|values| EncryptedColumn::new(values, Exponents::Shared(0), bits));
        let column = column.map_err(|error| raised(py, &error))?;
        let extent = Work { items: column.len(), products: key.bits(), counts: DECRYPTION_COUNTS };
        let integers = run(py, options, key.public_key(), extent, |paillier| {
            let decrypted = column.decrypt(paillier, key)?;
            paillier.engine().install(|| decrypted.integers())
        })?;
        let ints = Ints::new(py)?;
        let numbers = integers.magnitudes().iter().zip(integers.signs());
        let numbers: Vec<_> =
            numbers.map(|(magnitude, &negative)| ints.read(magnitude, negative)).collect::<PyResult<_>>()?;
        PyList::new(py, numbers)
    }

    /// The ciphertexts as numbers, in the form that `out` names.
    fn numbers<'py>(&self, py: Python<'py>, out: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(py, plain_options(py)?)?;
        let answers =
            Answers::new(self.ciphertexts.values().try_clone().map_err(|error| of_call(py, &error))?);
        answers.deliver(py, &call.engine, &Target::read(out, &[Form::Ints])?, OnFailure::Raise)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.ciphertexts.to_bytes().map_err(|error| raised(py, &error))?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, key: &Bound<'_, PaillierPublicKey>, data: &[u8]) -> PyResult<Self> {
        let ciphertexts = Ciphertexts::from_bytes(&key.get().key, data);
        Ok(Self { ciphertexts: ciphertexts.map_err(|error| raised(py, &error))? })
    }

    fn __len__(&self) -> usize {
        self.ciphertexts.len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let unpickle = py.get_type::<Self>().getattr("from_bytes")?;
        let key = PaillierPublicKey { key: self.ciphertexts.key().clone() };
        (unpickle, (Bound::new(py, key)?, self.to_bytes(py)?)).into_pyobject(py)
    }
}
