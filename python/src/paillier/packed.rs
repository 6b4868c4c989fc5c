//! Paillier's columns of packed numbers: several in one ciphertext.

use crate::arguments::{Call, Options};
use crate::errors::OrRaise;
use crate::paillier::calls::{Work, integers, run};
use crate::paillier::keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{Error, PackedColumn, Packing, Paillier};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Encrypted numbers, several in a ciphertext.
#[pyclass(frozen, module = "modmill._modmill")]
pub(crate) struct PaillierPackedColumn {
    column: PackedColumn,
}

/// The layout of numbers of `value_bits` bits, of which `terms` can be added.
fn packing(py: Python<'_>, value_bits: usize, terms: u64, is_signed: bool) -> PyResult<Packing> {
    let packing = match is_signed {
        true => Packing::signed(value_bits, terms),
        false => Packing::unsigned(value_bits, terms),
    };
    packing.or_raise(py)
}

/// The slots of a ciphertext of `key`, and the terms that sums may have.
#[pyfunction]
pub(crate) fn paillier_slots(
    py: Python<'_>,
    value_bits: usize,
    terms: u64,
    is_signed: bool,
    key: Option<&Bound<'_, PaillierPublicKey>>,
) -> PyResult<(usize, u128)> {
    let packing = packing(py, value_bits, terms, is_signed)?;
    Ok((key.map_or(0, |key| packing.slots(&key.get().key)), packing.terms()))
}

impl PaillierPackedColumn {
    /// The answer of an operation that takes about `products` products for each ciphertext.
    fn made(
        &self,
        options: Options<'_>,
        products: usize,
        work: impl FnOnce(&Paillier<'_>) -> Result<PackedColumn, Error> + Send,
    ) -> PyResult<Self> {
        let (call, ciphertexts) = (Call::new(options)?, self.column.ciphertexts());
        Ok(Self { column: run(&call, ciphertexts.key(), Work::new(ciphertexts.len(), products), work)? })
    }
}

#[pymethods]
impl PaillierPackedColumn {
    /// Packs and encrypts whole numbers.
    #[staticmethod]
    fn encrypt<'py>(
        py: Python<'py>,
        key: &Bound<'py, PaillierPublicKey>,
        layout: (usize, u64, bool),
        numbers: &Bound<'py, PyAny>,
        options: Options<'py>,
    ) -> PyResult<Self> {
        let (value_bits, terms, is_signed) = layout;
        let (key, packing) = (&key.get().key, packing(py, value_bits, terms, is_signed)?);
        let call = Call::new(options)?;
        let integers = integers(&call, "numbers", numbers)?;
        let items = integers.len().div_ceil(packing.slots(key));
        let column = run(&call, key, Work::new(items, key.bits()), |paillier| {
            // A number of more than 128 bits is out of range, as the greatest one of 128 bits is.
            let number = |index: usize| integers.to_i128(index).unwrap_or(i128::MAX);
            let numbers: Vec<i128> = (0..integers.len()).map(number).collect();
            packing.encrypt(paillier, key, &numbers)
        })?;
        Ok(Self { column })
    }

    #[getter]
    fn public_key(&self) -> PaillierPublicKey {
        PaillierPublicKey { key: self.column.ciphertexts().key().clone() }
    }

    /// The terms that each number is a sum of.
    #[getter]
    fn terms(&self) -> u128 {
        self.column.terms()
    }

    /// The number of ciphertexts.
    #[getter]
    fn ciphertexts(&self) -> usize {
        self.column.ciphertexts().len()
    }

    fn add(&self, other: &Bound<'_, Self>, options: Options<'_>) -> PyResult<Self> {
        let other = &other.get().column;
        self.made(options, 1, |paillier| self.column.add(paillier, other))
    }

    fn multiply(&self, factor: u64, options: Options<'_>) -> PyResult<Self> {
        self.made(options, 64, |paillier| self.column.mul(paillier, factor))
    }

    fn decrypt(&self, key: &Bound<'_, PaillierPrivateKey>, options: Options<'_>) -> PyResult<Vec<i128>> {
        let (key, ciphertexts) = (&key.get().key, self.column.ciphertexts());
        let work = Work::decryption(ciphertexts.key(), ciphertexts.len());
        run(&Call::new(options)?, ciphertexts.key(), work, |paillier| self.column.decrypt(paillier, key))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.column.to_bytes().or_raise(py)?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, key: &Bound<'_, PaillierPublicKey>, data: &[u8]) -> PyResult<Self> {
        let column = PackedColumn::from_bytes(&key.get().key, data);
        Ok(Self { column: column.or_raise(py)? })
    }

    /// The layout: the bits of a number, the terms of a sum, and whether numbers may be negative.
    #[getter]
    fn layout(&self) -> (usize, u128, bool) {
        let packing = self.column.packing();
        (packing.value_bits(), packing.terms(), packing.is_signed())
    }

    fn __len__(&self) -> usize {
        self.column.len()
    }
}
