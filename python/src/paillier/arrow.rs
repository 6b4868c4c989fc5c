//! Paillier's ciphertexts in columns of Arrow, decrypted to columns of Arrow.

use crate::arguments::{Call, Options};
use crate::arrow_in;
use crate::arrow_out::Column;
use crate::errors::OrRaise;
use crate::paillier::calls::{Work, ciphertexts_of, run};
use crate::paillier::column::PaillierColumn;
use crate::paillier::keys::PaillierPrivateKey;
use arrow_array::{Float64Array, Int64Array};
use modmill_paillier::{EncodedColumn, EncryptedColumn, Error, Exponents, nearest_f64};
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
) -> PyResult<Column> {
    let (private, call) = (&key.get().key, Call::new(options)?);
    let public = private.public_key();
    let chunks = arrow_in::read("column", ciphertexts)?;
    let Some(octets) = chunks.as_ref().and_then(|chunks| chunks.rows(public.ciphertext_octets())) else {
        let ciphertexts = ciphertexts_of(&call, public, ciphertexts)?;
        let column = EncryptedColumn::new(ciphertexts, Exponents::Shared(exponent), public.signed_bits());
        return decrypted_to_arrow(&call, &PaillierColumn { column: column.or_raise(py)? }, key);
    };
    let items = octets.len() / public.ciphertext_octets();
    let work = Work::decryption(public, items);
    if exponent < 0 {
        let floats = run(&call, public, work, |paillier| {
            paillier.decrypt_octets(private, octets, |index, magnitude, is_negative| {
                let value = nearest_f64(magnitude, exponent).ok_or(Error::TooLarge { index, limit: 1024 })?;
                Ok(if is_negative { -value } else { value })
            })
        })?;
        return Ok(Column::of(Arc::new(Float64Array::from(floats))));
    }
    // The first item that does not fit.
    let misfit = AtomicUsize::new(usize::MAX);
    let numbers = run(&call, public, work, |paillier| {
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
pub(crate) fn paillier_decrypt_column_to_arrow(
    column: &Bound<'_, PaillierColumn>,
    key: &Bound<'_, PaillierPrivateKey>,
    options: Options<'_>,
) -> PyResult<Column> {
    decrypted_to_arrow(&Call::new(options)?, column.get(), key)
}

fn decrypted_to_arrow(
    call: &Call<'_>,
    column: &PaillierColumn,
    key: &Bound<'_, PaillierPrivateKey>,
) -> PyResult<Column> {
    let exponents = column.column.exponents();
    if exponents.least() < 0 {
        let floats = column.decrypted(call, key, EncodedColumn::to_f64)?;
        return Ok(Column::of(Arc::new(Float64Array::from(floats))));
    }
    // The numbers, or the first item that does not fit.
    let numbers = column.decrypted(call, key, |decrypted| {
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
