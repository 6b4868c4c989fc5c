//! The server's process, as the kernel accounts for it.

use crate::error::Error;
use std::time::Duration;

/// A running process.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    pid: u32,
}

impl Process {
    /// Looks for a process.
    pub fn new(pid: u32) -> Result<Self, Error> {
        let process = Self { pid };
        process.cpu()?;
        Ok(process)
    }

    /// This process.
    #[must_use]
    pub fn own() -> Self {
        Self { pid: std::process::id() }
    }

    fn read(self, file: &str) -> Result<String, Error> {
        let read = std::fs::read_to_string(format!("/proc/{}/{file}", self.pid));
        read.map_err(|error| Error::Process { pid: self.pid, why: error.to_string() })
    }

    /// The CPU time of all its threads, those that ended included.
    pub fn cpu(self) -> Result<Duration, Error> {
        let wrong = || Error::Process { pid: self.pid, why: "its stat file is not understood".into() };
        Ok(duration(cpu_ticks(&self.read("stat")?).ok_or_else(wrong)?))
    }

    /// The CPU time of the threads that it has now and whose names `is_meant` accepts.
    pub fn cpu_of(self, is_meant: impl Fn(&str) -> bool) -> Result<Duration, Error> {
        let failed = |error: std::io::Error| Error::Process { pid: self.pid, why: error.to_string() };
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.pid)).map_err(failed)?;
        // A thread may end before its file is read.
        let stats =
            threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
        let meant = stats.filter(|stat| name(stat).is_some_and(&is_meant));
        Ok(duration(meant.filter_map(|stat| cpu_ticks(&stat)).sum()))
    }

    /// The memory that it has in use, in bytes.
    pub fn memory(self) -> Result<u64, Error> {
        let status = self.read("status")?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        let wrong = || Error::Process { pid: self.pid, why: "it has no memory in use".into() };
        kib.and_then(|kib| kib.trim().parse::<u64>().ok()).map(|kib| kib << 10).ok_or_else(wrong)
    }
}

/// The name in a line of a `stat` file, which may hold anything.
fn name(stat: &str) -> Option<&str> {
    stat.get(stat.find('(')? + 1..stat.rfind(')')?)
}

fn duration(ticks: u64) -> Duration {
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The ticks in user and in kernel mode, from the line of `/proc/PID/stat`. The name before them may hold
/// anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(11);
    let mut field = || fields.next()?.parse::<u64>().ok();
    Some(field()? + field()?)
}

/// Lets this process open `files` files, as far as the system allows.
pub(super) fn allow_files(files: u64) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum.map_or(Some(files), |most| Some(files.min(most))).max(limit.current);
    // A limit that stays as it is shows as connections that cannot be opened.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_accounted_for() {
        let own = Process::new(std::process::id()).unwrap();
        let mut sum = 0u64;
        // Threads of other tests come and go: the process counts those that have ended as well.
        while own.cpu_of(|_| true).unwrap() < Duration::from_millis(20) {
            sum = (0..100_000u64).fold(sum, |sum, value| std::hint::black_box(sum ^ value));
        }
        let (threads, all) = (own.cpu_of(|_| true).unwrap(), own.cpu().unwrap());
        assert!(!threads.is_zero() && threads <= all, "{threads:?} of {all:?}");
        assert!(own.cpu_of(|name| name == "a name that no thread has").unwrap().is_zero());
        assert!(own.memory().unwrap() > 1 << 20);
        assert!(Process::new(u32::MAX).is_err());
    }

    #[test]
    fn a_name_with_brackets_is_skipped() {
        let stat = "12 (a ) (b) 1 2) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20";
        assert_eq!((cpu_ticks(stat), name(stat)), (Some(42), Some("a ) (b) 1 2")));
        assert_eq!(cpu_ticks("12 (a) S 1"), None);
    }
}
