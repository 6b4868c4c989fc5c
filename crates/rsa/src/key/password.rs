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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PrivateKey, Sizes};
    use pkcs8::EncryptedPrivateKeyInfoRef;
    use pkcs8::der::Decode;
    use pkcs8::pkcs5::pbes2::Pbkdf2Params;

    #[test]
    fn costs_are_limited() {
        let engine = modmill::Engine::new().unwrap();
        let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
        let der = key.to_encrypted_der(b"secret").unwrap();
        let info = EncryptedPrivateKeyInfoRef::from_der(&der).unwrap();
        let EncryptionScheme::Pbes2(usual) = &info.encryption_algorithm else { panic!("PBES2 it is") };
        let check = |change: &dyn Fn(&mut Kdf)| {
            let mut parameters = usual.clone();
            change(&mut parameters.kdf);
            check_cost(&EncryptionScheme::Pbes2(parameters)).map_err(|error| error.to_string())
        };
        let scrypt = |memory: u64, passes: u16| {
            check(&|kdf| {
                let Kdf::Scrypt(kdf) = kdf else { panic!("we write scrypt") };
                kdf.cost_parameter = memory / 128 / u64::from(kdf.block_size);
                kdf.parallelization = passes;
            })
        };
        assert_eq!((check(&|_| ()), scrypt(MAX_MEMORY, MAX_PASSES)), (Ok(()), Ok(())));
        assert!(scrypt(2 * MAX_MEMORY, 1).unwrap_err().contains("536870912 bytes"));
        assert!(scrypt(1 << 20, MAX_PASSES + 1).unwrap_err().contains("17 passes"));
        let pbkdf2 = |count| check(&|kdf| *kdf = Pbkdf2Params::hmac_sha256(count, b"salt").unwrap().into());
        assert_eq!(pbkdf2(MAX_ITERATIONS), Ok(()));
        assert!(pbkdf2(MAX_ITERATIONS + 1).unwrap_err().contains("10000001 iterations"));
    }
}
