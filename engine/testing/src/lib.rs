//! The tests that modmill's crates share: generators of hard inputs ([`hard`]) and of damaged ones
//! ([`mutations`]), independent oracles ([`oracle`]), one suite that every backend and algorithm runs
//! ([`suite`]), and timing tests ([`timing`], [`key_timing`]).
//!
//! `cargo test` and `modmill selftest` run the suite on every path of the machine. A new backend is
//! finished when it passes the suite.
#![forbid(unsafe_code)]

#[cfg(feature = "cuda")]
pub mod emulated;
pub mod fuzz_bodies;
pub mod groups;
pub mod hard;
#[cfg(feature = "cuda")]
pub mod key_timing;
#[cfg(target_os = "linux")]
pub mod memory;
pub mod mutations;
pub mod oracle;
pub mod rng;
pub mod suite;
pub mod timing;
