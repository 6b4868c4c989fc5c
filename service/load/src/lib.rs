//! A load generator for the service, and for any server that speaks the same interfaces.
//!
//! Requests start when they are due, whatever became of the others, and latency counts from that intended
//! start: a server that stalls for a second is charged with every request that should have started in that
//! second.
//!
//! ```text
//!  arrivals --> pace --> worker: door asks, connection sends, tally counts --> verify --> point
//! ```
#![forbid(unsafe_code)]

mod arrivals;
mod bulk;
mod connection;
mod door;
mod endpoint;
mod error;
mod idle;
mod kms;
mod mixture;
mod pace;
mod point;
mod process;
mod run;
mod session;
mod soak;
mod sweep;
mod tally;
mod transit;
mod verify;

pub use arrivals::Spread;
pub use door::Padding;
pub use endpoint::Endpoint;
pub use error::{Error, Failures};
pub use idle::{Idle, idle};
pub use mixture::{Mixture, Operation};
pub use point::{Milliseconds, Point, table_header};
pub use process::Process;
pub use session::{Credentials, Interface, Session, Settings};
pub use soak::{Growth, Soak, Stretch};
pub use sweep::{STEPS, sweep};

#[cfg(test)]
mod tests;
