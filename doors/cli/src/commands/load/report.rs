//! The results of `modmill load`: written to files, and judged for the exit status.

use crate::bench_header::bench_header;
use crate::failure::Failure;
use modmill_load::{Growth, Idle, Point, Stretch};
use modmill_measure::record::Header;
use modmill_measure::report::{LoadPoint, load_picture};
use serde::Serialize;
use std::time::Duration;

/// The results of one way to load a server.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Results {
    Points(Vec<Point>),
    Soak { stretches: Vec<Stretch>, growth: Option<Growth> },
    Idle(Idle),
}

/// The results, with the machine and the command.
#[derive(Serialize)]
pub(super) struct Report {
    header: Header,
    title: String,
    #[serde(flatten)]
    results: Results,
}

impl Report {
    pub(super) fn new(title: String, duration: Duration, seed: u64, results: Results) -> Self {
        Self { header: bench_header(duration, seed, None), title, results }
    }

    pub(super) fn to_json(&self) -> Result<String, Failure> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|error| Failure::Usage(error.to_string()))
    }

    /// Latency against the offered load.
    pub(super) fn picture(&self) -> String {
        let Results::Points(points) = &self.results else { return load_picture(&self.title, &[]) };
        let drawn = |point: &Point| {
            let latency = &point.latency_ms;
            Some(LoadPoint {
                offered_per_s: point.offered_per_s?,
                achieved_per_s: point.achieved_per_s,
                latency_ms: [latency.p50, latency.p99, latency.p999],
            })
        };
        load_picture(&self.title, &points.iter().filter_map(drawn).collect::<Vec<_>>())
    }

    /// Fails if signatures were wrong, nothing was answered, or memory grew.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        let (wrong, growth) = match &self.results {
            Results::Points(points) => {
                if let Some(silent) = points.iter().find(|point| point.achieved_per_s <= 0.0) {
                    return Err(Failure::Items(format!("no request was answered: {}", silent.failures)));
                }
                (points.iter().map(|point| point.wrong).sum::<u64>(), None)
            }
            Results::Soak { stretches, growth } => {
                (stretches.iter().map(|stretch| stretch.wrong).sum(), *growth)
            }
            Results::Idle(idle) if idle.failures.count() > 0 => {
                return Err(Failure::Items(format!("connections failed: {}", idle.failures)));
            }
            Results::Idle(_) => (0, None),
        };
        if wrong > 0 {
            return Err(Failure::Items(format!("{wrong} signatures were wrong")));
        }
        match growth.filter(Growth::is_exceeded) {
            None => Ok(()),
            Some(Growth { early, late, most }) => Err(Failure::Items(format!(
                "the server's memory grew from {early} to {late} bytes; {most} are allowed"
            ))),
        }
    }
}
