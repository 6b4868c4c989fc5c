//! Memory that runs out is an error of the call. One test, because the limit is that of the process.
#![cfg(target_os = "linux")]

use modmill::sums::ModularSums;
use modmill::{Backend, Batch, Engine, Error, Modulus};
use modmill_testing::memory;

#[test]
fn memory_that_runs_out_is_an_error_of_the_call() {
    let engine = Engine::builder().backend(Backend::Cpu).threads(2).build().unwrap();
    let mut odd = vec![u64::MAX; 1 << 8];
    let modulus = Modulus::new(&odd).unwrap();
    odd.resize(1 << 14, u64::MAX);
    let long = Modulus::new(&odd).unwrap();
    let modular = ModularSums::new(&engine, &long, 255).unwrap();
    memory::leave(512 << 20);

    let large = Batch::zeros(64, 40 << 20);
    let expect = |what: &str, found: Result<usize, Error>| {
        assert!(matches!(found, Err(Error::OutOfMemory { .. })), "{what}: {found:?}");
    };
    expect("a copy", large.try_clone().map(|batch| batch.len()));
    expect("one after the other", large.try_followed_by(large.view()).map(|batch| batch.len()));
    expect("products", engine.products_mod(&large, 4, &modulus).map(|batch| batch.len()));
    let number = Batch::zeros(1 << 20, 1);
    expect("weighted sums", modular.weighted_sums(&number, &[1; 1 << 14]).map(|sums| sums.len()));
    let many = Batch::zeros(1 << 20, 512);
    expect("transforms", modular.factors(&many).map(|factors| factors.len()));
    assert_eq!(modular.weighted_sums(&number, &[1]).unwrap().len(), 1, "the engine goes on");
}
