//! The body of the fuzz target of keys and columns, which the tests run on changed ones too.

use modmill::{Batch, Engine};
use modmill_paillier::{Ciphertexts, EncryptedColumn, PackedColumn, Paillier, PrivateKey, PublicKey};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::builder().threads(1).build().unwrap());

/// Reads bytes as keys of both kinds, in JSON and as a file, and as columns of `key`. What is read is written
/// and read again. The number of keys that were read is returned.
///
/// # Panics
/// When a key that was read is not the one that is written, or does not decrypt what it encrypts.
pub(crate) fn read(data: &[u8], key: &PublicKey) -> usize {
    // A file with the right checksum is read further.
    let file = [data, &Sha256::digest(data)].concat();
    let text = String::from_utf8_lossy(data);
    let public = [
        PublicKey::from_json(&text).ok(),
        PublicKey::from_bytes(data).ok(),
        PublicKey::from_bytes(&file).ok(),
    ];
    let private = [
        PrivateKey::from_json(&text).ok(),
        PrivateKey::from_bytes(data).ok(),
        PrivateKey::from_bytes(&file).ok(),
    ];
    for key in public.iter().flatten() {
        assert_eq!(PublicKey::from_json(&key.to_json("").unwrap()).unwrap(), *key);
        assert_eq!(PublicKey::from_bytes(&key.to_bytes().unwrap()).unwrap(), *key);
    }
    for key in private.iter().flatten() {
        let again = PrivateKey::from_bytes(&key.to_bytes().unwrap()).unwrap();
        assert_eq!((again.primes(), again.public_key()), (key.primes(), key.public_key()));
        let paillier = Paillier::new(&ENGINE);
        let column = paillier.encrypt(key.public_key(), &Batch::from_values([[77u64]])).unwrap();
        assert_eq!(paillier.decrypt(key, &column).unwrap().get(0)[0], 77);
    }
    for octets in [data, &file] {
        let _ = (Ciphertexts::from_bytes(key, octets), EncryptedColumn::from_bytes(key, octets));
        let _ = PackedColumn::from_bytes(key, octets);
    }
    public.iter().flatten().count() + private.iter().flatten().count()
}
