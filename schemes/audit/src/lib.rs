//! Audits of collections of RSA keys, on [`modmill::Engine`].
//!
//! Keys that were made with bad random numbers share primes. One product tree over all moduli finds every
//! such prime, in little more time than some products of the tree's length take. An audit says which key
//! shares which prime with which other keys, and finds moduli that are easy to factor by themselves.
//!
//! ```
//! use modmill::Engine;
//! use modmill_audit::{Audit, Collection, Key, Kind, Progress};
//!
//! let key = |p: u64, q: u64| Key::new(&(p * q).to_be_bytes(), &[1, 0, 1]);
//! let collection = Collection::new([
//!     ("router".to_owned(), key(65_537, 65_539)?),
//!     ("camera".to_owned(), key(65_537, 65_543)?),
//!     ("laptop".to_owned(), key(65_551, 65_557)?),
//! ]);
//! let (engine, progress) = (Engine::new()?, Progress::new());
//! let findings = Audit::new(&engine, &progress).run(&collection)?;
//! assert_eq!((findings[0].kind, &findings[0].ids[..]), (Kind::SharedPrime, &["router".to_owned()][..]));
//! assert_eq!((&findings[0].factors[..], &findings[0].partners[..]), (
//!     &["10001".to_owned(), "10003".to_owned()][..],
//!     &["camera".to_owned()][..],
//! ));
//! assert_eq!(findings.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Format`] reads keys: certificates, requests, public keys in PEM and DER, lines of OpenSSH, JSON Web
//!   Keys.
//! * [`Corpus`] keeps keys on disk, with which new ones are compared without auditing the old ones again.
//! * [`Scratch`] keeps intermediate results of a long audit, which goes on after an interruption.
//! * [`recover()`] writes the private keys of moduli that were factored.
//!
//! `docs/use/audit.md` says what a finding means.
#![forbid(unsafe_code)]

mod audit;
mod base;
mod collection;
mod corpus;
mod error;
mod files;
mod finding;
mod forest;
mod keys;
mod progress;
mod recover;
mod scratch;
mod small;
mod widths;

pub use audit::Audit;
pub use collection::{Collection, Key};
pub use corpus::{Addition, Corpus};
pub use error::{EntryError, Error};
pub use finding::{Finding, Kind};
pub use keys::{Entry, Format};
pub use progress::{Now, Progress};
pub use recover::{Recovered, recover};
pub use scratch::Scratch;
