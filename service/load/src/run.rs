//! One run: workers send requests at a pace, and count what comes.

use crate::arrivals::Arrivals;
use crate::connection::{Connection, Shared};
use crate::door::Door;
use crate::error::Error;
use crate::pace::{Pace, Queue};
use crate::point::{Milliseconds, Point};
use crate::process::Process;
use crate::session::{Session, Settings};
use crate::tally::{Signature, Tally};
use crate::verify;
use fastrand::Rng;
use modmill_server::histogram::Histogram;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

/// The name of requests that were given up.
const TIMED_OUT: &str = "timeout";
/// The name of requests for which no connection became free before the end.
const NOT_SENT: &str = "not sent";
/// The time for connections to be opened before the first request is due.
const OPENING: Duration = Duration::from_millis(200);

/// Whether a thread of the server computes: threads of engines have a number as their name, and those that
/// hand batches to GPUs say so.
fn computes(name: &str) -> bool {
    let own = name.strip_prefix("modmill-");
    own.is_some_and(|own| own.starts_with(|first: char| first.is_ascii_digit()) || own.starts_with("batch"))
}

/// How old a request may be when it is sent. Its signature has a date.
const FRESH: Duration = Duration::from_secs(30);

/// The state that the workers of a run share.
pub(super) struct Run {
    door: Arc<dyn Door>,
    pace: Pace,
    timeout: Duration,
    pub(super) tally: Mutex<Tally>,
}

impl Run {
    /// Takes what was counted since the last time.
    pub(super) fn take(&self) -> Tally {
        let mut tally = self.tally.lock();
        let renewed = tally.renewed();
        std::mem::replace(&mut *tally, renewed)
    }
}

/// A run under way.
pub(super) struct Running {
    pub(super) run: Arc<Run>,
    workers: JoinSet<Result<(), Error>>,
    late: Option<tokio::task::JoinHandle<Histogram>>,
    /// The time that is measured.
    pub(super) measured: Range<Instant>,
}

impl Session {
    /// Asks at `rate` requests a second, or again after each answer, and measures.
    pub async fn measure(&self, rate: Option<f64>) -> Result<Point, Error> {
        let settings = &self.settings;
        let running = self.start(rate, settings.warm_up, settings.duration).await?;
        let Range { start: from, end: to } = running.measured.clone();
        let (before, own_before) = (at(from, settings.process).await?, at(from, Some(Process::own())).await?);
        let (after, own_after) = (at(to, settings.process).await?, at(to, Some(Process::own())).await?);
        let server_memory = settings.process.map(Process::memory).transpose()?;
        let run = Arc::clone(&running.run);
        let late = running.finish().await?;
        let tally = run.take();
        let seconds = settings.duration.as_secs_f64();
        let spent = |before: Option<Duration>, after: Option<Duration>| {
            Some(after?.saturating_sub(before?).as_secs_f64())
        };
        let mut point = Point {
            offered_per_s: rate,
            achieved_per_s: tally.requests as f64 / seconds,
            items_per_s: tally.items as f64 / seconds,
            latency_ms: Milliseconds::from(&tally.latency),
            seconds,
            concurrency: workers(settings),
            server_cpu_s: spent(before.all, after.all),
            door_cpu_s: spent(before.door(), after.door()),
            server_memory,
            own_cpu_s: spent(own_before.all, own_after.all).unwrap_or(0.0),
            own_late_p99_ms: late.quantile(0.99).as_secs_f64() * 1e3,
            verified: tally.kept.len() as u64,
            ..Point::default()
        };
        point.failures = tally.failures;
        point.wrong = self.wrong(tally.kept).await?;
        Ok(point)
    }

    /// Verifies the signatures that were kept, and returns how many are wrong.
    pub(super) async fn wrong(&self, kept: Vec<Signature>) -> Result<u64, Error> {
        let (door, scheme) = (Arc::clone(&self.door), self.settings.padding.scheme());
        let verified = tokio::task::spawn_blocking(move || verify::wrong(door.public_keys(), scheme, &kept));
        verified.await.map_err(|error| Error::Verify(error.to_string()))?
    }

