//! `Contents`: whether a buffer will hold secrets.

/// Whether memory will hold secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Nothing that has to be hidden.
    Public,
    /// Secrets: overwritten with zeros once the device has been quiet for a moment, and before anyone gets
    /// the memory who does not keep secrets in it.
    Secret,
}
