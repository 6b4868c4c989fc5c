//! Paillier's ciphertexts in columns of Arrow, decrypted to columns of Arrow.

use crate::arguments::Options;
use crate::arrow_in;
use crate::arrow_out::Column;
use crate::paillier::PaillierColumn;
use crate::paillier_calls::{DECRYPTION_COUNTS, Work, run};
use crate::paillier_keys::{PaillierPrivateKey, PaillierPublicKey};
use arrow_array::{Float64Array, Int64Array};
use modmill_paillier::{EncodedColumn, Error, nearest_f64};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Decrypts ciphertexts with one exponent: to `int64` if the numbers are whole, else to `float64`. Bytes that
/// lie as the engine's rows do are read part by part, and other columns as a whole.
#[pyfunction]
pub(crate) fn paillier_decrypt_arrow<'py>(
    py: Python<'py>,
    key: &Bound<'py, PaillierPrivateKey>,
    ciphertexts: &Bound<'py, PyAny>,
    exponent: i32,
    options: Options<'py>,
    reading: Options<'py>,
) -> PyResult<Column> {
    let private = &key.get().key;
    let public = private.public_key();
    let chunks = arrow_in::read("column", ciphertexts)?;
    let Some(octets) = chunks.as_ref().and_then(|chunks| chunks.rows(public.ciphertext_octets())) else {
        let public = Bound::new(py, PaillierPublicKey { key: public.clone() })?;
        let column =
            PaillierColumn::from_ciphertexts(py, &public, ciphertexts, vec![exponent], None, reading)?;
        return paillier_decrypt_column_to_arrow(py, &Bound::new(py, column)?, key, options);
    };
    let items = octets.len() / public.ciphertext_octets();
    let work = Work { items, products: public.bits(), counts: DECRYPTION_COUNTS };
    if exponent < 0 {
        let floats = run(py, options, public, work, |paillier| {
            paillier.decrypt_octets(private, octets, |index, magnitude, is_negative| {
                let value = nearest_f64(magnitude, exponent).ok_or(Error::TooLarge { index, limit: 1024 })?;
                Ok(if is_negative { -value } else { value })
            })
        })?;
        return Ok(Column::of(Arc::new(Float64Array::from(floats))));
    }
    // The first item that does not fit.
    let misfit = AtomicUsize::new(usize::MAX);
    let numbers = run(py, options, public, work, |paillier| {
        paillier.decrypt_octets(private, octets, |index, magnitude, is_negative| {
            let number = whole_64(magnitude, is_negative, exponent);
            Ok(number.unwrap_or_else(|| {
                misfit.fetch_min(index, Ordering::Relaxed);
                0
            }))
        })
    })?;
    match misfit.into_inner() {
        usize::MAX => Ok(Column::of(Arc::new(Int64Array::from(numbers)))),
        item => Err(too_long(item)),
    }
}

/// Decrypts an encrypted column: to `int64` if its numbers are whole, else to `float64`.
#[pyfunction]
pub(crate) fn paillier_decrypt_column_to_arrow<'py>(
    py: Python<'py>,
    column: &Bound<'py, PaillierColumn>,
    key: &Bound<'py, PaillierPrivateKey>,
    options: Options<'py>,
) -> PyResult<Column> {
    let column = column.get();
    let exponents = column.column.exponents();
    if exponents.least() < 0 {
        let floats = column.decrypted(py, key, options, EncodedColumn::to_f64)?;
        return Ok(Column::of(Arc::new(Float64Array::from(floats))));
    }
    // The numbers, or the first item that does not fit.
    let numbers = column.decrypted(py, key, options, |decrypted| {
        let integers = decrypted.integers()?;
        let number = |index: usize| {
            let magnitude = integers.magnitudes().get(index);
            whole_64(magnitude, integers.is_negative(index), exponents.get(index)).ok_or(index)
        };
        let all: Vec<_> = (0..integers.len()).into_par_iter().with_min_len(1024).map(number).collect();
        Ok(all.into_iter().collect::<Result<Vec<i64>, usize>>())
    })?;
    Ok(Column::of(Arc::new(Int64Array::from(numbers.map_err(too_long)?))))
}

/// The exception of a whole number that does not fit a column of Arrow.
fn too_long(item: usize) -> PyErr {
    PyOverflowError::new_err(format!("item {item} does not fit in 64 bits: decrypt to a list"))
}

/// `16^exponent` times a number, if it fits in 64 bits.
fn whole_64(magnitude: &[u64], is_negative: bool, exponent: i32) -> Option<i64> {
    let (low, above) = magnitude.split_first().unwrap_or((&0, &[]));
    if above.iter().any(|&limb| limb != 0) {
        return None;
    }
    let sign = if is_negative { -1 } else { 1 };
    let number = i64::try_from(sign * i128::from(*low)).ok()?;
    match number {
        0 => Some(0),
        number => number.checked_mul(16i64.checked_pow(exponent.try_into().ok()?)?),
    }
}
