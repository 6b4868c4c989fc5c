//! Limits on what a password may cost: who sends a key chooses how hard it is to decrypt.

use crate::KeyError;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf;

/// Iterations of PBKDF2: some seconds.
const MAX_ITERATIONS: u32 = 10_000_000;
/// Memory of scrypt, in bytes.
const MAX_MEMORY: u64 = 256 << 20;
/// Passes of scrypt over its memory.
const MAX_PASSES: u16 = 16;

/// Refuses a key that would take too long to decrypt.
pub(super) fn check_cost(scheme: &EncryptionScheme) -> Result<(), KeyError> {
    let EncryptionScheme::Pbes2(parameters) = scheme else {
        return Err(KeyError::Format("the encryption is not PBES2".to_owned()));
    };
    match &parameters.kdf {
        Kdf::Pbkdf2(kdf) if kdf.iteration_count > MAX_ITERATIONS => {
            Err(KeyError::CostlyPassword(format!("{} iterations", kdf.iteration_count)))
        }
        Kdf::Scrypt(kdf) => {
            let memory = 128 * u128::from(kdf.cost_parameter) * u128::from(kdf.block_size);
            if memory > MAX_MEMORY.into() || kdf.parallelization > MAX_PASSES {
                let passes = kdf.parallelization;
                return Err(KeyError::CostlyPassword(format!("{passes} passes over {memory} bytes")));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