    /// Opens connections, and starts a run of `warm_up` and then `duration`.
    pub(super) async fn start(
        &self,
        rate: Option<f64>,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<Running, Error> {
        let settings = &self.settings;
        let mut connections = self.connections().await?;
        let start = Instant::now() + OPENING;
        let end = start + warm_up + duration;
        let pace = match rate {
            None => Pace::Closed(end),
            Some(_) => Pace::Open(Queue::new()),
        };
        let tally = Tally::new(start + warm_up..end, settings.verify_every);
        let run =
            Run { door: Arc::clone(&self.door), pace, timeout: settings.timeout, tally: Mutex::new(tally) };
        let run = Arc::new(run);
        let mut workers = JoinSet::new();
        let count = connections.len();
        for (index, connection) in connections.drain(..).enumerate() {
            let random = Rng::with_seed(settings.seed ^ ((index as u64 + 1) << 32));
            workers.spawn(work(Arc::clone(&run), connection, random));
        }
        let late = rate.map(|rate| {
            let (run, arrivals) = (Arc::clone(&run), Arrivals::new(settings.spread, rate, settings.seed));
            tokio::task::spawn_blocking(move || match &run.pace {
                Pace::Open(queue) => queue.fill(arrivals, start, end - start, count),
                Pace::Closed(_) => Histogram::new(),
            })
        });
        Ok(Running { run, workers, late, measured: start + warm_up..end })
    }

    /// Connections for all workers, open.
    async fn connections(&self) -> Result<Vec<Connection>, Error> {
        let settings = &self.settings;
        crate::process::allow_files(settings.connections as u64 + 64);
        let mut connections = Vec::with_capacity(workers(settings));
        for _ in 0..settings.connections {
            let shared = self.endpoint.is_http2().then(Shared::default);
            for _ in 0..workers(settings) / settings.connections {
                let mut connection = Connection::new(Arc::clone(&self.endpoint), shared.clone());
                let failed = |error: std::io::Error| Error::Endpoint(format!("{:?}: {error}", self.endpoint));
                connection.open().await.map_err(failed)?;
                connections.push(connection);
            }
        }
        Ok(connections)
    }
}

/// Requests that can be under way at the same time.
fn workers(settings: &Settings) -> usize {
    settings.connections * if settings.endpoint.is_http2() { settings.streams } else { 1 }
}

/// The CPU time of a process.
#[derive(Default)]
struct Spent {
    all: Option<Duration>,
    /// The time that its threads that compute batches have spent.
    computing: Option<Duration>,
}

impl Spent {
    /// The time that other threads have spent, if there are some that compute.
    fn door(&self) -> Option<Duration> {
        Some(self.all?.saturating_sub(self.computing.filter(|computing| !computing.is_zero())?))
    }
}

/// The CPU time of a process at a time.
async fn at(time: Instant, process: Option<Process>) -> Result<Spent, Error> {
    sleep_until(time.into()).await;
    let Some(process) = process else { return Ok(Spent::default()) };
    Ok(Spent { all: Some(process.cpu()?), computing: Some(process.cpu_of(computes)?) })
}

impl Running {
    /// Waits for the answers of all requests, but no longer than a request may take.
    pub(super) async fn finish(mut self) -> Result<Histogram, Error> {
        let failed = |error: tokio::task::JoinError| Error::Settings(format!("a worker failed: {error}"));
        let all = async {
            while let Some(ended) = self.workers.join_next().await {
                ended.map_err(failed)??;
            }
            Ok::<(), Error>(())
        };
        let deadline = self.measured.end + self.run.timeout;
        tokio::pin!(all);
        match tokio::time::timeout_at(deadline.into(), &mut all).await {
            Ok(ended) => ended?,
            Err(_) => {
                if let Pace::Open(queue) = &self.run.pace {
                    let left = queue.abandon();
                    let mut tally = self.run.tally.lock();
                    tally.failures.add(NOT_SENT, left.len() as u64);
                }
                all.await?;
            }
        }
        match self.late {
            Some(late) => late.await.map_err(failed),
            None => Ok(Histogram::new()),
        }
    }
}

/// Sends one request after the other on a connection.
async fn work(run: Arc<Run>, mut connection: Connection, mut random: Rng) -> Result<(), Error> {
    // The next request is ready before it is due, but not so long before that the server finds it too old.
    let (mut asked, mut made) = (run.door.ask(&mut random)?, Instant::now());
    while let Some(intended) = run.pace.next().await {
        if made.elapsed() > FRESH {
            asked = run.door.ask(&mut random)?;
        }
        let request = std::mem::take(&mut asked.request);
        let outcome = match timeout(run.timeout, connection.send(request)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                connection.give_up();
                Err(TIMED_OUT)
            }
        };
        let done = Instant::now();
        let next = run.door.ask(&mut random)?;
        let mut tally = run.tally.lock();
        tally.count(&*run.door, &asked, (intended, done), &outcome);
        drop(tally);
        (asked, made) = (next, done);
    }
    Ok(())
}
