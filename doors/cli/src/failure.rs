//! Why a command fails, and what the user is told.

use std::io::{self, Write};
use std::process::ExitCode;

/// Why the program stops, and with which exit status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output is gone, as in `modmill ... | head`. The status is 0.
    BrokenPipe,
    /// Some items have no answer, or a check failed. The status is 1.
    Items(String),
    /// The command line is wrong, or a file cannot be read or written. The status is 2.
    Usage(String),
    /// Everything was answered, and weak keys are among the answers. The status is 3.
    #[cfg(feature = "audit")]
    Weak(String),
}

/// Prints a message to standard error.
pub(crate) fn say(message: &str) {
    // Nothing is left to do when even this cannot be written.
    let _ = writeln!(io::stderr(), "modmill: {message}");
}

impl Failure {
    /// A failure to read or write (`action`) a file.
    pub(crate) fn file(action: &str, name: &str, error: &io::Error) -> Self {
        Self::Usage(format!("cannot {action} {name}: {error}"))
    }

    /// A failure to write output. A reader that left is no error.
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
            #[cfg(feature = "audit")]
            Self::Weak(message) => Some(message),
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::BrokenPipe => 0,
            Self::Items(_) => 1,
            Self::Usage(_) => 2,
            #[cfg(feature = "audit")]
            Self::Weak(_) => 3,
        })
    }
}

impl From<modmill_rsa::Error> for Failure {
    fn from(error: modmill_rsa::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

#[cfg(feature = "ec")]
impl From<modmill_ec::Error> for Failure {
    fn from(error: modmill_ec::Error) -> Self {
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
