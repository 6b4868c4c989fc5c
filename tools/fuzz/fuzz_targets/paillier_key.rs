//! Reads Paillier's keys and columns from any bytes, and writes them back.
#![no_main]

#[path = "../../../schemes/paillier/tests/paillier/bodies.rs"]
mod bodies;

use modmill_paillier::{PrivateKey, Randomness};
use std::sync::LazyLock;

static KEY: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(&modmill::Engine::new().unwrap(), 1024, Randomness::Short).unwrap());

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bodies::read(data, KEY.public_key());
});
