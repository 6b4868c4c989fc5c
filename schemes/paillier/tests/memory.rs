//! Memory that runs out is an error of the call. One test, because the limit is that of the process.
#![cfg(target_os = "linux")]

use modmill::{Backend, Batch, Engine};
use modmill_paillier::{
    Ciphertexts, EncodedColumn, EncryptedColumn, Error, Exponents, Integers, Paillier, PrivateKey, Randomness,
};
use modmill_testing::memory;

#[test]
fn memory_that_runs_out_is_an_error_of_the_call() {
    let engine = Engine::builder().backend(Backend::Cpu).threads(2).build().unwrap();
    let paillier = Paillier::new(&engine);
    let private = PrivateKey::generate(&engine, 2048, Randomness::Short).unwrap();
    let key = private.public_key();
    let count = 2 << 20;
    memory::leave(512 << 20);

    let expect = |what: &str, found: Result<usize, Error>| {
        let is_memory = matches!(found, Err(Error::Engine(modmill::Error::OutOfMemory { .. })));
        assert!(is_memory, "{what}: {found:?}");
    };
    let ones = Batch::from_values(std::iter::repeat_n([1u64], count));
    expect("ciphertexts", Ciphertexts::new(key, &ones).map(|column| column.len()));
    let encoded = EncodedColumn::from_integers(key, &Integers::from_batch(ones)).unwrap();
    expect("residues", encoded.try_residues().map(|residues| residues.len()));
    expect("octets", encoded.encrypt_to_octets(&paillier).map(|octets| octets.len()));
    drop(encoded);
    let one = Ciphertexts::new(key, &Batch::from_values([[1u64]])).unwrap();
    expect("items", one.gathered(&vec![0; count]).map(|column| column.len()));

    // A column fits, and a second one does not.
    let large = one.gathered(&vec![0; 600 << 10]).unwrap();
    expect("a copy", large.try_clone().map(|column| column.len()));
    expect("columns", Ciphertexts::joined(key, &[&large, &one]).map(|column| column.len()));
    let column = EncryptedColumn::new(large, Exponents::Shared(0), 1).unwrap();
    expect("a file", column.to_bytes().map(|bytes| bytes.len()));
    expect("the other sign", column.neg(&paillier).map(|column| column.len()));
}
