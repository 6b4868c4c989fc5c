//! The program as users call it.

mod bench;
mod common;
mod fhe;
mod gpu;
mod hardware;
mod load;
mod other;
mod powm;
mod readme;
#[cfg(feature = "parquet")]
mod rows;
mod rsa;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod server;
#[cfg(feature = "serve")]
mod service_load;
#[cfg(feature = "parquet")]
mod tables;
