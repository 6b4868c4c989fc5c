//! Memory that runs out is an error of the call. One test, because the limit is that of the process.
#![cfg(target_os = "linux")]

use modmill::{Backend, Engine};
use modmill_psi::{Error, Group, Party};
use modmill_testing::memory;

#[test]
fn memory_that_runs_out_is_an_error_of_the_call() {
    let engine = Engine::builder().backend(Backend::Cpu).threads(2).build().unwrap();
    let party = Party::new(Group::Ffdhe2048).unwrap();
    let items = vec![[7u8]; 4 << 20];
    memory::leave(512 << 20);

    let blinded = party.blind(&engine, &items).map(|elements| elements.len());
    assert!(matches!(blinded, Err(Error::Engine(modmill::Error::OutOfMemory { .. }))), "{blinded:?}");
    assert_eq!(party.blind(&engine, &items[..1]).unwrap().len(), 1);
}
