//! Arrow IPC on checked lengths.
//!
//! A stream is a sequence of messages: a schema, then record batches and dictionaries. A message has a
//! header, which is a flatbuffer that names the buffers of the body by offset and length, and a body. Nothing
//! is allocated for a length before the bytes are there or the caller's [`Limits`] allow it:
//!
//! * The verifier of flatbuffers is held to 64 levels, 2^18 tables and [`HEADER_BYTES`] after tables that are
//!   named twice are counted twice.
//! * Every buffer lies in the body, and all buffers together are no longer than the body.
//! * The length that a compressed buffer says it will have counts against [`Limits::expanded`]. LZ4 is
//!   counted where it could expand to more than it says.
//! * A column has at most eight rows for each byte of its message and 2^20 more. A column of bits needs no
//!   less memory, and a column of nulls needs none.

mod decoder;
mod file;
mod framer;
mod layout;
mod stream;

pub use decoder::Decoder;
pub use file::{File, Loaded};
pub use framer::{Framer, Message};
pub use stream::Stream;

use crate::TableError;
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};

/// The most bytes of the header of a message, or of the footer of a file.
pub const HEADER_BYTES: usize = 64 << 20;

/// How much a message may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of the body of a message. Memory is allocated as the body arrives.
    pub body: u64,
    /// The most bytes that the compressed buffers of a message expand to. With 0, compression is refused.
    pub expanded: u64,
    /// The most bytes of all dictionaries. With 0, dictionaries are refused.
    pub dictionaries: u64,
}

fn verifier() -> VerifierOptions {
    VerifierOptions { max_tables: 1 << 18, max_apparent_size: HEADER_BYTES, ..VerifierOptions::default() }
}

fn not_a_header(error: &InvalidFlatbuffer) -> TableError {
    // The error's own text has several lines, with the path to the place.
    let text = error.to_string();
    TableError::malformed(format!("not a header of Arrow: {}", text.lines().next().unwrap_or_default()))
}
