//! Signatures are verified after the run, so that this takes nothing from the load.

use crate::error::Error;
use crate::tally::Signature;
use modmill::{Backend, Engine};
use modmill_rsa::{PublicKey, Rsa, SignatureScheme};

/// Verifies signatures, and returns how many are wrong.
pub(super) fn wrong(
    keys: &[PublicKey],
    scheme: SignatureScheme,
    signatures: &[Signature],
) -> Result<u64, Error> {
    if signatures.is_empty() {
        return Ok(0);
    }
    let failed = |error: String| Error::Verify(error);
    let engine =
        Engine::builder().backend(Backend::Cpu).build().map_err(|error| failed(error.to_string()))?;
    let mut wrong = 0;
    for (index, key) in keys.iter().enumerate() {
        let own: Vec<&Signature> = signatures.iter().filter(|signature| signature.key == index).collect();
        let digests: Vec<&[u8]> = own.iter().map(|signature| &signature.digest[..]).collect();
        let octets: Vec<&[u8]> = own.iter().map(|signature| &signature.signature[..]).collect();
        let verdicts = Rsa::new(&engine).verify_digests(key, scheme, &digests, &octets);
        let verdicts = verdicts.map_err(|error| failed(error.to_string()))?;
        wrong += verdicts.iter().filter(|verdict| verdict.is_err()).count() as u64;
    }
    Ok(wrong)
}
