//! The program as users call it.

mod bench;
mod common;
mod fhe;
mod gpu;
mod load;
mod other;
mod powm;
#[cfg(feature = "parquet")]
mod rows;
mod rsa;
