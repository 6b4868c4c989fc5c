//! A long run at one rate, with an eye on the server's memory.

use crate::error::{Error, Failures};
use crate::point::Milliseconds;
use crate::process::Process;
use crate::session::Session;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory that may always be added, because allocators take it in pieces.
const ALWAYS_ALLOWED: u64 = 8 << 20;

/// A long run.
#[derive(Debug, Clone)]
pub struct Soak {
    /// Requests a second.
    pub rate: f64,
    /// How long.
    pub duration: Duration,
    /// The time between two reports.
    pub every: Duration,
    /// By how much the memory may grow, as a part of what it was.
    pub bound: f64,
}

/// What happened between two reports.
#[derive(Debug, Clone, Serialize)]
pub struct Stretch {
    /// The time since the start, in seconds.
    pub at_s: f64,
    /// The server's memory in use at the end, in bytes.
    pub memory: u64,
    /// Requests answered in a second.
    pub achieved_per_s: f64,
    /// Latencies.
    pub latency_ms: Milliseconds,
    /// Requests without an answer, by kind.
    pub failures: Failures,
    /// Signatures verified.
    pub verified: u64,
    /// Signatures that were wrong.
    pub wrong: u64,
}

impl std::fmt::Display for Stretch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at_s, memory, achieved_per_s, latency_ms, failures, wrong, .. } = self;
        let (mib, p50, p99) = (*memory as f64 / 1048576.0, latency_ms.p50, latency_ms.p99);
        write!(
            f,
            "{at_s:>6.0} s  {mib:>8.1} MiB  {achieved_per_s:>9.1}/s  p50 {p50:>8.3} ms  p99 {p99:>8.3} ms  \
             wrong {wrong}  errors {failures}"
        )
    }
}

/// How the memory grew.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    /// The most in the first fifth of the run, in bytes: caches fill, and every thread has worked.
    pub early: u64,
    /// The most in the last fifth of the run, in bytes.
    pub late: u64,
    /// The most that the last fifth may have, in bytes.
    pub most: u64,
}

impl Growth {
    /// How the memory grew; `None` for fewer than five stretches.
    #[must_use]
    pub fn of(stretches: &[Stretch], bound: f64) -> Option<Self> {
        let fifth = stretches.len() / 5;
        let most = |part: &[Stretch]| part.iter().map(|stretch| stretch.memory).max();
        let early = most(&stretches[..fifth])?;
        let late = most(&stretches[stretches.len() - fifth..])?;
        Some(Self { early, late, most: early + (early as f64 * bound) as u64 + ALWAYS_ALLOWED })
    }

    /// Whether the memory grew beyond its bound.
    #[must_use]
    pub fn is_exceeded(&self) -> bool {
        self.late > self.most
    }
}

impl Soak {
    /// Runs, and tells `done` of each stretch.
    pub async fn run(
        &self,
        session: &Session,
        mut done: impl FnMut(&Stretch),
    ) -> Result<Vec<Stretch>, Error> {
        let process = session.settings().process;
        let process = process.ok_or_else(|| Error::Settings("a soak needs the server's process".into()))?;
        let running = session.start(Some(self.rate), session.settings().warm_up, self.duration).await?;
        let run = Arc::clone(&running.run);
        let Range { start, end } = running.measured.clone();
        let mut last = start;
        let mut stretches = Vec::new();
        tokio::time::sleep_until(start.into()).await;
        while last < end {
            let next = (last + self.every).min(end);
            tokio::time::sleep_until(next.into()).await;
            let stretch = self.stretch(session, process, run.take(), (start, last, next)).await?;
            last = next;
            done(&stretch);
            stretches.push(stretch);
        }
        running.finish().await?;
        Ok(stretches)
    }

    async fn stretch(
        &self,
        session: &Session,
        process: Process,
        tally: crate::tally::Tally,
        (start, from, to): (Instant, Instant, Instant),
    ) -> Result<Stretch, Error> {
        let memory = process.memory()?;
        Ok(Stretch {
            at_s: (to - start).as_secs_f64(),
            memory,
            achieved_per_s: tally.requests as f64 / (to - from).as_secs_f64(),
            latency_ms: Milliseconds::from(&tally.latency),
            failures: tally.failures,
            verified: tally.kept.len() as u64,
            wrong: session.wrong(tally.kept).await?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(memory: impl Iterator<Item = u64>) -> Vec<Stretch> {
        let stretch = |mib| Stretch {
            at_s: 0.0,
            memory: mib << 20,
            achieved_per_s: 0.0,
            latency_ms: Milliseconds::default(),
            failures: Failures::default(),
            verified: 0,
            wrong: 0,
        };
        memory.map(stretch).collect()
    }

    #[test]
    fn growth_is_judged_after_the_first_fifth() {
        let flat = Growth::of(&stretches((0..60).map(|at| 100 + at.min(6))), 0.05).unwrap();
        assert!(!flat.is_exceeded(), "{flat:?}");
        let growing = Growth::of(&stretches(100..160), 0.05).unwrap();
        assert!(growing.is_exceeded(), "{growing:?}");
        assert_eq!(Growth::of(&stretches(0..4), 0.1), None);
    }
}
