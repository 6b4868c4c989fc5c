//! Memory that runs out is an error of the call. One test, because the limit is that of the process.
#![cfg(target_os = "linux")]

use modmill::{Backend, Engine};
use modmill_rsa::{Error, Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
use modmill_testing::memory;

#[test]
fn memory_that_runs_out_is_an_error_of_the_call() {
    let engine = Engine::builder().backend(Backend::Cpu).threads(2).build().unwrap();
    let key = PrivateKey::generate(&engine, 2048, Sizes::Standard).unwrap();
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let messages = vec![[7u8]; 4 << 20];
    memory::leave(512 << 20);

    let rsa = Rsa::new(&engine);
    // The rows of the answers, and then those of the blocks.
    let rows = rsa.sign_rows(&key, scheme, &messages).map(|rows| rows.len());
    assert!(matches!(rows, Err(Error::Engine(modmill::Error::OutOfMemory { .. }))), "{rows:?}");
    let vectors = rsa.sign(&key, scheme, &messages).map(|signatures| signatures.len());
    assert!(matches!(vectors, Err(Error::Engine(modmill::Error::OutOfMemory { .. }))), "{vectors:?}");
    assert_eq!(rsa.sign_rows(&key, scheme, &messages[..1]).unwrap().len(), 1);
}
