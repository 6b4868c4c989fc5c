//! The memory that operands come from and answers go to.

use std::fmt;
use std::str::FromStr;

/// The memory that operands come from and answers go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    /// Operands in plain memory. Every call makes a new batch for its answers.
    #[default]
    Plain,
    /// Operands in plain memory. All calls write their answers into one batch.
    Reused,
    /// Operands in pinned memory, and one batch in pinned memory for the answers of all calls.
    Pinned,
    /// Operands on the device, and answers that stay there.
    Resident,
}

impl Memory {
    /// Every kind of memory.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Reused, Self::Pinned, Self::Resident];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Reused => "reused",
            Self::Pinned => "pinned",
            Self::Resident => "resident",
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|memory| memory.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("unknown memory {text:?}; it is plain, reused, pinned or resident"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for memory in Memory::ALL {
            assert_eq!(memory.to_string().parse(), Ok(memory));
        }
        assert!("ram".parse::<Memory>().unwrap_err().contains("plain, reused, pinned or resident"));
    }
}
