//! Columns of plain ciphertexts, whose plaintexts are numbers modulo n: for formats that encode numbers in
//! another way than [`crate::paillier::column`].

use crate::arguments::{Call, Options};
use crate::errors::OrRaise;
use crate::ints::Ints;
use crate::paillier::calls::{Work, ciphertexts_in, ciphertexts_of, integers, run};
use crate::paillier::keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{Ciphertexts, EncodedColumn, EncryptedColumn, Error, Exponents, Paillier};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
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
        call: &Call<'py>,
        products: usize,
        work: impl FnOnce(&Paillier<'_>) -> Result<Ciphertexts, Error> + Send,
    ) -> PyResult<Self> {
        let work_of = Work::new(self.ciphertexts.len(), products);
        Ok(Self { ciphertexts: run(call, self.ciphertexts.key(), work_of, work)? })
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
    fn from_numbers(
        key: &Bound<'_, PaillierPublicKey>,
        numbers: &Bound<'_, PyAny>,
        options: Options<'_>,
    ) -> PyResult<Self> {
        let ciphertexts = ciphertexts_of(&Call::new(options)?, &key.get().key, numbers)?;
        Ok(Self { ciphertexts })
    }

    /// Ciphertexts of signed numbers; without masks if `is_masked` is false, so that anyone can read them.
    #[staticmethod]
    fn encrypt(
        key: &Bound<'_, PaillierPublicKey>,
        numbers: &Bound<'_, PyAny>,
        is_masked: bool,
        options: Options<'_>,
    ) -> PyResult<Self> {
        let (key, call) = (&key.get().key, Call::new(options)?);
        let integers = integers(&call, "numbers", numbers)?;
        let products = if is_masked { key.bits() } else { 1 };
        let ciphertexts = run(&call, key, Work::new(integers.len(), products), |paillier| {
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
        Ok(Self { ciphertexts: ciphertexts.or_raise(py)? })
    }

    /// The items at these positions.
    fn gathered(&self, py: Python<'_>, items: Vec<usize>) -> PyResult<Self> {
        let gathered = self.ciphertexts.gathered(&items);
        Ok(Self { ciphertexts: gathered.or_raise(py)? })
    }

    /// The sums with another column. A column of one item serves all items of the other.
    fn add(&self, other: &Bound<'_, Self>, options: Options<'_>) -> PyResult<Self> {
        let other = other.get();
        let items = self.ciphertexts.len().max(other.ciphertexts.len());
        self.made(&Call::new(options)?, 1, |paillier| {
            paillier.add(&*self.spread(items)?, &*other.spread(items)?)
        })
    }

    /// The products by signed numbers, one for each item or one for all. If they are not secret, the time
    /// depends on them.
    fn multiply(&self, numbers: &Bound<'_, PyAny>, is_secret: bool, options: Options<'_>) -> PyResult<Self> {
        let call = Call::new(options)?;
        let factors = integers(&call, "factors", numbers)?;
        self.made(&call, factors.magnitudes().bits(), |paillier| match is_secret {
            true => paillier.mul(&self.ciphertexts, &factors),
            false => paillier.mul_vartime(&self.ciphertexts, &factors),
        })
    }

    /// The sum, a column of one item.
    fn sum(&self, options: Options<'_>) -> PyResult<Self> {
        self.made(&Call::new(options)?, 1, |paillier| paillier.sum(&self.ciphertexts))
    }

    /// The sum of the products by signed numbers, one for each item, as a column of one item. The time
    /// depends on the numbers.
    fn dot(&self, numbers: &Bound<'_, PyAny>, options: Options<'_>) -> PyResult<Self> {
        let call = Call::new(options)?;
        let weights = integers(&call, "weights", numbers)?;
        let products = weights.magnitudes().bits();
        self.made(&call, products, |paillier| paillier.dot(&self.ciphertexts, &weights))
    }

    /// Other ciphertexts of the same numbers, with the masks of `key`, which has the same n.
    fn randomize(&self, key: &Bound<'_, PaillierPublicKey>, options: Options<'_>) -> PyResult<Self> {
        let key = &key.get().key;
        self.made(&Call::new(options)?, key.bits(), |paillier| {
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
        let (call, public) = (Call::new(options)?, key.public_key());
        let integers = run(&call, public, Work::decryption(public, self.ciphertexts.len()), |paillier| {
            let column = EncryptedColumn::new(self.ciphertexts.try_clone()?, Exponents::Shared(0), bits)?;
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
        ciphertexts_in(py, &self.ciphertexts, out)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.ciphertexts.to_bytes().or_raise(py)?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, key: &Bound<'_, PaillierPublicKey>, data: &[u8]) -> PyResult<Self> {
        let ciphertexts = Ciphertexts::from_bytes(&key.get().key, data);
        Ok(Self { ciphertexts: ciphertexts.or_raise(py)? })
    }

    fn __len__(&self) -> usize {
        self.ciphertexts.len()
    }
}
