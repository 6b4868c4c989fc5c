//! Counters, gauges and histograms for Prometheus.

use super::{BackendName, Operation};
use parking_lot::RwLock;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    door: &'static str,
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DoorLabels {
    door: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    door: &'static str,
    status: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BatchLabels {
    backend: &'static str,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

type Histograms<Labels> = Family<Labels, Histogram, fn() -> Histogram>;

/// Latencies from 100 microseconds to 13 seconds.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(1e-4, 2.0, 18))
}

/// Batches of 1 to 65536 items.
fn sizes() -> Histogram {
    Histogram::new(exponential_buckets(1.0, 2.0, 17))
}

/// Figures that are noted together, by their labels. There are few labels, and a request looks for its own
/// once: to hash them for every figure takes more time than to compare them.
struct Together<Labels, Figures>(RwLock<Vec<(Labels, Figures)>>);

impl<Labels, Figures> Default for Together<Labels, Figures> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<Labels: PartialEq, Figures> Together<Labels, Figures> {
    /// Notes something in the figures of `labels`. `make` finds them the first time.
    fn note(&self, labels: Labels, make: impl FnOnce(&Labels) -> Figures, note: impl FnOnce(&Figures)) {
        let known = self.0.read();
        if let Some((_, figures)) = known.iter().find(|(known, _)| *known == labels) {
            return note(figures);
        }
        drop(known);
        let figures = make(&labels);
        note(&figures);
        let mut known = self.0.write();
        if known.iter().all(|(known, _)| *known != labels) {
            known.push((labels, figures));
        }
    }
}

/// All figures that Prometheus reads.
pub(super) struct Registered {
    registry: Registry,
    operations: Family<OperationLabels, Counter>,
    items: Family<OperationLabels, Counter>,
    operation_seconds: Histograms<DoorLabels>,
    of_operation: Together<OperationLabels, (Counter, Counter, Histogram)>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histograms<DoorLabels>,
    of_request: Together<RequestLabels, (Counter, Histogram)>,
    batch_items: Histograms<BatchLabels>,
    batch_seconds: Histograms<BatchLabels>,
    backend_items: Family<BatchLabels, Counter>,
    pub(super) queue_calls: Gauge,
    pub(super) queue_seconds: Gauge<f64, AtomicU64>,
    pub(super) faults: Counter,
    pub(super) limited: Counter,
    pub(super) refused_bodies: Counter,
    lost_lines: Counter,
    pub(super) connections: Gauge,
    pub(super) accepted: Counter,
    refused_connections: Family<ReasonLabels, Counter>,
}

impl Default for Registered {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("modmill");
        let this = Self {
            registry: Registry::default(),
            operations: Family::default(),
            items: Family::default(),
            operation_seconds: Family::new_with_constructor(seconds),
            of_operation: Together::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds),
            of_request: Together::default(),
            batch_items: Family::new_with_constructor(sizes),
            batch_seconds: Family::new_with_constructor(seconds),
            backend_items: Family::default(),
            queue_calls: Gauge::default(),
            queue_seconds: Gauge::default(),
            faults: Counter::default(),
            limited: Counter::default(),
            refused_bodies: Counter::default(),
            lost_lines: Counter::default(),
            connections: Gauge::default(),
            accepted: Counter::default(),
            refused_connections: Family::default(),
        };
        registry.register("build", "The program", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        registry.register(
            "operations",
            "Calls with a key, by door, operation and outcome",
            this.operations.clone(),
        );
        registry.register("items", "Items of these calls", this.items.clone());
        let text = "Time of calls with a key, from the call to the answer";
        registry.register_with_unit("operation", text, Unit::Seconds, this.operation_seconds.clone());
        registry.register("http_requests", "HTTP requests by door and status", this.requests.clone());
        let text = "Time of HTTP requests until their answer begins";
        registry.register_with_unit("http_request", text, Unit::Seconds, this.request_seconds.clone());
        registry.register("batch_items", "Items of a batch", this.batch_items.clone());
        registry.register_with_unit("batch", "Time of a batch", Unit::Seconds, this.batch_seconds.clone());
        registry.register("backend_items", "Items by who computed them", this.backend_items.clone());
        registry.register("queue_calls", "Calls that wait", this.queue_calls.clone());
        let text = "Work that waits, as the time that all workers together need for it";
        registry.register_with_unit("queue", text, Unit::Seconds, this.queue_seconds.clone());
        registry.register("faults", "Batches that failed on a device or an engine", this.faults.clone());
        registry.register("rate_limited", "Requests that came faster than allowed", this.limited.clone());
        let text = "Requests whose body found no room among those that are held, or came too slowly";
        registry.register("bodies_refused", text, this.refused_bodies.clone());
        let text = "Lines of the log that could not be written";
        registry.register("log_lines_lost", text, this.lost_lines.clone());
        registry.register("connections", "Connections that are open", this.connections.clone());
        registry.register("connections_accepted", "Connections that were opened", this.accepted.clone());
        let text = "Connections that were refused, by reason";
        registry.register("connections_refused", text, this.refused_connections.clone());
        Self { registry, ..this }
    }
}

