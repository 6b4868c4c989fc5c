//! A line about the batches of a process, for those who want to see them.

use crate::ffi::guard;
use std::io::Write;
use std::sync::Once;

/// The variable that names a file to which a process appends its line.
const VARIABLE: &str = "MODMILL_STATISTICS";

/// Has the line written when the process ends, if the provider is not unloaded before.
///
/// OpenSSL does not unload a provider to which anything refers, and a job that is paused when its connection
/// closes keeps its references for ever (`SSL_free` leaves the job as it is).
pub(crate) fn write_at_exit() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler takes nothing and does not unwind. The library stays loaded
    // (`libcrypto::stay_loaded`), so its code is there when the process ends. Where there is no room for the
    // handler, no line is written.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

extern "C" fn at_exit() {
    guard((), write_once);
}

/// Appends the line, if the environment asks for it and this process has not written it before.
pub(crate) fn write_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(write);
}

fn write() {
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
