//! Errors.

use crate::Group;

/// An error of a private set intersection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// The operating system gave no random bytes.
    #[error("no random octets: {0}")]
    Random(String),
    /// An element is 0, 1, p - 1 or not below p, where p is the prime of the group.
    #[error("element {index} is not between 2 and p - 2")]
    Element {
        /// The position of the element.
        index: usize,
    },
    /// Bytes are not a whole number of elements.
    #[error("{octets} octets are not a whole number of elements of {element} octets")]
    Ragged {
        /// Bytes that were given.
        octets: usize,
        /// Bytes of an element of the group.
        element: usize,
    },
    /// Bytes are no secret exponent of a party.
    #[error("a secret exponent of {group} is even, not zero, and has at most {bits} bits")]
    Exponent {
        /// The group.
        group: Group,
        /// The greatest length of an exponent.
        bits: usize,
    },
    /// Elements of one group were given to a party of another.
    #[error("the elements are of {found}; the party's group is {expected}")]
    OtherGroup {
        /// The group of the party.
        expected: Group,
        /// The group of the elements.
        found: Group,
    },
    /// The stream or a temporary file failed.
    #[error("{what}: {source}")]
    Io {
        /// The stream or file.
        what: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The function that is told about progress stopped the run.
    #[error("the run was stopped")]
    Stopped,
    /// The other party does not follow the protocol, or closed the connection before its end.
    #[error("the other party {0}")]
    Peer(String),
}

impl Error {
    /// An error of the stream to the other party.
    pub(crate) fn stream(source: std::io::Error) -> Self {
        Self::Io { what: "the stream to the other party", source }
    }

    /// An error of a temporary file.
    pub(crate) fn file(source: std::io::Error) -> Self {
        Self::Io { what: "a temporary file", source }
    }
}