impl Registered {
    pub(super) fn operation(&self, done: &Operation) {
        let Operation { door, operation, items, outcome, seconds, .. } = done;
        let find = |labels: &OperationLabels| {
            let (calls, items) = (self.operations.get_or_create(labels), self.items.get_or_create(labels));
            (calls.clone(), items.clone(), self.operation_seconds.get_or_create(&DoorLabels { door }).clone())
        };
        let labels = OperationLabels { door, operation, outcome: outcome.name() };
        self.of_operation.note(labels, find, |(calls, all, time)| {
            calls.inc();
            all.inc_by(*items as u64);
            time.observe(*seconds);
        });
    }

    pub(super) fn batch(&self, backend: BackendName, is_private: bool, items: usize, seconds: f64) {
        let kind = if is_private { "private" } else { "public" };
        let labels = BatchLabels { backend: backend.name(), kind };
        self.batch_items.get_or_create(&labels).observe(items as f64);
        self.batch_seconds.get_or_create(&labels).observe(seconds);
        self.backend_items.get_or_create(&labels).inc_by(items as u64);
    }

    pub(super) fn request(&self, door: &'static str, status: u16, seconds: f64) {
        let find = |labels: &RequestLabels| {
            let time = self.request_seconds.get_or_create(&DoorLabels { door });
            (self.requests.get_or_create(labels).clone(), time.clone())
        };
        self.of_request.note(RequestLabels { door, status: status.into() }, find, |(requests, time)| {
            requests.inc();
            time.observe(seconds);
        });
    }

    pub(super) fn refused_connection(&self, reason: &'static str) {
        self.refused_connections.get_or_create(&ReasonLabels { reason }).inc();
    }

    pub(super) fn text(&self) -> String {
        self.lost_lines.inner().store(crate::log::lost(), Ordering::Relaxed);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Metrics, Outcome};
    use super::*;

    #[test]
    fn figures_are_in_the_text() {
        let metrics = std::sync::Arc::new(Metrics::default());
        let (door, operation, key_id) = ("kms", "Sign", "key".into());
        metrics.operation(&Operation {
            door,
            operation,
            key_id,
            items: 3,
            outcome: Outcome::Answered,
            seconds: 0.001,
        });
        metrics.batch(BackendName::Cpu, true, 3, 0.001);
        metrics.request("kms", 200, false, 0.002);
        metrics.queue(5, 0.25);
        metrics.refused_connection("full");
        let connection = metrics.connection();
        let text = metrics.text();
        for line in [
            r#"modmill_operations_total{door="kms",operation="Sign",outcome="answered"} 1"#,
            r#"modmill_items_total{door="kms",operation="Sign",outcome="answered"} 3"#,
            r#"modmill_operation_seconds_count{door="kms"} 1"#,
            r#"modmill_http_requests_total{door="kms",status="200"} 1"#,
            r#"modmill_batch_items_sum{backend="cpu",kind="private"} 3.0"#,
            r#"modmill_backend_items_total{backend="cpu",kind="private"} 3"#,
            "modmill_queue_calls 5",
            "modmill_queue_seconds 0.25",
            "modmill_connections 1",
            r#"modmill_connections_refused_total{reason="full"} 1"#,
            "modmill_build_info{version=",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        drop(connection);
        assert!(metrics.text().contains("modmill_connections 0"));
    }
}
