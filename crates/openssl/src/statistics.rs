//! A line about the batches of a process, for those who want to see them.

use std::io::Write;

/// The variable that names a file to which a line is appended when the provider is unloaded.
const VARIABLE: &str = "MODMILL_STATISTICS";

/// Appends the line, if the environment asks for it.
pub(crate) fn write() {
    let Some(path) = modmill_client::variable(VARIABLE) else { return };
    let modmill_client::Statistics { operations, batches, largest } = modmill_client::statistics();
    if batches == 0 {
        return;
    }
    let line = format!(
        "pid={} operations={operations} batches={batches} mean={:.1} largest={largest}\n",
        std::process::id(),
        operations as f64 / batches as f64
    );
    // Nobody is there to hear of a file that cannot be written.
    let _ = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
}
