//! RSA from outside: keys, batches, other people's vectors and programs, emulated GPUs, traces of secrets.

mod batches;
mod cavp;
mod devices;
mod keys;
mod openssl;
#[cfg(target_os = "linux")]
mod traces;
mod wycheproof;
