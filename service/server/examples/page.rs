//! The live page with figures that are made up, to look at it and to test it in a browser:
//! `cargo run --example page`.
//!
//! Prints its address with the user and the token. A number as an argument is how often figures
//! are answered; after that the server refuses to. The server ends after ten minutes.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use modmill_server::credentials::{Principal, Right};
use modmill_server::page::{Replica, Watched, router};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct MadeUp {
    start: Instant,
    /// Seconds that the service seems to have been up for at the start.
    before: u64,
}

/// A number from 0 to 1 that depends on `seed` alone.
fn noise(seed: u64) -> f64 {
    let mixed = (seed ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1u64 << 24) as f64
}

fn second(second: u64) -> Value {
    let wave = 1.0 + 0.35 * (second as f64 / 60.0).sin();
    let surge = if (second / 40) % 6 == 2 { 1.8 } else { 1.0 };
    let items = 9000.0 * wave * surge * (0.93 + 0.14 * noise(second));
    let load = items / 24_000.0;
    let p50 = 0.45 + 0.6 * load + 0.05 * noise(second + 1);
    let batch = 1.0 + 40.0 * load * load;
    let refused = if load > 0.92 { 60.0 * noise(second + 2) } else { 0.0 };
    let errors = if second.is_multiple_of(23) { json!({ "kms": 2, "transit": 1 }) } else { json!({}) };
    json!({
        "second": second, "operations": (items * 0.9) as u64, "items": items as u64, "refused": refused as u64,
        "p50_ms": p50, "p99_ms": p50 * (3.0 + 6.0 * load), "p999_ms": p50 * (5.0 + 18.0 * load * noise(second + 3)),
        "queue": (load * load * 220.0 * noise(second + 4)) as u64, "batches": (items / batch) as u64,
        "mean_batch": batch, "largest_batch": (batch * (2.0 + 2.0 * noise(second + 5))) as u64,
        "gpu_share": if surge > 1.0 { 0.6 } else { 0.1 }, "busy": 2.0 * load.min(1.0), "errors": errors,
    })
}

impl MadeUp {
    fn uptime(&self) -> u64 {
        self.before + self.start.elapsed().as_secs()
    }
}

impl Watched for MadeUp {
    type Snapshot = Value;

    fn snapshot(&self, after: Option<u64>) -> Value {
        let end = self.uptime();
        let first = after.map_or(0, |after| after.saturating_add(1)).max(end.saturating_sub(900));
        let keys = [
            "1234abcd-12ab-34cd-56ef-1234567890ab",
            "0c1f7e52-93b1-4d0a-8a57-5e2d1c9f6b30",
            "transit/orders:3",
        ];
        let mut keys: Vec<Value> = (1u64..)
            .zip(keys)
            .map(|(rank, key)| json!({ "key_id": key, "uses": 5_400_000 / (rank * rank) }))
            .collect();
        keys[0]["alias"] = "alias/tokens".into();
        json!({ "uptime": end, "seconds": (first..end).map(second).collect::<Vec<_>>(), "keys": keys })
    }

    fn principal(&self, token: &str) -> Option<Principal> {
        let rights = [Right::Watch].into();
        (token == "token").then(|| Principal { name: "watcher".into(), access_key_id: "A".into(), rights })
    }

    fn minute_ms(&self) -> [f64; 3] {
        [0.71, 4.42, 9.8]
    }

    fn is_draining(&self) -> bool {
        false
    }

    fn replicas(&self) -> Vec<Replica> {
        let replica = |name: &str, uptime| Replica { name: name.into(), version: "0.1.0".into(), uptime };
        vec![replica("signer-1", self.uptime()), replica("signer-2", 86_400 * 3 + 7_300)]
    }
}

/// Answers `left` requests for figures, and refuses the others.
async fn limited(left: Arc<AtomicU64>, request: Request, next: Next) -> Response {
    let is_figures = request.uri().path() == "/page/data";
    let take = |left: u64| left.checked_sub(1);
    if is_figures && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    next.run(request).await
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://watcher:token@{}/", listener.local_addr()?);
    let left = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(u64::MAX);
    let left = Arc::new(AtomicU64::new(left));
    let router = router(MadeUp { start: Instant::now(), before: 5_000 })
        .layer(from_fn(move |request, next| limited(Arc::clone(&left), request, next)));
    tokio::select! {
        served = async { axum::serve(listener, router).await } => served,
        () = tokio::time::sleep(Duration::from_secs(600)) => Ok(()),
    }
}
