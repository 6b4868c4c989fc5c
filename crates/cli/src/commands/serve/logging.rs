//! Lines on standard error.

use std::io::{self, IsTerminal};
use tracing_subscriber::filter::LevelFilter;

/// How lines are written.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

/// Writes what the service says to standard error from now on.
pub(super) fn start(format: LogFormat) {
    let lines = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(LevelFilter::INFO);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().init(),
    }
}
