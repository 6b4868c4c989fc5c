//! The queue of a process, and a service at the other end of a socket.

mod queue;
mod service;

use modmill_client::with_engine;
use modmill_rsa::{PrivateKey, Sizes};
use std::sync::LazyLock;

/// A short key, so that tests take little time.
static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    let key = with_engine(|engine| PrivateKey::generate(engine, 1024, Sizes::AllowSmall));
    key.expect("an engine").expect("a key")
});
