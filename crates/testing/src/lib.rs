//! What proves the rest of modmill: generators of hard inputs ([`hard`]), independent oracles
//! ([`oracle`]), one suite that every backend and algorithm runs ([`suite`]), and measurements of
//! constant time ([`timing`], [`key_timing`]).
//!
//! `cargo test` runs the suite on every path of the machine, `modmill selftest` runs it where the
//! program is installed, and a new backend is finished when it passes.
#![forbid(unsafe_code)]

pub mod emulated;
pub mod fuzz_bodies;
pub mod groups;
pub mod hard;
pub mod key_timing;
pub mod oracle;
pub mod rng;
pub mod suite;
pub mod timing;
