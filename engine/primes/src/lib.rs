//! Random numbers and random primes for keys.
//!
//! ```
//! use modmill::{Engine, number};
//!
//! let engine = Engine::new()?;
//! // Primes of 256 bits that are 3 modulo 4.
//! let primes = loop {
//!     let found = modmill_primes::find(&engine, 256, |candidate| candidate[0] & 3 == 3)?;
//!     if !found.is_empty() {
//!         break found;
//!     }
//! };
//! assert_eq!((number::bit_length(&primes[0]), primes[0][0] & 3), (256, 3));
//! # Ok::<(), modmill::Error>(())
//! ```
#![forbid(unsafe_code)]

mod find;
mod flaw;
mod next;
pub mod random;
mod sieve;

pub use find::{far_apart, find, find_drawn, find_many, is_probable_prime};
pub use flaw::{ModulusFlaw, perfect_power};
pub use next::next_primes;
pub use sieve::{Sieve, remainder};
