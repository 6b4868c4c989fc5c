//! Errors of devices as errors of the engine.

use modmill_core::Error;

/// A device's error as an error of the engine.
pub(crate) fn device_error(error: modmill_cuda::Error) -> Error {
    match error {
        modmill_cuda::Error::OutOfMemory { wanted } => {
            Error::OutOfMemory { what: "device memory", bytes: wanted }
        }
        other => Error::Device(other.to_string()),
    }
}
