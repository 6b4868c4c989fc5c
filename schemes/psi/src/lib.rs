//! Private set intersection in batches, on [`modmill::Engine`].
//!
//! One party learns which of its items another party has too. Both learn the sizes of the sets, and nothing
//! else. The protocol is the Diffie-Hellman one (Meadows 1986; Huberman, Franklin and Hogg 1999). Each party
//! has a secret exponent. A party *blinds* an item: it hashes the item into a group and raises the hash to
//! its exponent. Items that both parties have blinded are equal exactly if the items are, whoever blinded
//! first:
//!
//! ```
//! use modmill::Engine;
//! use modmill_psi::{Group, Party, intersect};
//!
//! let engine = Engine::new()?;
//! let alice = Party::new(Group::Ffdhe2048)?;
//! let bob = Party::new(Group::Ffdhe2048)?;
//! let twice_hers = bob.blind_again(&engine, &alice.blind(&engine, &["ann", "ben", "cid"])?)?.tags();
//! let twice_his = alice.blind_again(&engine, &bob.blind(&engine, &["ben", "dora"])?)?.tags();
//! assert_eq!(intersect(&twice_hers, &twice_his), [1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Party`] has the steps as batch functions.
//! * [`Receiver`] and [`Sender`] run the protocol over a stream, block by block, with sets larger than
//!   memory.
//! * [`Elements`] and [`Tag`] are what travels.
//!
//! `docs/use/psi.md` says what the protocol protects against and what it does not.
#![forbid(unsafe_code)]

mod elements;
mod error;
mod group;
mod hash;
mod matcher;
mod partitions;
mod party;
mod reveal;
mod session;
mod wire;

pub use elements::{Elements, TAG_OCTETS, Tag};
pub use error::Error;
pub use group::Group;
pub use matcher::{Matcher, intersect};
pub use party::Party;
pub use reveal::Reveal;
pub use session::{Outcome, Progress, Receiver, Sender, Stage};
