//! Private RSA operations of one process, computed in batches.
//!
//! ```text
//!  Key::compute (the thread waits)     Key::start (a callback is called)
//!               \                       /
//!                queue.rs    load.rs says how long a batch waits for company
//!               /                       \
//!   the calling thread computes     worker threads compute
//! ```
//!
//! A thread that waits for its own answer computes the batch itself, unless another thread computes already.
//! So a lone caller pays neither a switch of threads nor a window. Callbacks are served by worker threads,
//! which start with the first of them.
//!
//! ```
//! use modmill_client::{Key, Task, with_engine};
//! use modmill_rsa::{Hash, PrivateKey, SignatureScheme, Sizes};
//!
//! let key = with_engine(|engine| PrivateKey::generate(engine, 1024, Sizes::AllowSmall))??;
//! let key = Key::local(key);
//! let digest = Hash::Sha256.digest(&[b"message"]);
//! let task = Task::Sign { scheme: SignatureScheme::Pkcs1v15(Hash::Sha256), digest };
//! assert_eq!(key.compute(task)?.len(), 128);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Forks.** A child of `fork` has none of its parent's threads. It starts with an empty queue and a new
//! engine when it computes for the first time. A fork waits until no batch is computed, so that no lock of a
//! key or of the engine is held in the child for ever.

mod alone;
#[cfg(feature = "http")]
pub mod bulk;
mod connection;
mod environment;
mod error;
mod fork;
mod key;
mod local;
mod queue;
mod service;
#[cfg(feature = "http")]
pub mod tls;
pub mod wire;

pub use alone::PrivatePower;
pub use environment::variable;
pub use error::Error;
pub use key::Key;
pub use queue::{Statistics, rest, resume, statistics, with_engine};
pub use service::Service;

pub use modmill_rsa::{Encryption, PrivateTask as Task};

/// The bytes that an operation gives: a signature, a message or a number. They are cleared when they are
/// dropped.
pub type Answer = Result<zeroize::Zeroizing<Vec<u8>>, Error>;
