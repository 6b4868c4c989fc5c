//! Mechanisms and their parameters, as C structures.

use super::memory::{value, values};
use crate::mechanism::{Mechanism, Parameter, Scheme, find, hash, mask_hash, pss};
use crate::refusal::{Answer, Refusal, refuse};
use crate::slot::Slot;
use cryptoki_sys::*;
use modmill_client::Encryption;
use modmill_rsa::Sizes;

/// The mechanism at `pointer`, for a use of the token of `slot`.
///
/// # Safety
/// As for [`values`], also for the mechanism's parameters.
pub(super) unsafe fn mechanism(pointer: *const CK_MECHANISM, slot: &Slot) -> Answer<Mechanism> {
    // SAFETY: as the caller promises.
    let given = unsafe { value(pointer) }?;
    let row = find(given.mechanism)?;
    if !row.is_offered(slot.token().is_writable()) {
        return refuse(CKR_MECHANISM_INVALID, "the token does not have this mechanism");
    }
    // SAFETY: as the caller promises.
    let parameter = unsafe {
        match row.scheme {
            Scheme::Pss => {
                let given: &CK_RSA_PKCS_PSS_PARAMS = structure(given)?;
                let salt = usize::try_from(given.sLen).ok().filter(|len| *len <= Sizes::MAX_BITS / 8);
                let salt = salt.ok_or_else(|| wrong("the salt is longer than any modulus"))?;
                pss(row, hash(given.hashAlg)?, mask_hash(given.mgf)?, salt)?
            }
            Scheme::Oaep => Parameter::Oaep(oaep(structure(given)?)?),
            Scheme::RsaAesWrap => {
                let given: &CK_RSA_AES_KEY_WRAP_PARAMS = structure(given)?;
                let len = match given.ulAESKeyBits {
                    128 => 16,
                    192 => 24,
                    256 => 32,
                    _ => return Err(wrong("an AES key has 128, 192 or 256 bits")),
                };
                Parameter::RsaAes(len, oaep(value(given.pOAEPParams.cast_const())?)?)
            }
            _ if !given.pParameter.is_null() && given.ulParameterLen != 0 => {
                return Err(wrong("the mechanism has no parameter, and one was given"));
            }
            _ => Parameter::None,
        }
    };
    Ok(Mechanism { row, parameter })
}

fn wrong(reason: &'static str) -> Refusal {
    Refusal::new(CKR_MECHANISM_PARAM_INVALID, reason)
}

/// The parameter of a mechanism as a structure.
///
/// # Safety
/// As for [`values`].
unsafe fn structure<'a, T>(mechanism: &CK_MECHANISM) -> Answer<&'a T> {
    if mechanism.ulParameterLen as usize != size_of::<T>() {
        return Err(wrong("the parameter of the mechanism has another length"));
    }
    // SAFETY: as the caller promises.
    let structure = unsafe { value(mechanism.pParameter.cast::<T>().cast_const()) };
    structure.map_err(|refusal| Refusal { code: CKR_MECHANISM_PARAM_INVALID, ..refusal })
}

/// # Safety
/// As for [`values`], for the label.
unsafe fn oaep(given: &CK_RSA_PKCS_OAEP_PARAMS) -> Answer<Encryption> {
    let label = match given.source {
        CKZ_DATA_SPECIFIED => {
            let label = given.pSourceData.cast::<u8>().cast_const();
            // SAFETY: as the caller promises.
            unsafe { values(label, given.ulSourceDataLen) }?
        }
        // Some programs leave the source out for an empty label.
        0 => &[],
        _ => return Err(wrong("the source of the label is not known")),
    };
    if label.len() > 1 << 20 {
        return Err(wrong("the label is longer than a megabyte"));
    }
    Ok(Encryption::Oaep {
        hash: hash(given.hashAlg)?,
        mask_hash: mask_hash(given.mgf)?,
        label: label.to_vec(),
    })
}
