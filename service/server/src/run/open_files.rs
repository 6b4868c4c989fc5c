//! The number of files that the process may have open. Every connection is one.

use crate::config::Config;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are no connections of clients: the store, the audit log, libraries, connections to a database.
const OTHERS: u64 = 128;

/// Raises the limit of open files as far as the system allows. If it is too low for the connections that
/// `config` allows, they are made fewer, and the log says so.
pub(super) fn adjust(config: &mut Config) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If this is refused, the limit stays as it is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let Some(files) = getrlimit(Resource::Nofile).current else { return };
    let doors = 1 + u64::from(!config.socket.path.as_os_str().is_empty());
    let (wanted, most) = (config.limits.connections, connections(files, doors));
    if wanted > most {
        tracing::warn!(
            files,
            "at most {most} connections are taken instead of {wanted} (limits.connections): the system lets this process open \
             {files} files; LimitNOFILE= of systemd or ulimit -n raises that"
        );
        config.limits.connections = most;
    }
}

/// The connections that each of `doors` may have if `files` may be open.
fn connections(files: u64, doors: u64) -> usize {
    let connections = files.saturating_sub(OTHERS).max(files / 2) / doors;
    usize::try_from(connections).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::connections;

    #[test]
    fn files_are_left_for_what_is_no_connection() {
        assert_eq!(connections(1024, 1), 896);
        assert_eq!(connections(1024, 2), 448);
        assert_eq!(connections(20, 1), 10);
        assert_eq!(connections(0, 2), 1);
        assert_eq!(connections(u64::MAX, 1), (u64::MAX - 128) as usize);
    }
}
