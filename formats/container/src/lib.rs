//! The container of files of keys, ciphertexts and numbers.
//!
//! A file has a header ([`Header`]: what it is, of which scheme, its parameters, and the fingerprint of the
//! public key that it belongs to), sections (a name, a length and bytes each), and a SHA-256 checksum of all
//! that.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `0x89 M M F H E 0x0d 0x0a` |
//! | 4 | the version of the format, 1 |
//! | 1 | the kind: 1 public key, 2 secret key, 3 ciphertexts |
//! | 1 + length | the name of the scheme |
//! | 32 | the fingerprint of the public key |
//! | 2 | the number of parameters; for each: 1 + length for its name, 8 for its value |
//! | | the sections; for each: 1 + length for its name, 8 for the number of its bytes, its bytes |
//! | 1 | 0, the end of the sections |
//! | 32 | SHA-256 of all bytes before |
//!
//! Integers are little-endian; a name has 1 to 255 bytes of ASCII, after a byte with their number.
//!
//! Files are written and read in a stream, so that a key of gigabytes needs no second copy in memory. A
//! [`Reader`] allocates no more than the file is long, whatever its lengths say. What it hands out is trusted
//! only once [`Reader::finish`] has compared the checksum.
//!
//! ```
//! use modmill_container::{Header, Kind, Reader, Writer};
//!
//! let header = Header {
//!     kind: Kind::Ciphertexts,
//!     scheme: "example".to_owned(),
//!     fingerprint: [7; 32],
//!     parameters: vec![("count".to_owned(), 2)],
//! };
//! let mut writer = Writer::new(Vec::new(), &header)?;
//! writer.bytes("numbers", &[1, 2, 3])?;
//! let file = writer.finish()?;
//!
//! let mut reader = Reader::new(&file[..], file.len() as u64)?;
//! assert_eq!(reader.header().parameter("count")?, 2);
//! reader.expect("numbers")?;
//! assert_eq!(reader.rest()?.as_slice(), [1, 2, 3]);
//! reader.finish()?;
//! # Ok::<(), modmill_container::FileError>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod header;
mod kind;
mod new_file;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::FileError;
pub use header::Header;
pub use kind::Kind;
pub use new_file::NewFile;
pub use reader::{Reader, Section};
pub use writer::Writer;

/// The first bytes of a file. The first is no text, and the last two are changed by whoever takes the file
/// for text.
const MAGIC: [u8; 8] = *b"\x89MMFHE\r\n";

/// The version of the format that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The bytes of a checksum.
const CHECKSUM: usize = 32;
