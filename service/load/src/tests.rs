//! The load generator against a small server of its own.

mod stub;

use super::*;
use std::time::Duration;
use stub::{Behaviour, Stub};

// A busy machine makes every answer late, so these tests bound counts and the sides of times that delays
// cannot cross. The long timeout keeps late requests from becoming failures.
fn settings(stub: &Stub, interface: Interface) -> Settings {
    let text = |text: &str| Some(text.to_owned().into());
    let credentials = Credentials {
        access_key_id: Some("AKIA".into()),
        secret_access_key: text("secret"),
        token: text("token"),
    };
    let endpoint = Endpoint::new(&stub.url, false, None).unwrap();
    Settings {
        bits: 1024,
        connections: 4,
        timeout: Duration::from_secs(60),
        warm_up: Duration::from_millis(100),
        duration: Duration::from_millis(1000),
        spread: Spread::Uniform,
        ..Settings::new(endpoint, interface, credentials)
    }
}

async fn measure(settings: Settings, rate: Option<f64>) -> Point {
    let session = Session::open(settings).await.unwrap();
    let point = session.measure(rate).await.unwrap();
    session.close().await.unwrap();
    point
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_offered_rate_is_reached_and_signatures_are_verified() {
    let stub = Stub::start(Behaviour::default()).await;
    for http2 in [false, true] {
        let endpoint = Endpoint::new(&stub.url, http2, None).unwrap();
        let settings =
            Settings { endpoint, keys: 2, streams: 4, connections: 2, ..settings(&stub, Interface::Kms) };
        let point = measure(settings, Some(50.0)).await;
        assert!(point.achieved_per_s > 0.0 && point.achieved_per_s <= 55.0, "{point:?}");
        // A request each 20 ms for 1.1 s.
        assert!((54..=55).contains(&point.verified) && point.wrong == 0, "{point:?}");
        assert_eq!(point.failures.count(), 0, "{point:?}");
        assert_eq!(point.concurrency, if http2 { 8 } else { 2 });
    }
    assert_eq!(stub.seen("ScheduleKeyDeletion"), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_is_charged_to_every_request_that_should_have_started_in_it() {
    // One stall of 300 ms in a second: of 200 requests, those of 300 ms are late, and all but one of them
    // because the only connection was taken. A generator that waits for answers would see a single late
    // request.
    let behaviour = Behaviour { stall: Some((50, Duration::from_millis(300))), ..Behaviour::default() };
    let stub = Stub::start(behaviour).await;
    let settings = Settings { connections: 1, warm_up: Duration::ZERO, ..settings(&stub, Interface::Kms) };
    let point = measure(settings, Some(200.0)).await;
    assert!(point.latency_ms.max >= 300.0, "{point:?}");
    assert!(point.latency_ms.p90 >= 100.0, "{point:?}");
    assert!(point.verified >= 199 && point.failures.count() == 0, "{point:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_and_wrong_signatures_are_counted() {
    let behaviour = Behaviour { throttle_every: 4, wrong_every: 5, ..Behaviour::default() };
    let stub = Stub::start(behaviour).await;
    let point = measure(settings(&stub, Interface::Kms), Some(200.0)).await;
    let throttled = point.failures.of("ThrottlingException");
    assert!((40..=60).contains(&throttled) && point.failures.count() == throttled, "{point:?}");
    // The verified signatures include those of the warm-up. Of five signatures, one is wrong.
    let fifth = point.verified as f64 / 5.0;
    assert!((point.wrong as f64 - fifth).abs() <= 12.0, "{point:?}");
    assert!(point.achieved_per_s <= 165.0, "{point:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_hang_are_given_up_and_connections_replaced() {
    let behaviour = Behaviour { hang_every: 10, ..Behaviour::default() };
    let stub = Stub::start(behaviour).await;
    let settings =
        Settings { timeout: Duration::from_millis(400), connections: 16, ..settings(&stub, Interface::Kms) };
    let point = measure(settings, Some(50.0)).await;
    let timeouts = point.failures.of("timeout");
    let not_sent = point.failures.of("not sent");
    assert!(timeouts >= 4 && point.failures.count() == timeouts + not_sent, "{point:?}");
    assert!(point.verified > 0 && point.wrong == 0, "{point:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_the_server_can_do_shows() {
    // One connection and 10 ms for an answer: at most 100 requests a second.
    let behaviour = Behaviour { delay: Duration::from_millis(10), ..Behaviour::default() };
    let stub = Stub::start(behaviour).await;
    let limited =
        || Settings { connections: 1, timeout: Duration::from_secs(2), ..settings(&stub, Interface::Kms) };
    let (closed, open) = tokio::join!(measure(limited(), None), measure(limited(), Some(400.0)));
    assert!(closed.achieved_per_s > 0.0 && closed.achieved_per_s <= 100.0, "{closed:?}");
    assert!(open.achieved_per_s <= 100.0, "{open:?}");
    assert!(open.latency_ms.p50 >= 200.0 && open.failures.of("not sent") > 0, "{open:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_and_mixtures_are_asked_for() {
    let stub = Stub::start(Behaviour::default()).await;
    let mixture = "sign=1,verify=1,encrypt=1,decrypt=1".parse().unwrap();
    let point = measure(Settings { mixture, ..settings(&stub, Interface::Kms) }, Some(100.0)).await;
    assert!(point.failures.count() == 0 && point.wrong == 0, "{point:?}");
    assert!((5..=60).contains(&point.verified), "{point:?}");
    for operation in ["Sign", "Verify", "Encrypt", "Decrypt"] {
        assert!(stub.seen(operation) > 5, "{operation}");
    }
    for interface in [Interface::Transit, Interface::Bulk] {
        let settings = Settings { batch: 10, verify_every: 3, ..settings(&stub, interface) };
        let point = measure(settings, Some(20.0)).await;
        assert!(point.failures.count() == 0 && point.wrong == 0, "{interface}: {point:?}");
        assert!(point.items_per_s > 0.0 && point.items_per_s <= 240.0, "{interface}: {point:?}");
        assert!((55..=85).contains(&point.verified), "{interface}: {point:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweeps_soaks_and_idle_connections_are_reported() {
    let behaviour = Behaviour { delay: Duration::from_millis(10), ..Behaviour::default() };
    let stub = Stub::start(behaviour).await;
    let process = Some(Process::own());
    let quick = Settings { duration: Duration::from_millis(500), process, ..settings(&stub, Interface::Kms) };
    let session = Session::open(quick).await.unwrap();
    let mut seen = 0;
    let points = sweep(&session, &[0.5, 1.5], |_| seen += 1).await.unwrap();
    assert_eq!((points.len(), seen), (3, 3));
    assert!(points[1].offered_per_s < points[2].offered_per_s, "{points:?}");
    // The system counts CPU time in ticks: a short run may take none.
    assert!(points[0].server_cpu_s.is_some() && points[0].server_memory.unwrap() > 0);
    let counted = Point { seconds: 2.0, items_per_s: 30.0, server_cpu_s: Some(0.5), ..points[0].clone() };
    assert_eq!(counted.items_per_cpu_s(), Some(120.0));
    let soak = Soak {
        rate: 50.0,
        duration: Duration::from_millis(600),
        every: Duration::from_millis(100),
        bound: 0.5,
    };
    let stretches = soak.run(&session, |_| {}).await.unwrap();
    assert_eq!(stretches.len(), 6);
    assert!(stretches.iter().map(|stretch| stretch.verified).sum::<u64>() >= 20, "{stretches:?}");
    assert!(Growth::of(&stretches, 0.5).is_some());
    let endpoint = Endpoint::new(&stub.url, false, None).unwrap();
    let rest = Duration::from_millis(50);
    let idle = idle(&endpoint, Process::own(), (100, "/health"), rest, |_| {}).await.unwrap();
    assert_eq!((idle.opened, idle.open_at_end, idle.failures.count()), (100, 100, 0));
    assert!(idle.memory_open > 0);
}

#[tokio::test]
async fn a_run_says_what_is_missing() {
    let stub = Stub::start(Behaviour::default()).await;
    let none = Settings { credentials: Credentials::default(), ..settings(&stub, Interface::Transit) };
    assert!(Session::open(none).await.err().unwrap().to_string().contains("token"));
    let mixture = "decrypt".parse().unwrap();
    let mixed = Settings { mixture, ..settings(&stub, Interface::Bulk) };
    assert!(Session::open(mixed).await.err().unwrap().to_string().contains("kms"));
    let nobody = Endpoint::new("http://127.0.0.1:1", false, None).unwrap();
    let unreachable = Settings { endpoint: nobody, ..settings(&stub, Interface::Kms) };
    assert!(Session::open(unreachable).await.err().unwrap().to_string().contains("no connection"));
    let unknown = Settings { key_names: vec!["missing".into()], ..settings(&stub, Interface::Kms) };
    assert!(Session::open(unknown).await.err().unwrap().to_string().contains("NotFoundException"));
}
