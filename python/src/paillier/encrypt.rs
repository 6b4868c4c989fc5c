//! Paillier's encryption of columns, to encrypted columns and to columns of Arrow.

use crate::arguments::{Call, Options};
use crate::arrow_out::Column;
use crate::paillier::calls::{Clear, Floats, Work, integers, labelled, run};
use crate::paillier::column::PaillierColumn;
use crate::paillier::keys::{PaillierPrivateKey, PaillierPublicKey};
use modmill_paillier::{EncodedColumn, Error, Integers, PublicKey};
use pyo3::prelude::*;

/// Numbers to encrypt.
enum Numbers {
    Whole(Integers),
    /// Floating-point numbers, rounded to multiples of `16^exponent` if there is one.
    Floats(Floats, Option<i32>),
    /// Floating-point numbers, each with an exponent of its own.
    Each(Floats),
}

impl Numbers {
    fn read(call: &Call<'_>, clear: Clear<'_>, exponent: Option<i32>, is_each: bool) -> PyResult<Self> {
        Ok(match clear {
            Clear(None, whole) => Self::Whole(integers(call, "column", &whole)?),
            Clear(Some(floats), _) if is_each => Self::Each(floats),
            Clear(Some(floats), _) => Self::Floats(floats, exponent),
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Whole(integers) => integers.len(),
            Self::Floats(Floats(floats), _) | Self::Each(Floats(floats)) => floats.len(),
        }
    }

    fn encode(&self, key: &PublicKey) -> Result<EncodedColumn, Error> {
        match self {
            Self::Whole(integers) => EncodedColumn::from_integers(key, integers),
            Self::Floats(Floats(floats), exponent) => EncodedColumn::from_f64(key, floats, *exponent),
            Self::Each(Floats(floats)) => EncodedColumn::from_f64_each(key, floats),
        }
    }
}

/// Encrypts numbers, floating-point ones or else whole ones, with the private key if the owner of the key
/// does it. With `is_each` each floating-point number has its own exponent.
#[pyfunction]
pub(crate) fn paillier_encrypt(
    key: &Bound<'_, PaillierPublicKey>,
    clear: Clear<'_>,
    exponent: Option<i32>,
    is_each: bool,
    owner: Option<&Bound<'_, PaillierPrivateKey>>,
    options: Options<'_>,
) -> PyResult<PaillierColumn> {
    let (key, owner) = (&key.get().key, owner.map(|owner| &owner.get().key));
    let call = Call::new(options)?;
    let numbers = Numbers::read(&call, clear, exponent, is_each)?;
    // A mask is counted once, and one of the owner's twice.
    let counts = if owner.is_some() { 2 } else { 1 };
    let extent = Work { counts, ..Work::new(numbers.len(), key.bits()) };
    let column = run(&call, key, extent, |paillier| {
        let encoded = paillier.engine().install(|| numbers.encode(key))?;
        match owner {
            Some(owner) => encoded.encrypt_as_owner(paillier, owner),
            None => encoded.encrypt(paillier),
        }
    })?;
    Ok(PaillierColumn { column })
}

/// Encrypts numbers to a column of Arrow: whole ones, or floating-point ones rounded to multiples of
/// `16^exponent`.
#[pyfunction]
pub(crate) fn paillier_encrypt_to_arrow(
    key: &Bound<'_, PaillierPublicKey>,
    clear: Clear<'_>,
    exponent: Option<i32>,
    options: Options<'_>,
) -> PyResult<Column> {
    let key = &key.get().key;
    let call = Call::new(options)?;
    let numbers = Numbers::read(&call, clear, exponent, false)?;
    let (octets, exponents, bits) = run(&call, key, Work::new(numbers.len(), key.bits()), |paillier| {
        let encoded = paillier.engine().install(|| numbers.encode(key))?;
        let octets = encoded.encrypt_to_octets(paillier)?;
        Ok((octets, encoded.exponents().clone(), encoded.magnitude_bits()))
    })?;
    Ok(labelled(Column::octets(octets, key.ciphertext_octets())?, &exponents, bits))
}
