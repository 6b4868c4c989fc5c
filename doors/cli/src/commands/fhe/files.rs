//! Files of keys and ciphertexts, with errors that name them.

use crate::failure::Failure;
use crate::io::{Protected, STANDARD};
use modmill::Engine;
use modmill_fhe::gentry_halevi::{Ciphertexts, GentryHalevi, PublicKey, StoredError};
use std::path::Path;

/// The value of an option that names a file. Standard input and output are none: keys and ciphertexts have
/// megabytes.
pub(super) fn file_name(text: &str) -> Result<String, String> {
    match text {
        "" | STANDARD => Err("name a file; standard input and output are not used".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// A failure to read or write (`action`) a file.
pub(super) fn failure(action: &str, path: &str) -> impl Fn(StoredError) -> Failure {
    move |error| Failure::Usage(format!("cannot {action} {path}: {error}"))
}

/// Reads a public key and makes its scheme ready.
pub(super) fn open_scheme<'e>(engine: &'e Engine, path: &str) -> Result<GentryHalevi<'e>, Failure> {
    let key = PublicKey::read(Path::new(path)).map_err(failure("read", path))?;
    Ok(GentryHalevi::new(engine, key)?)
}

/// Reads ciphertexts of a scheme's key.
pub(super) fn read_bits(scheme: &GentryHalevi<'_>, path: &str) -> Result<Ciphertexts, Failure> {
    Ciphertexts::read(scheme.engine(), scheme.key(), Path::new(path)).map_err(failure("read", path))
}

/// Writes ciphertexts.
pub(super) fn write_bits(scheme: &GentryHalevi<'_>, bits: &Ciphertexts, path: &str) -> Result<(), Failure> {
    bits.write(scheme.key(), Path::new(path)).map_err(failure("write", path))
}

/// Refuses an output that the command reads.
pub(super) fn protect<'a>(
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
    output: &str,
) -> Result<(), Failure> {
    Protected::new(inputs).check(output)
}
