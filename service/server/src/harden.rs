//! Keeping what is in memory out of files: no core dumps, no swapping.

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// A protection that the system did not grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Refused {
    /// Core dumps could not be switched off.
    #[error("core dumps are not switched off: {0}")]
    CoreDumps(String),
    /// Memory could not be locked.
    #[error("keys in memory may be written to the disk if the machine swaps: {0}")]
    Lock(String),
}

/// Switches core dumps off, keeps other processes of the same user from reading this one's memory, and locks
/// all memory, present and future. Returns what the system did not grant. Call it before secrets are read.
#[must_use]
pub(crate) fn harden() -> Vec<Refused> {
    let no_dumps = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable))
        .map_err(|error| Refused::CoreDumps(error.to_string()));
    let locked = lock().map_err(Refused::Lock);
    [no_dumps, locked].into_iter().filter_map(Result::err).collect()
}

fn lock() -> Result<(), String> {
    // Under a limit, locking succeeds at first and later allocations fail, which would end the process.
    let limit = getrlimit(Resource::Memlock);
    let unlimited = Rlimit { current: None, maximum: None };
    if limit.current.is_some() && setrlimit(Resource::Memlock, unlimited).is_err() {
        let bytes = limit.maximum.or(limit.current).unwrap_or_default();
        return Err(format!(
            "the system lets this process keep {bytes} bytes in memory for certain, which is too little; start it after \
             `ulimit -l unlimited` or with LimitMEMLOCK=infinity of systemd, or switch swap off"
        ));
    }
    // Pages are locked when they are first used, so that address space that is only reserved costs nothing.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    mlockall(flags).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set in the process that hardens itself: the limits of the others stay as they are.
    const CHILD: &str = "MODMILL_TEST_HARDEN";

    #[test]
    fn a_hardened_process_has_no_core_dumps_and_says_what_is_missing() {
        if std::env::var_os(CHILD).is_some() {
            let refused = harden();
            let core = getrlimit(Resource::Core);
            assert_eq!((core.current, core.maximum), (Some(0), Some(0)));
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
            let locked: u64 = locked.trim().trim_end_matches(" kB").parse().unwrap();
            assert_eq!(
                locked == 0,
                refused.iter().any(|refused| matches!(refused, Refused::Lock(_))),
                "{refused:?}"
            );
            assert!(!refused.iter().any(|refused| matches!(refused, Refused::CoreDumps(_))), "{refused:?}");
            return;
        }
        let test = "harden::tests::a_hardened_process_has_no_core_dumps_and_says_what_is_missing";
        let child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && output.contains("1 passed"), "{output}");
    }
}
