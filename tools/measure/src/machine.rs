//! Descriptions of the machine and of the program's build.

use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine that the program runs on.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// The model of the processor.
    pub cpu: String,
    /// Cores that the program may use.
    pub cores: usize,
    /// The architecture, such as `x86_64`.
    pub architecture: &'static str,
    /// The operating system.
    pub os: &'static str,
    /// The instruction sets for big integers that the processor reports.
    pub instruction_sets: Vec<&'static str>,
}

/// The build of the program.
#[derive(Debug, Clone, Serialize)]
pub struct Build {
    /// The version of the program.
    pub version: &'static str,
    /// The commit that it was built from, or `unknown`.
    pub commit: &'static str,
    /// The version of the compiler.
    pub rustc: &'static str,
    /// The profile, with its optimisation level.
    pub profile: &'static str,
    /// The target triple.
    pub target: &'static str,
}

impl Machine {
    /// Describes this machine.
    #[must_use]
    pub fn detect() -> Self {
        Self {
            cpu: cpu_model(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            architecture: std::env::consts::ARCH,
            os: std::env::consts::OS,
            instruction_sets: instruction_sets(),
        }
    }
}

/// The model of the processor, if the system reports it.
fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name") || line.starts_with("Model"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| format!("unknown {} processor", std::env::consts::ARCH))
}

#[cfg(target_arch = "x86_64")]
fn instruction_sets() -> Vec<&'static str> {
    let mut found = Vec::new();
    macro_rules! look_for {
        ($($name:tt),+) => { $(if std::arch::is_x86_feature_detected!($name) { found.push($name); })+ };
    }
    look_for!("bmi2", "adx", "avx2", "fma", "avx512f", "avx512vl", "avx512ifma");
    found
}

#[cfg(not(target_arch = "x86_64"))]
fn instruction_sets() -> Vec<&'static str> {
    Vec::new()
}

/// The current time, such as `2026-01-31T12:00:00Z`.
#[must_use]
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    format_time(seconds)
}

/// Seconds since 1970 as a UTC date (H. Hinnant, "chrono-compatible low-level date algorithms").
fn format_time(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(format_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(format_time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(format_time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(format_time(1_767_225_599), "2025-12-31T23:59:59Z");
    }

    #[test]
    fn the_machine_is_described() {
        let machine = Machine::detect();
        assert!(machine.cores > 0 && !machine.cpu.is_empty());
    }
}
