//! The program as users call it.

#[cfg(not(feature = "full"))]
mod absent;
#[cfg(all(feature = "audit", feature = "files"))]
mod audit;
mod bench;
mod common;
#[cfg(feature = "ec")]
mod ec;
#[cfg(feature = "fhe")]
mod fhe;
mod gpu;
#[cfg(feature = "hardware")]
mod hardware;
#[cfg(feature = "serve")]
mod load;
mod other;
mod powm;
#[cfg(feature = "full")]
mod readme;
#[cfg(feature = "files")]
mod rows;
mod rsa;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod server;
#[cfg(feature = "serve")]
mod service_load;
#[cfg(feature = "files")]
mod tables;
