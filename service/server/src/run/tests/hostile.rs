//! Honest clients are answered while others hold what all share.

use super::*;
use crate::credentials::NewCredential;
use crate::sigv4::Signer;
use http::Request;
use sha2::Digest as _;

/// Bytes of a KMS request at most, and of a batch.
const KMS_BODY: usize = 256 << 10;
const BATCH_BODY: usize = 4 << 20;
/// Memory that all bodies may take together: four batches.
const ALL_BODIES: usize = 4 * BATCH_BODY;
/// Honest requests for each figure.
const REQUESTS: usize = 40;

async fn start(folder: &std::path::Path) -> Running {
    let mut config = config(folder);
    config.limits.batch_body_bytes = BATCH_BODY;
    config.limits.all_bodies_bytes = ALL_BODIES;
    Running::start(&config).await.unwrap()
}

async fn credential(running: &Running, name: &str) -> NewCredential {
    let service = &running.service;
    let rights = [Right::Bulk, Right::Kms, Right::Transit].into();
    credentials::create(&service.records, name, rights, service.clock.now_ms()).await.unwrap()
}

fn address(running: &Running) -> &str {
    running.url.strip_prefix("http://").unwrap()
}

/// The head of a request to hash something, with a body of `length` bytes.
fn hash_head(token: &str, length: usize) -> String {
    let path = "POST /v1/transit/hash/sha2-256 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    format!("{path}x-vault-token: {token}\r\ncontent-length: {length}\r\n\r\n")
}

fn hash(body: &[u8]) -> String {
    crate::hex::encode(&sha2::Sha256::digest(body))
}

/// The head of a KMS request with a body. `is_hashed` says whether it names the body's hash.
fn kms_head(running: &Running, credential: &NewCredential, body: &[u8], is_hashed: bool) -> String {
    let secret = SecretBytes::new(credential.secret_access_key.as_bytes().to_vec().into());
    let signer = Signer::new(&credential.access_key_id, secret, "us-east-1", "kms");
    let mut request = Request::post("http://x/").header("host", "x");
    request = request.header("x-amz-target", "TrentService.ListKeys");
    if is_hashed {
        request = request.header("x-amz-content-sha256", hash(body));
    }
    let (mut parts, ()) = request.body(()).unwrap().into_parts();
    signer.sign(&mut parts, body, running.service.clock.now_ms() / 1000).unwrap();
    let lines = parts.headers.iter().map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()));
    let lines: String = lines.collect();
    format!("POST / HTTP/1.1\r\n{lines}connection: close\r\ncontent-length: {}\r\n\r\n", body.len())
}

/// Sends a request and returns its status.
async fn ask(running: &Running, head: &str, body: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address(running)).await.unwrap();
    stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(answer.get(9..12).unwrap_or_default()).parse().unwrap_or(0)
}

/// Sends a head and all of `sent`, and holds the connection without sending what is missing.
async fn hold(running: &Running, head: &str, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address(running)).await.unwrap();
    let octets = [head.as_bytes(), &vec![b' '; sent]].concat();
    // A service that refuses the body does not take all of it.
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.write_all(&octets)).await;
    stream
}

