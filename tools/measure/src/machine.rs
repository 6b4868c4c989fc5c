//! Descriptions of the machine and of the program's build.

use serde::Serialize;
use std::time::SystemTime;

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
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_second() {
        let now = now();
        assert!(now.len() == 20 && now.ends_with('Z'), "{now}");
    }

    #[test]
    fn the_machine_is_described() {
        let machine = Machine::detect();
        assert!(machine.cores > 0 && !machine.cpu.is_empty());
    }
}
