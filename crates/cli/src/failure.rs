//! How a command ends when it does not end well.

use std::io;
use std::process::ExitCode;

/// Why the program stops, and with which exit status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of our output is gone (`modmill ... | head`): not an error of ours.
    BrokenPipe,
    /// Some items had no answer, or a check failed: status 1.
    Items(String),
    /// Wrong usage, or a file that cannot be read or written: status 2.
    Usage(String),
}

impl Failure {
    /// A file that cannot be used, named.
    pub(crate) fn file(action: &str, name: &str, error: &io::Error) -> Self {
        Self::Usage(format!("cannot {action} {name}: {error}"))
    }

    /// Output that cannot be written; a reader that left is no error.
    pub(crate) fn write(name: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::file("write", name, error),
        }
    }

    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::BrokenPipe => None,
            Self::Items(message) | Self::Usage(message) => Some(message),
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::BrokenPipe => 0,
            Self::Items(_) => 1,
            Self::Usage(_) => 2,
        })
    }
}

impl From<modmill_rsa::Error> for Failure {
    fn from(error: modmill_rsa::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<modmill_measure::Error> for Failure {
    fn from(error: modmill_measure::Error) -> Self {
        match error {
            modmill_measure::Error::WrongAnswer(message) => Self::Items(message),
            other => Self::Usage(other.to_string()),
        }
    }
}

impl From<modmill::Error> for Failure {
    fn from(error: modmill::Error) -> Self {
        Self::Usage(error.to_string())
    }
}