/// The experience of honest clients: requests that were refused, and the time that 99 of 100 took at most.
async fn honest(running: &Running, credential: &NewCredential) -> (usize, Duration) {
    let (mut refused, mut times) = (0, Vec::new());
    let long = format!(r#"{{"input":"{}"}}"#, "QUFB".repeat(BATCH_BODY / 16));
    for number in 0..REQUESTS {
        let start = Instant::now();
        let status = match number % 4 {
            0 => ask(running, &kms_head(running, credential, b"{}", false), b"{}").await,
            1 => ask(running, &kms_head(running, credential, b"{}", true), b"{}").await,
            2 => ask(running, &hash_head(&credential.token, 2), b"{}").await,
            _ => ask(running, &hash_head(&credential.token, long.len()), long.as_bytes()).await,
        };
        times.push(start.elapsed());
        refused += usize::from(status != 200);
    }
    times.sort_unstable();
    (refused, times[REQUESTS * 99 / 100])
}

/// Compares what honest clients meet during an attack with what they met before it.
async fn compare(running: &Running, honest_one: &NewCredential, before: Duration, attack: &str) {
    let (refused, during) = honest(running, honest_one).await;
    println!("{attack}: {refused} of {REQUESTS} refused, p99 {during:?} (before {before:?})");
    assert_eq!(refused, 0, "{attack}");
    // A busy machine is slower by chance: the limit is generous, and far from the seconds of a body that
    // waits.
    assert!(during < before + Duration::from_secs(2), "{attack}: {during:?}, before {before:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_one_client_shut_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path()).await;
    let (hostile, modest) = (credential(&running, "hostile").await, credential(&running, "modest").await);
    let (refused, before) = honest(&running, &modest).await;
    assert_eq!(refused, 0);
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(hold(&running, &hash_head(&hostile.token, BATCH_BODY), BATCH_BODY - 1).await);
        held.push(hold(&running, &hash_head(&hostile.token, 2), 1).await);
    }
    let taken = running.service.bodies.held();
    assert!((ALL_BODIES / 4..=ALL_BODIES / 2).contains(&taken), "{taken} octets are held");
    compare(&running, &modest, before, "a token, 8 long bodies and 8 short ones held").await;
    // Its own small requests are answered too.
    assert_eq!(ask(&running, &hash_head(&hostile.token, 2), b"{}").await, 200);
    drop(held);
    assert!(running.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_somebody_without_a_secret_shut_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path()).await;
    let (known, other) = (credential(&running, "known").await, credential(&running, "other").await);
    let (refused, before) = honest(&running, &known).await;
    assert_eq!(refused, 0);
    // The signature is of another body: that it is wrong shows when all of the body is there.
    let head = |length: usize| {
        let head = kms_head(&running, &known, b"{}", false);
        head.replace("content-length: 2\r\n", &format!("content-length: {length}\r\n"))
    };
    let mut held = Vec::new();
    for _ in 0..ALL_BODIES / KMS_BODY {
        held.push(hold(&running, &head(KMS_BODY), KMS_BODY - 1).await);
    }
    for _ in 0..20 {
        held.push(hold(&running, &head(2), 1).await);
    }
    let taken = running.service.bodies.held();
    assert!((ALL_BODIES / 4..=ALL_BODIES / 2).contains(&taken), "{taken} octets are held");
    // The address is that of all clients of this test, and the access key that of the first one.
    compare(&running, &known, before, "an access key's identifier, 64 long bodies and 20 short ones held")
        .await;
    let long = [b"{".as_slice(), &[b' '; 100_000], b"}"].concat();
    let status = ask(&running, &kms_head(&running, &other, &long, false), &long).await;
    assert_eq!(status, 200, "a long body of another access key");
    let status = ask(&running, &kms_head(&running, &known, &long, true), &long).await;
    assert_eq!(status, 200, "a long body whose head is proven");
    // A head that names its body's hash and has a wrong signature is refused before the body comes.
    let wrong = kms_head(&running, &other, &long, true).replace(&hash(&long), &hash(b"{}"));
    let mut refused = hold(&running, &wrong, 0).await;
    let mut answer = [0; 12];
    let read = tokio::time::timeout(Duration::from_secs(60), refused.read_exact(&mut answer)).await;
    assert!(read.is_ok() && answer.ends_with(b" 400"), "{answer:?}");
    drop(held);
    assert!(running.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "slow: .ci/run has it"]
async fn bodies_that_stand_still_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.deadline_ms = 300_000;
    let running = Running::start(&config).await.unwrap();
    let known = credential(&running, "known").await;
    let mut slow = hold(&running, &hash_head(&known.token, 2), 1).await;
    let mut answer = String::new();
    let read = tokio::time::timeout(Duration::from_secs(120), slow.read_to_string(&mut answer)).await;
    read.expect("it is not waited for").unwrap();
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("too slowly"), "{answer}");
    assert!(running.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bulk_requests_of_one_client_leave_places_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path()).await;
    let (hostile, modest) = (credential(&running, "hostile").await, credential(&running, "modest").await);
    let streams = &running.service.streams;
    let mut under_way: Vec<_> = std::iter::from_fn(|| streams.take("hostile".into(), 1)).collect();
    let bulk = async |token: &str| {
        let path = "POST /bulk/v1/sign?key=transit/none&scheme=pss-sha256 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
        let kind = "content-type: application/x-modmill-digests\r\ncontent-length: 0\r\n\r\n";
        ask(&running, &format!("{path}authorization: Bearer {token}\r\n{kind}"), b"").await
    };
    assert_eq!(bulk(&hostile.token).await, 429);
    // There is no such key, which is looked up when there is a place.
    assert_eq!(bulk(&modest.token).await, 404);
    under_way.pop();
    assert_eq!(bulk(&hostile.token).await, 404);
    assert_eq!(streams.held(), under_way.len(), "places are given back");
    drop(under_way);
    assert!(running.stop().await);
}
