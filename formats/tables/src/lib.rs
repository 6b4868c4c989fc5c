#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod guard;
pub mod ipc;
#[cfg(feature = "parquet")]
pub mod parquet;

pub use error::TableError;
pub use guard::guarded;
