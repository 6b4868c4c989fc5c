//! Measurements of modmill: benchmarks against other libraries, reports, and tuning tables for GPUs.
//!
//! [`Bench`] measures operations of the engine, and [`Peers`] in turns with them, on the same random inputs.
//! Contenders take turns in short time slices, and every answer is compared. [`record::to_json`],
//! [`table::results`] and [`report::page`] present the results.
//!
//! [`batches`] shows from which batch on a GPU is worth it, and [`callers`] measures many threads on one
//! engine.
//!
//! [`files`] has what a measurement of the program's files needs.
//!
//! [`Tune`] measures the variants of a GPU's kernels, and writes the table that engines choose by.
//!
//! ```
//! use modmill::Engine;
//! use modmill_measure::{Bench, Memory, PeerChoice, Peers, Progress};
//! use std::time::Duration;
//!
//! struct Silent;
//!
//! impl Progress for Silent {
//!     fn measuring(&self, _what: String) {}
//!     fn point_done(&self) {}
//! }
//!
//! let bench = Bench {
//!     ops: vec!["mul_mod".parse()?],
//!     bits: vec![256],
//!     algorithms: Vec::new(),
//!     batches: vec![16],
//!     threads: vec![1],
//!     time: Duration::from_millis(1),
//!     exponent_bits: None,
//!     shared_modulus: false,
//!     memory: Memory::Plain,
//!     keys: 1,
//!     direct_tables: false,
//!     seed: 1,
//!     engine: Engine::builder(),
//!     peers: Peers::load(&PeerChoice::These(Vec::new()))?,
//! };
//! let results = bench.run(&Silent)?;
//! assert!(results.records.iter().all(|record| record.verified));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod batches;
mod bench;
mod busy;
pub mod callers;
mod chain;
mod clock;
mod column_items;
mod engines;
mod error;
#[cfg(feature = "fhe")]
pub mod fhe;
pub mod files;
mod inputs;
pub mod machine;
mod memory;
mod op;
mod our_path;
mod peer_run;
mod peers;
mod point;
mod progress;
pub mod record;
mod record_builder;
mod reference;
pub mod report;
mod resident_inputs;
mod rsa_call;
mod rsa_items;
mod slices;
pub mod table;
mod tune;

pub use bench::Bench;
pub use engines::AlgorithmChoice;
pub use error::{Error, Refusal};
pub use inputs::MIN_BITS;
pub use memory::Memory;
pub use op::{BenchOp, ColumnOp, RsaOp};
pub use peers::{About, PeerChoice, PeerRequest, Peers};
pub use progress::Progress;
pub use tune::{Tune, Tuned, families as gpu_families};
