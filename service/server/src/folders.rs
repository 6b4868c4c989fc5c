//! Folders whose files others could replace.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Warns of the folder of the service's own files if others than its owner can write to it: they could put
/// another master key or store there.
pub(crate) fn warn_of_writers(folder: &Path) {
    if mode(folder) & 0o022 != 0 {
        tracing::warn!(
            path = %folder.display(),
            "others than its owner can write to this folder, and so replace keys: its mode should be 0700"
        );
    }
}

/// Warns of the folder of a socket if others can put another socket in its place.
pub(crate) fn warn_of_impostors(folder: &Path) {
    // In a folder such as /tmp nobody can remove what belongs to others.
    if mode(folder) & 0o022 != 0 && mode(folder) & 0o1000 == 0 {
        tracing::warn!(
            path = %folder.display(),
            "others than its owner can write to this folder, and so replace this socket"
        );
    }
}

/// The mode of a folder. One that cannot be looked at shows when its files are opened.
fn mode(folder: &Path) -> u32 {
    std::fs::metadata(folder).map_or(0, |found| found.permissions().mode())
}
