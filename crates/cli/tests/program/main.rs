//! The program as users call it.

mod bench;
mod common;
mod other;
#[cfg(feature = "parquet")]
mod parquet;
mod powm;
