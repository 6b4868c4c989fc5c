//! RSA operations of many callers, gathered in batches.
//!
//! The queue of a process (`modmill-client`), which the OpenSSL provider and the PKCS#11 module sign with,
//! and the signing service (`modmill-server`) gather operations in the same way. This crate is that way:
//!
//! ```text
//!  Call { caller, work }          who asks, what for, and the way back
//!        |  queues.rs, turns.rs   a queue for each class of operations, in it a line for each principal
//!        v
//!  Taken { pieces }      <------  estimates.rs: how many items a thread takes, by the engine's plans and by
//!        |                        measured times
//!        |  compute.rs            one call of modmill-rsa for a batch
//!        v
//!  Call::answer                   the last piece of a call sends its reply
//! ```
//!
//! [`Queues`] is a value without a lock and without threads. Its owner says which threads compute, and when:
//!
//! * In a process that loads a library, the threads that wait for their own answers compute. They wait for
//!   company that is known to come back, because each of them brings one operation at a time. A `fork` may
//!   come at any moment.
//! * In the service, threads that do nothing else compute what is there at once, on the CPU and on GPUs. Room
//!   is limited, principals have shares of it, and every private operation is noted before it is answered.
//!
//! Calls that reach a GPU's engine from several threads are joined there once more, whatever their operation
//! (`modmill`): that works on borrowed operands of one shape, and knows neither keys nor callers.

mod call;
mod compute;
mod estimates;
mod queues;
mod refused;
mod turns;

pub use call::{Answer, Call, Caller, Class, Part, Piece, Reply, Work};
pub use compute::{compute, hand_out};
pub use estimates::{Estimate, Estimates, GpuEstimate};
pub use queues::{Queues, Room, Taken};
pub use refused::Refused;
pub use turns::{Line, Turns};
