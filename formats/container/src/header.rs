//! The description of a file at its beginning.

use crate::{FileError, Kind, MAGIC, VERSION};

/// The description of a file at its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The kind of the content.
    pub kind: Kind,
    /// The name of the scheme.
    pub scheme: String,
    /// The fingerprint of the public key that it belongs to, or that it is.
    pub fingerprint: [u8; 32],
    /// Named integers.
    pub parameters: Vec<(String, u64)>,
}

impl Header {
    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Result<u64, FileError> {
        let found = self.parameters.iter().find(|parameter| parameter.0 == name);
        found.map(|parameter| parameter.1).ok_or_else(|| FileError::MissingParameter(name.to_owned()))
    }

    /// Refuses a file of another kind.
    pub fn expect_kind(&self, expected: Kind) -> Result<(), FileError> {
        if self.kind == expected { Ok(()) } else { Err(FileError::Kind { expected, found: self.kind }) }
    }

    /// Refuses a file of another scheme.
    pub fn expect_scheme(&self, expected: &str) -> Result<(), FileError> {
        if self.scheme == expected {
            return Ok(());
        }
        Err(FileError::Scheme { expected: expected.to_owned(), found: self.scheme.clone() })
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, FileError> {
        let count = u16::try_from(self.parameters.len());
        let count = count.map_err(|_| FileError::Unwritable("the number of parameters"))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(self.kind.code());
        push_name(&mut bytes, &self.scheme)?;
        bytes.extend(self.fingerprint);
        bytes.extend(count.to_le_bytes());
        for (name, value) in &self.parameters {
            push_name(&mut bytes, name)?;
            bytes.extend(value.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// Appends a name after its length.
pub(super) fn push_name(bytes: &mut Vec<u8>, name: &str) -> Result<(), FileError> {
    let length = u8::try_from(name.len()).ok().filter(|&length| length > 0 && is_name(name.as_bytes()));
    bytes.push(length.ok_or(FileError::Unwritable("a name"))?);
    bytes.extend(name.as_bytes());
    Ok(())
}

pub(super) fn is_name(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_graphic)
}
