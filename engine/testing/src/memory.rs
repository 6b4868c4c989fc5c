//! Memory that runs out.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Leaves this process `bytes` bytes of memory beyond what it has mapped now, until it ends.
///
/// A test that calls this is alone in its process.
///
/// # Panics
/// If the system does not say how much memory the process has, or sets no limit.
pub fn leave(bytes: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells the size of a process");
    let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number of pages");
    let current = Some(pages * rustix::param::page_size() as u64 + bytes);
    setrlimit(Resource::As, Rlimit { current, ..getrlimit(Resource::As) }).expect("a lower limit");
}
