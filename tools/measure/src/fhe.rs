//! Measurements of homomorphic encryption: what each operation of a scheme takes, checked by decryption.

pub mod gentry_halevi;
pub mod lwe;

use crate::record::{Header, json_lines};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The result of one operation.
#[derive(Debug, Clone, Serialize)]
pub struct FheRecord {
    /// Always `fhe`.
    pub kind: &'static str,
    /// `gentry-halevi` or `lwe`.
    pub scheme: &'static str,
    /// The parameters.
    pub setting: String,
    /// The bits of a ciphertext, or the columns of a matrix.
    pub size: usize,
    /// The operation.
    pub op: &'static str,
    /// `cpu` or `cuda`.
    pub backend: &'static str,
    /// Items of a call.
    pub batch: usize,
    /// Worker threads.
    pub threads: usize,
    /// Milliseconds for each item in the best call.
    pub ms_each: f64,
    /// Milliseconds for each item in the median call.
    pub median_ms_each: f64,
    /// Milliseconds for each item in kernels; GPUs only.
    pub kernel_ms_each: Option<f64>,
    /// Whether the answers were right.
    pub verified: bool,
}

/// The header and all records as one JSON array, one record per line.
pub fn to_json(header: &Header, records: &[FheRecord]) -> Result<String, serde_json::Error> {
    json_lines(header, records)
}

/// The columns of [`line()`].
#[must_use]
pub fn header() -> String {
    columns([
        "operation",
        "setting",
        "backend",
        "batch",
        "threads",
        "ms each",
        "median",
        "in kernels",
        "verified",
    ])
}

/// A record as a line for people.
#[must_use]
pub fn line(record: &FheRecord) -> String {
    columns([
        record.op,
        &record.setting,
        record.backend,
        &record.batch.to_string(),
        &record.threads.to_string(),
        &milliseconds(record.ms_each),
        &milliseconds(record.median_ms_each),
        &record.kernel_ms_each.map_or_else(|| "-".to_owned(), milliseconds),
        if record.verified { "yes" } else { "NO" },
    ])
}

fn milliseconds(value: f64) -> String {
    match value {
        0.0..1.0 => format!("{value:.4}"),
        1.0..100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Names on the left and numbers on the right of their columns.
fn columns([op, setting, backend, batch, threads, best, median, kernels, verified]: [&str; 9]) -> String {
    format!(
        "{op:<24} {setting:<8} {backend:<7} {batch:>5} {threads:>7} {best:>9} {median:>9} {kernels:>10} {verified:>8}\n"
    )
}

/// Seconds of the best and of the median call, and of kernels in the best call; at least one call, and calls
/// until `time` is up. `kernels` tells the seconds in kernels so far. Returns the answer of the last call,
/// too.
fn timed<T, E>(
    time: Duration,
    kernels: impl Fn() -> f64,
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<([f64; 3], T), E> {
    let start = Instant::now();
    let mut calls = Vec::new();
    loop {
        let (call, before) = (Instant::now(), kernels());
        let answer = work()?;
        calls.push((call.elapsed().as_secs_f64(), kernels() - before));
        if start.elapsed() >= time {
            calls.sort_by(|a, b| a.0.total_cmp(&b.0));
            return Ok(([calls[0].0, calls[calls.len() / 2].0, calls[0].1], answer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_below_their_header() {
        let record = FheRecord {
            kind: "fhe",
            scheme: "gentry-halevi",
            setting: "small".to_owned(),
            size: 784_963,
            op: "encrypt dense, cached",
            backend: "cuda",
            batch: 256,
            threads: 16,
            ms_each: 0.012_34,
            median_ms_each: 12.3,
            kernel_ms_each: None,
            verified: true,
        };
        let line = line(&record);
        assert!(line.ends_with("   0.0123     12.30          -      yes\n"), "{line}");
        assert_eq!(line.len(), header().len());
    }
}
