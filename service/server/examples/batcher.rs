//! Throughput and latency of the batcher against the number of callers, and what it adds to a bare signature.
//!
//! `cargo run --release -p modmill-server --example batcher -- [SECONDS [BITS]]`

use modmill::{Backend, Engine};
use modmill_rsa::{Hash, PrivateKey, PrivateTask, Rsa, SignatureScheme, Sizes};
use modmill_server::audit::{Audit, AuditSettings};
use modmill_server::batch::{BatchSettings, Batcher, Origin};
use modmill_server::clock::Clock;
use modmill_server::credentials::Principal;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().map_or(Ok(3.0), |text| text.parse())?;
    let bits: usize = arguments.next().map_or(Ok(2048), |text| text.parse())?;
    let engine = Arc::new(Engine::new()?);
    let key = Arc::new(PrivateKey::generate(&engine, bits, Sizes::AllowSmall)?);
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let digest = scheme.hash().digest(&[b"message"]);

    let cpu = Engine::builder().backend(Backend::Cpu).here().build()?;
    let mut times: Vec<f64> = Vec::new();
    let end = Instant::now() + Duration::from_secs_f64(seconds / 2.0);
    while Instant::now() < end {
        let start = Instant::now();
        Rsa::new(&cpu).sign_digests(&*key, scheme, &[digest])?;
        times.push(start.elapsed().as_secs_f64());
    }
    let bare = Percentiles::of(times);
    println!("bare signature, one thread     p10 {:7.3} ms  p50 {:7.3} ms", 1e3 * bare.p10, 1e3 * bare.p50);

    let folder = tempfile::tempdir()?;
    let audit = Arc::new(Audit::open(folder.path(), &AuditSettings::default(), Clock::default())?);
    let batcher = Arc::new(Batcher::start(engine, BatchSettings::default(), Some(audit), Arc::default())?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let principal =
        Arc::new(Principal { name: "load".into(), access_key_id: "AK".into(), rights: [].into() });
    for callers in [1_usize, 8, 64, 512] {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let cpu_before = cpu_seconds();
        let tasks: Vec<_> = (0..callers)
            .map(|_| {
                let (batcher, key, principal) =
                    (Arc::clone(&batcher), Arc::clone(&key), Arc::clone(&principal));
                runtime.spawn(async move {
                    let (mut times, mut refused) = (Vec::new(), 0_u64);
                    while Instant::now() < end {
                        let origin = Origin {
                            principal: Arc::clone(&principal),
                            door: "example",
                            operation: "Sign",
                            key_id: "key".into(),
                            request_id: "request".into(),
                            deadline: Instant::now() + Duration::from_secs(5),
                        };
                        let start = Instant::now();
                        match batcher
                            .private(origin, Arc::clone(&key), PrivateTask::Sign { scheme, digest })
                            .await
                        {
                            Ok(_) => times.push(start.elapsed().as_secs_f64()),
                            Err(_) => refused += 1,
                        }
                    }
                    (times, refused)
                })
            })
            .collect();
        let (mut times, mut refused) = (Vec::new(), 0);
        for task in tasks {
            let (of_task, refused_of_task) = runtime.block_on(task)?;
            times.extend(of_task);
            refused += refused_of_task;
        }
        let cpu = 1e6 * (cpu_seconds() - cpu_before) / times.len().max(1) as f64;
        let (rate, Percentiles { p10, p50, p99, p999 }) =
            (times.len() as f64 / seconds, Percentiles::of(times));
        let [p10, p50, p99, p999] = [p10, p50, p99, p999].map(|seconds| 1e3 * seconds);
        println!("{callers:4} callers  {rate:8.0}/s  {cpu:5.0} us of CPU each  refused {refused}");
        println!("     p50 {p50:7.3} ms  p99 {p99:7.3} ms  p99.9 {p999:7.3} ms");
        if callers == 1 {
            // The fastest tenth is what other programs on the machine disturb least.
            println!("     the batcher adds {:.0} us to a lone call", 1e3 * (p10 - 1e3 * bare.p10));
        }
    }
    runtime.block_on(batcher.drain());
    Ok(())
}

/// Seconds that all threads of this process have computed so far, or 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time, in hundredths of a second.
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

struct Percentiles {
    p10: f64,
    p50: f64,
    p99: f64,
    p999: f64,
}

impl Percentiles {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| times.get((q * times.len() as f64) as usize).copied().unwrap_or(f64::NAN);
        Self { p10: at(0.1), p50: at(0.5), p99: at(0.99), p999: at(0.999) }
    }
}
