//! Paddings: encodings of messages and digests as numbers below the modulus (RFC 8017).

pub(crate) mod ct;
pub(crate) mod mask;
pub(crate) mod oaep;
pub(crate) mod pkcs1v15;
pub(crate) mod pss;

use crate::ItemError;

/// Copies a number into a block without padding. The number has to be as long as the modulus and below it.
pub(crate) fn copy_number(number: &[u8], modulus: &[u8], block: &mut [u8]) -> Result<(), ItemError> {
    if number.len() != modulus.len() {
        return Err(ItemError::WrongLength { expected: modulus.len(), found: number.len() });
    }
    if number >= modulus {
        return Err(ItemError::OutOfRange);
    }
    block.copy_from_slice(number);
    Ok(())
}

/// Copies a signature into a block. Every number that is no signature of a key with this modulus gets the
/// same error.
pub(crate) fn copy_signature(signature: &[u8], modulus: &[u8], block: &mut [u8]) -> Result<(), ItemError> {
    copy_number(signature, modulus, block).map_err(|_| ItemError::Verification)
}
