//! The program as users call it.

mod bench;
mod common;
mod gpu;
mod other;
#[cfg(feature = "parquet")]
mod parquet;
mod powm;
mod rsa;
