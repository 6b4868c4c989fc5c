//! The log of refused calls. PKCS #11 returns numbers, and a number does not say which file could not be
//! read.

use crate::refusal::{Refusal, name};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

/// The variable that names the log's file, or `stderr`.
const VARIABLE: &str = "MODMILL_PKCS11_LOG";

/// Appends a line about a refused call of `function`, if a log is wanted. No line has a PIN, a key or a
/// message.
pub(crate) fn refused(function: &str, refusal: &Refusal) {
    let Some(path) = modmill_client::variable(VARIABLE) else { return };
    let process = std::process::id();
    let line = format!("modmill-pkcs11[{process}] {function}: {}: {}\n", name(refusal.code), refusal.reason);
    // A log that cannot be written must not make the call fail in another way.
    let _ = match path.to_str() {
        Some("stderr") => std::io::stderr().write_all(line.as_bytes()),
        _ => OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| file.write_all(line.as_bytes())),
    };
}
