//! The names of paddings, hashes and sizes of RSA.

use modmill_rsa::{EncryptionScheme, Hash, Oaep, SignatureScheme, Sizes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn sizes(allow_small: bool) -> Sizes {
    if allow_small { Sizes::AllowSmall } else { Sizes::Standard }
}

fn hash(name: &str) -> PyResult<Hash> {
    Hash::all().find(|hash| hash.name() == name).ok_or_else(|| {
        let names: Vec<_> = Hash::all().map(Hash::name).collect();
        PyValueError::new_err(format!("unknown hash {name:?}; known: {}", names.join(", ")))
    })
}

pub(crate) fn signature_scheme(padding: &str, name: &str) -> PyResult<SignatureScheme> {
    match padding {
        "pss" => Ok(SignatureScheme::pss(hash(name)?)),
        "pkcs1v15" => Ok(SignatureScheme::Pkcs1v15(hash(name)?)),
        other => {
            Err(PyValueError::new_err(format!("padding is {other:?}; it must be \"pss\" or \"pkcs1v15\"")))
        }
    }
}

pub(crate) fn encryption_scheme<'a>(
    padding: &str,
    name: &str,
    label: &'a [u8],
) -> PyResult<EncryptionScheme<'a>> {
    match padding {
        "oaep" => Ok(EncryptionScheme::Oaep(Oaep { label, ..Oaep::new(hash(name)?) })),
        "pkcs1v15" => Ok(EncryptionScheme::Pkcs1v15),
        other => {
            Err(PyValueError::new_err(format!("padding is {other:?}; it must be \"oaep\" or \"pkcs1v15\"")))
        }
    }
}
