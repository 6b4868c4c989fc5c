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
