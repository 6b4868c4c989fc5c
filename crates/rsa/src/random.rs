//! Random bytes of the operating system.

use crate::Error;

/// Fills bytes with random ones.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Random(error.to_string()))
}
