//! Paillier's encryption of columns, to encrypted columns and to columns of Arrow.

use crate::arguments::{Call, Options};
use crate::arrow_out::Column;
use crate::paillier::PaillierColumn;
use crate::paillier_calls::{Floats, Work, integers, labelled, run};
use crate::paillier_keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{EncodedColumn, Error, PublicKey};
use pyo3::prelude::*;

/// Encrypts whole numbers, with the private key if the owner of the key does it.
#[pyfunction]
pub(crate) fn paillier_encrypt_whole<'py>(
    py: Python<'py>,
    key: &Bound<'py, PaillierPublicKey>,
    numbers: &Bound<'py, PyAny>,
    owner: Option<&Bound<'py, PaillierPrivateKey>>,
    options: Options<'py>,
    reading: Options<'py>,
) -> PyResult<PaillierColumn> {
    let key = &key.get().key;
    let integers = integers(&Call::new(py, reading)?, "column", numbers)?;
    let encode = || EncodedColumn::from_integers(key, &integers);
    encrypted(py, key, integers.len(), encode, owner, options)
}

/// Encrypts floating-point numbers, with the private key if the owner of the key does it. With `is_each` each
/// has its own exponent.
#[pyfunction]
pub(crate) fn paillier_encrypt_floats<'py>(
    py: Python<'py>,
    key: &Bound<'py, PaillierPublicKey>,
    numbers: Floats,
    exponent: Option<i32>,
    is_each: bool,
    owner: Option<&Bound<'py, PaillierPrivateKey>>,
    options: Options<'py>,
) -> PyResult<PaillierColumn> {
    let key = &key.get().key;
    let encode = || match is_each {
        true => EncodedColumn::from_f64_each(key, &numbers.0),
        false => EncodedColumn::from_f64(key, &numbers.0, exponent),
    };
    encrypted(py, key, numbers.0.len(), encode, owner, options)
}

/// Encrypts whole numbers to a column of Arrow.
#[pyfunction]
pub(crate) fn paillier_encrypt_whole_to_arrow<'py>(
    py: Python<'py>,
    key: &Bound<'py, PaillierPublicKey>,
    numbers: &Bound<'py, PyAny>,
    options: Options<'py>,
    reading: Options<'py>,
) -> PyResult<Column> {
    let key = &key.get().key;
    let integers = integers(&Call::new(py, reading)?, "column", numbers)?;
    let encode = || EncodedColumn::from_integers(key, &integers);
    encrypted_to_arrow(py, key, integers.len(), encode, options)
}

/// Encrypts floating-point numbers, rounded to multiples of `16^exponent`, to a column of Arrow.
#[pyfunction]
pub(crate) fn paillier_encrypt_floats_to_arrow<'py>(
    py: Python<'py>,
    key: &Bound<'py, PaillierPublicKey>,
    numbers: Floats,
    exponent: i32,
    options: Options<'py>,
) -> PyResult<Column> {
    let key = &key.get().key;
    let encode = || EncodedColumn::from_f64(key, &numbers.0, Some(exponent));
    encrypted_to_arrow(py, key, numbers.0.len(), encode, options)
}

/// Encrypts a column of `items` numbers, with the private key if the owner of the key does it.
fn encrypted<'py>(
    py: Python<'py>,
    key: &PublicKey,
    items: usize,
    encode: impl FnOnce() -> Result<EncodedColumn, Error> + Send,
    owner: Option<&Bound<'py, PaillierPrivateKey>>,
    options: Options<'py>,
) -> PyResult<PaillierColumn> {
    let owner = owner.map(|owner| &owner.get().key);
    // A mask is counted once, and one of the owner's twice.
    let counts = if owner.is_some() { 2 } else { 1 };
    let extent = Work { items, products: key.bits(), counts };
    let column = run(py, options, key, extent, |paillier| {
        let encoded = paillier.engine().install(encode)?;
        match owner {
            Some(owner) => encoded.encrypt_as_owner(paillier, owner),
            None => encoded.encrypt(paillier),
        }
    })?;
    Ok(PaillierColumn { column })
}

/// Encrypts a column of `items` numbers to one of Arrow.
fn encrypted_to_arrow<'py>(
    py: Python<'py>,
    key: &PublicKey,
    items: usize,
    encode: impl FnOnce() -> Result<EncodedColumn, Error> + Send,
    options: Options<'py>,
) -> PyResult<Column> {
    let extent = Work { items, products: key.bits(), counts: 1 };
    let (octets, exponents, bits) = run(py, options, key, extent, |paillier| {
        let encoded = paillier.engine().install(encode)?;
        let octets = encoded.encrypt_to_octets(paillier)?;
        Ok((octets, encoded.exponents().clone(), encoded.magnitude_bits()))
    })?;
    Ok(labelled(Column::octets(octets, key.ciphertext_octets())?, &exponents, bits))
}
