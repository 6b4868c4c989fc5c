//! The result of one run.

use crate::error::Failures;
use modmill_server::histogram::Histogram;
use serde::Serialize;
use std::time::Duration;

/// Latencies from the intended start to the last byte of the answer, in milliseconds, of requests that were
/// answered.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Milliseconds {
    /// The mean.
    pub mean: f64,
    /// Half of the requests take no longer.
    pub p50: f64,
    /// 90 % of the requests take no longer.
    pub p90: f64,
    /// 99 % of the requests take no longer.
    pub p99: f64,
    /// 99.9 % of the requests take no longer.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl From<&Histogram> for Milliseconds {
    fn from(histogram: &Histogram) -> Self {
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let at = |quantile| ms(histogram.quantile(quantile));
        Self {
            mean: ms(histogram.mean()),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: ms(histogram.longest()),
        }
    }
}

/// The result of one run at one rate.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Point {
    /// Requests that were meant to start in a second; `None` if each connection asked again after each
    /// answer.
    pub offered_per_s: Option<f64>,
    /// Requests that were answered in a second.
    pub achieved_per_s: f64,
    /// Signatures, or other results, in a second.
    pub items_per_s: f64,
    /// Latencies.
    pub latency_ms: Milliseconds,
    /// Requests without an answer, by kind.
    pub failures: Failures,
    /// How long the run was measured, in seconds.
    pub seconds: f64,
    /// Requests that could be under way at the same time.
    pub concurrency: usize,
    /// CPU time of the server while it was measured, in seconds.
    pub server_cpu_s: Option<f64>,
    /// CPU time of the server's threads but those that compute batches, in seconds. `None` if it has no such
    /// threads.
    pub door_cpu_s: Option<f64>,
    /// Memory that the server had in use at the end, in bytes.
    pub server_memory: Option<u64>,
    /// CPU time of the load generator while the server was measured, in seconds.
    pub own_cpu_s: f64,
    /// How much later than intended 99 % of the requests became due, in milliseconds. A large figure says
    /// that the load generator did not keep up.
    pub own_late_p99_ms: f64,
    /// Signatures that were verified after the run.
    pub verified: u64,
    /// Signatures that were wrong.
    pub wrong: u64,
}

impl Point {
    /// Results for each second of the server's CPU time.
    #[must_use]
    pub fn items_per_cpu_s(&self) -> Option<f64> {
        let cpu_s = self.server_cpu_s.filter(|&cpu_s| cpu_s > 0.0)?;
        Some(self.items_per_s * self.seconds / cpu_s)
    }

    /// Microseconds of the server's CPU time for each answered request, but for the threads that compute.
    #[must_use]
    pub fn door_us(&self) -> Option<f64> {
        let answered = self.achieved_per_s * self.seconds;
        self.door_cpu_s.filter(|_| answered > 0.0).map(|cpu_s| 1e6 * cpu_s / answered)
    }
}

/// The heading of a table of points.
#[must_use]
pub fn table_header() -> String {
    format!(
        "{:>10} {:>10} {:>11} {:>9} {:>9} {:>9} {:>11} {:>8} {:>7}  errors",
        "offered/s",
        "achieved/s",
        "results/s",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "per CPU s",
        "door us",
        "wrong"
    )
}

/// A short number for a table.
fn number(value: f64) -> String {
    if value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A line of the table.
impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let wrong = match self.verified {
            0 => "-".to_owned(),
            _ => self.wrong.to_string(),
        };
        write!(
            f,
            "{:>10} {:>10} {:>11} {:>9.3} {:>9.3} {:>9.3} {:>11} {:>8} {wrong:>7}  {}",
            self.offered_per_s.map_or("closed".to_owned(), number),
            number(self.achieved_per_s),
            number(self.items_per_s),
            self.latency_ms.p50,
            self.latency_ms.p99,
            self.latency_ms.p999,
            self.items_per_cpu_s().map_or("-".to_owned(), number),
            self.door_us().map_or("-".to_owned(), number),
            self.failures,
        )
    }
}
