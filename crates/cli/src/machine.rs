//! What this machine and this build are.

use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// Version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The machine a program runs on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) architecture: &'static str,
    pub(crate) os: &'static str,
    /// Instruction sets that matter for big integers, as the processor reports them.
    pub(crate) instruction_sets: Vec<&'static str>,
}

/// How the program was built.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Build {
    pub(crate) version: &'static str,
    pub(crate) commit: &'static str,
    pub(crate) rustc: &'static str,
    pub(crate) profile: &'static str,
    pub(crate) target: &'static str,
}

impl Machine {
    pub(crate) fn detect() -> Self {
        Self {
            cpu: cpu_model(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            architecture: std::env::consts::ARCH,
            os: std::env::consts::OS,
            instruction_sets: instruction_sets(),
        }
    }
}

impl Build {
    pub(crate) fn this() -> Self {
        Self {
            version: VERSION,
            commit: env!("MODMILL_BUILD_COMMIT"),
            rustc: env!("MODMILL_BUILD_RUSTC"),
            profile: env!("MODMILL_BUILD_PROFILE"),
            target: env!("MODMILL_BUILD_TARGET"),
        }
    }
}

/// The processor's name where the system tells it.
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

/// The time now, as `2026-01-31T12:00:00Z`.
pub(crate) fn now() -> String {
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
