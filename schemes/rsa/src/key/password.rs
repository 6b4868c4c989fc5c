//! Encryption of keys under a password: PBES2 (RFC 8018) with PBKDF2 or scrypt (RFC 7914).
//!
//! The sender of a key chooses how much time and memory the key derivation takes, so both are limited.

use crate::KeyError;
use pkcs8::pkcs5::pbes2::{Kdf, Parameters, ScryptParams};
use pkcs8::{PrivateKeyInfoRef, pkcs5};
use zeroize::Zeroizing;

/// The most iterations of PBKDF2: some seconds.
const MAX_ITERATIONS: u32 = 5_000_000;
/// The most memory of scrypt, in bytes.
const MAX_MEMORY: u128 = 256 << 20;
/// The largest `(N + 8) r p` of scrypt: some seconds. The hashing at the start and at the end takes as long
/// as eight of the N steps for each unit of r p.
const MAX_WORK: u128 = 1 << 22;

/// Decrypts a key to the DER of PKCS #8.
pub(super) fn decrypt(
    parameters: &Parameters,
    ciphertext: &[u8],
    password: &[u8],
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    check_cost(&parameters.kdf)?;
    let mut buffer = Zeroizing::new(ciphertext.to_vec());
    let decrypted = parameters.decrypt_in_place(password, &mut buffer).map(<[u8]>::len);
    let len = decrypted.map_err(|error| match error {
        pkcs5::Error::DecryptFailed => KeyError::WrongPassword,
        error => KeyError::Format(error.to_string()),
    })?;
    buffer.truncate(len);
    Ok(buffer)
}

/// Encrypts a key with scrypt and AES-256 in CBC mode.
pub(super) fn encrypt(info: &PrivateKeyInfoRef<'_>, password: &[u8]) -> Result<Vec<u8>, KeyError> {
    let encrypted = info.encrypt(password).map_err(|error| KeyError::Format(error.to_string()))?;
    Ok(encrypted.as_bytes().to_vec())
}

/// Refuses parameters that are invalid, or whose key derivation would take too long.
fn check_cost(kdf: &Kdf) -> Result<(), KeyError> {
    match kdf {
        Kdf::Pbkdf2(kdf) if kdf.iteration_count > MAX_ITERATIONS => {
            let found = kdf.iteration_count;
            Err(KeyError::CostlyPassword(format!(
                "PBKDF2 with {found} iterations; at most {MAX_ITERATIONS} are taken"
            )))
        }
        Kdf::Scrypt(kdf) => check_scrypt(kdf),
        _ => Ok(()),
    }
}

fn check_scrypt(kdf: &ScryptParams) -> Result<(), KeyError> {
    let [n, r, p] = [u128::from(kdf.cost_parameter), kdf.block_size.into(), kdf.parallelization.into()];
    let values = format!("scrypt with N = {n}, r = {r}, p = {p}");
    if n < 2 || !n.is_power_of_two() {
        return Err(KeyError::Format(format!("{values}: N has to be a power of two, and at least 2")));
    }
    if r == 0 || p == 0 {
        return Err(KeyError::Format(format!("{values}: r and p have to be at least 1")));
    }
    // N has 64 bits at most, r and p 16: no product overflows.
    let memory = 128 * n * r;
    if memory > MAX_MEMORY {
        let (found, limit) = (memory >> 20, MAX_MEMORY >> 20);
        return Err(KeyError::CostlyPassword(format!(
            "{values} needs {found} MiB; at most {limit} are taken"
        )));
    }
    if (n + 8) * r * p > MAX_WORK {
        return Err(KeyError::CostlyPassword(format!(
            "{values} takes too long; N r p may be about {MAX_WORK}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PrivateKey, Sizes};
    use pkcs8::EncryptedPrivateKeyInfoRef;
    use pkcs8::der::{Decode, Encode};
    use pkcs8::pkcs5::EncryptionScheme;
    use pkcs8::pkcs5::pbes2::Pbkdf2Params;

    #[test]
    fn costs_are_limited() {
        let engine = modmill::Engine::new().unwrap();
        let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
        let der = key.to_encrypted_der(b"secret").unwrap();
        let info = EncryptedPrivateKeyInfoRef::from_der(&der).unwrap();
        let usual = info.encryption_algorithm.pbes2().unwrap();
        let usual_scrypt = usual.kdf.scrypt().unwrap();
        assert_eq!(check_cost(&usual.kdf), Ok(()));
        let with_kdf = |kdf: Kdf| {
            let encryption_algorithm =
                EncryptionScheme::Pbes2(Parameters { kdf, encryption: usual.encryption });
            EncryptedPrivateKeyInfoRef { encryption_algorithm, encrypted_data: info.encrypted_data }
        };
        // The whole way through a file: what is refused is refused before it is computed.
        let read = |kdf: Kdf| {
            let der = with_kdf(kdf).to_der().unwrap();
            let error = PrivateKey::read(&der, Some(b"secret"), Sizes::AllowSmall).unwrap_err();
            error.to_string()
        };
        let scrypt = |cost_parameter: u64, block_size: u16, parallelization: u16| {
            Kdf::Scrypt(ScryptParams { cost_parameter, block_size, parallelization, ..*usual_scrypt })
        };
        for n in [0, 1, 3, 16_383, u64::MAX] {
            assert!(read(scrypt(n, 8, 1)).contains(&format!("N = {n}, r = 8, p = 1: N has to be")));
        }
        for (r, p) in [(0, 1), (1, 0)] {
            assert!(read(scrypt(2, r, p)).contains("at least 1"));
        }
        // Every value is at its limit alone, and too much together with the others.
        assert_eq!(check_cost(&scrypt(1 << 18, 8, 1)), Ok(()));
        assert_eq!(check_cost(&scrypt(1 << 14, 8, 31)), Ok(()));
        assert!(read(scrypt(1 << 19, 8, 1)).contains("needs 512 MiB"));
        assert!(read(scrypt(1 << 63, u16::MAX, u16::MAX)).contains("MiB"));
        for (n, r, p) in [(1 << 18, 8, 2), (1 << 14, 8, 32), (2, u16::MAX, u16::MAX), (2, 1024, 1024)] {
            assert!(read(scrypt(n, r, p)).contains(&format!("N = {n}, r = {r}, p = {p} takes too long")));
        }
        let pbkdf2 = |count| Kdf::from(Pbkdf2Params::hmac_sha256(count, b"salt").unwrap());
        assert_eq!(check_cost(&pbkdf2(MAX_ITERATIONS)), Ok(()));
        assert!(read(pbkdf2(MAX_ITERATIONS + 1)).contains("5000001 iterations"));
    }
}
