//! RSA from outside: keys, batches, other people's vectors and programs, emulated GPUs, traces of secrets.

mod batches;
mod blind;
mod cavp;
mod devices;
mod keys;
mod openssl;
mod tasks;
#[cfg(target_os = "linux")]
mod traces;
mod wycheproof;

use modmill_rsa::{PrivateKey, PrivateParts, Sizes};

/// The key of n, e, d, p and q, which are big-endian bytes.
fn key_of([n, e, d, p, q]: [&[u8]; 5], sizes: Sizes) -> PrivateKey {
    let parts = PrivateParts {
        modulus: n,
        public_exponent: e,
        private_exponent: d,
        prime1: p,
        prime2: q,
        ..PrivateParts::default()
    };
    PrivateKey::new(&parts, sizes).unwrap()
}
