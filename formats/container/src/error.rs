//! What can be wrong with a file.

use crate::{Kind, VERSION};
use std::io;

/// What is wrong with a file, and at which byte.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system cannot read or write it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It was not written by this program.
    #[error("it is no file of modmill: its first bytes are not those of one")]
    Foreign,
    /// It has a version of the format that is not known.
    #[error("it has version {0} of the format, and only version {VERSION} is known")]
    Version(u32),
    /// It ends too soon.
    #[error("it ends too soon: at byte {offset} {what} needs {needed} bytes, and {left} are left")]
    Truncated {
        /// What is incomplete.
        what: &'static str,
        /// Where that begins.
        offset: u64,
        /// The bytes that it needs.
        needed: u64,
        /// The bytes that are left for it.
        left: u64,
    },
    /// A section says that it is longer than the file.
    #[error(
        "the section `{section}` at byte {offset} says that it has {length} bytes, and the file has {left} left"
    )]
    Length {
        /// The name of the section.
        section: String,
        /// Where its bytes begin.
        offset: u64,
        /// The length that it says.
        length: u64,
        /// The bytes that are left.
        left: u64,
    },
    /// The byte of the kind is not known.
    #[error("byte 12 says the kind {0}, which is not known")]
    UnknownKind(u8),
    /// It is of another kind.
    #[error("it holds {found} instead of {expected}")]
    Kind {
        /// What is needed.
        expected: Kind,
        /// What it is.
        found: Kind,
    },
    /// It belongs to another scheme.
    #[error("it belongs to the scheme {found:?}, and {expected:?} is needed")]
    Scheme {
        /// The scheme that is needed.
        expected: String,
        /// The scheme that it says.
        found: String,
    },
    /// A name that is empty or no ASCII.
    #[error("at byte {offset} {what} is no name in ASCII")]
    Name {
        /// Whose name it is.
        what: &'static str,
        /// Where it begins.
        offset: u64,
    },
    /// A parameter is missing.
    #[error("the parameter `{0}` is missing")]
    MissingParameter(String),
    /// A parameter is out of range.
    #[error("the parameter `{name}` is {value}: {reason}")]
    Parameter {
        /// The name.
        name: String,
        /// The value.
        value: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Another section, or none, stands where one is needed.
    #[error("at byte {offset} the section `{expected}` is needed, and {found} stands there")]
    Section {
        /// The name of the section that is needed.
        expected: String,
        /// What stands there.
        found: String,
        /// Where.
        offset: u64,
    },
    /// A section has a wrong length.
    #[error("the section `{section}` has {found} bytes, and {expected} are needed")]
    SectionLength {
        /// The name of the section.
        section: String,
        /// The bytes that are needed.
        expected: u64,
        /// The bytes that it has.
        found: u64,
    },
    /// The content of a section is wrong.
    #[error("the section `{section}` {reason}")]
    Content {
        /// The name of the section.
        section: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something follows the checksum.
    #[error("{0} bytes follow its end")]
    Trailing(u64),
    /// The checksum is not that of the bytes.
    #[error("its checksum is wrong: some of its bytes have changed")]
    Checksum,
    /// A file that is written has more parameters, or a longer name, than the format can say.
    #[error("{0} does not fit the format")]
    Unwritable(&'static str),
}
