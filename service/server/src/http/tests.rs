use super::*;
use crate::metrics::Metrics;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// Longer than a busy machine takes for a request.
const LONG: Duration = Duration::from_secs(300);

const LIMITS: HttpLimits = HttpLimits {
    connections: 100,
    connections_per_address: 3,
    header_timeout: LONG,
    idle_timeout: LONG,
    header_bytes: 8192,
    headers: 20,
    streams: 10,
    write_timeout: LONG,
    drain: LONG,
};

struct Server {
    address: std::net::SocketAddr,
    stop: watch::Sender<bool>,
    ended: tokio::task::JoinHandle<bool>,
    metrics: Arc<Metrics>,
    /// Told when a request for `/slow` has arrived.
    slow_begun: Arc<Notify>,
}

async fn server(limits: HttpLimits, tls: Option<Arc<Tls>>) -> Server {
    let slow_begun = Arc::new(Notify::new());
    let begun = Arc::clone(&slow_begun);
    let slow = async move || {
        begun.notify_one();
        tokio::time::sleep(Duration::from_millis(400)).await;
        "slow"
    };
    let echo = |body: String| async move { body };
    let router = Router::new().route("/fast", get(|| async { "fast" })).route("/slow", get(slow));
    let router = router.route("/echo", post(echo)).route("/bulk/echo", post(echo));
    let metrics = Arc::new(Metrics::default());
    let layers = Layers {
        body_bytes: 1000,
        batch_body_bytes: 2000,
        timeout: LONG,
        metrics: Arc::clone(&metrics),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, (stop, stopped)) = (listener.local_addr().unwrap(), watch::channel(false));
    let doors = layered(router, layers);
    let ended = tokio::spawn(listen(listener, tls, doors, limits, Arc::clone(&metrics), stopped));
    Server { address, stop, ended, metrics, slow_begun }
}

/// Sends bytes and reads until the server closes the connection.
async fn exchange(address: std::net::SocketAddr, octets: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(octets.as_bytes()).await.unwrap();
    read(&mut stream).await
}

async fn read(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(LONG, stream.read_to_end(&mut answer))
        .await
        .expect("it closes");
    String::from_utf8_lossy(&answer).into_owned()
}

fn request(start: &str, headers: &str, body: &str) -> String {
    format!("{start} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n{body}")
}

#[tokio::test]
async fn requests_are_answered_within_limits() {
    let server = server(LIMITS, None).await;
    let ask = |text: String| exchange(server.address, Box::leak(text.into_boxed_str()));
    assert!(ask(request("GET /fast", "", "")).await.ends_with("fast"));
    let long = "a".repeat(1500);
    let length = format!("content-length: {}\r\n", long.len());
    assert!(ask(request("POST /echo", &length, &long)).await.starts_with("HTTP/1.1 413"));
    assert!(
        ask(request("POST /bulk/echo", &length, &long)).await.ends_with(&long),
        "streams have limits of their own"
    );
    let chunked = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    for length in ["", "content-length: 5\r\n"] {
        let headers = [length, "transfer-encoding: chunked\r\n"].concat();
        let answer = ask(request("POST /echo", &headers, &chunked)).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let many = "x: y\r\n".repeat(30);
    assert!(ask(request("GET /fast", &many, "")).await.starts_with("HTTP/1.1 431"));
    let huge = format!("x: {}\r\n", "y".repeat(20_000));
    let answer = ask(request("GET /fast", &huge, "")).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert!(ask("garbage\r\n\r\n".into()).await.starts_with("HTTP/1.1 400"));
    assert!(server.metrics.text().contains(r#"modmill_http_requests_total{door="other",status="200"} 1"#));
}

#[tokio::test]
async fn slow_and_idle_connections_are_closed() {
    let strict = HttpLimits { header_timeout: Duration::from_millis(300), ..LIMITS };
    let slow = server(strict, None).await;
    let start = Instant::now();
    let answer = exchange(slow.address, "GET /fast HTTP/1.1\r\nhost: ").await;
    assert!(!answer.contains("fast"), "{answer}");
    assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());

    // The idle time counts from the start of a connection too: the request has to be there by then.
    let five = Duration::from_secs(5);
    let strict = HttpLimits { header_timeout: five, idle_timeout: five, ..LIMITS };
    let idle = server(strict, None).await;
    let start = Instant::now();
    let answer = exchange(idle.address, "GET /fast HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(answer.ends_with("fast"), "{answer}");
    assert!(start.elapsed() >= Duration::from_secs(4), "{:?}", start.elapsed());
}

#[tokio::test]
async fn connections_of_one_address_are_limited() {
    let server = server(LIMITS, None).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(TcpStream::connect(server.address).await.unwrap());
    }
    // Connections are accepted in the order in which they were made.
    let mut refused = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(read(&mut refused).await, "");
    assert!(server.metrics.text().contains(r#"modmill_connections_refused_total{reason="address"} 1"#));
    drop(open);
    let request = request("GET /fast", "", "");
    while !exchange(server.address, &request).await.ends_with("fast") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_drain_answers_what_is_under_way() {
    let server = server(LIMITS, None).await;
    let address = server.address;
    let slow = tokio::spawn(async move { exchange(address, "GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await });
    server.slow_begun.notified().await;
    server.stop.send(true).unwrap();
    assert!(server.ended.await.unwrap(), "all ended in time");
    assert!(slow.await.unwrap().ends_with("slow"));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn http_2_is_spoken_by_those_who_know_beforehand() {
    let server = server(LIMITS, None).await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (executor, io) = (hyper_util::rt::TokioExecutor::new(), hyper_util::rt::TokioIo::new(stream));
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::get("http://x/fast").body(String::new()).unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.version()), (200, http::Version::HTTP_2));
}

#[tokio::test]
async fn tls_is_spoken_with_a_certificate_for_development() {
    use rustls::pki_types::pem::PemObject;
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles::development(folder.path(), None).unwrap();
    let made = std::fs::read(&files.key).unwrap();
    TlsFiles::development(folder.path(), None).unwrap();
    assert_eq!(std::fs::read(&files.key).unwrap(), made, "it is made once");
    let tls = Arc::new(Tls::load(files.clone()).unwrap());
    let server = server(LIMITS, Some(Arc::clone(&tls))).await;
    let connect = || async {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(rustls::pki_types::CertificateDer::from_pem_file(&files.certificate).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let mut client = client.with_root_certificates(roots).with_no_client_auth();
        client.alpn_protocols = vec![b"h2".to_vec()];
        let stream = TcpStream::connect(server.address).await.unwrap();
        let name = "localhost".try_into().unwrap();
        tokio_rustls::TlsConnector::from(Arc::new(client)).connect(name, stream).await
    };
    let stream = connect().await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));

    // A new certificate instead of the old one is used after a reload.
    std::fs::remove_file(&files.key).unwrap();
    TlsFiles::development(folder.path(), None).unwrap();
    assert!(connect().await.is_err(), "the server still has the old one");
    tls.reload().unwrap();
    connect().await.unwrap();
    std::fs::write(&files.key, "nothing").unwrap();
    assert!(tls.reload().is_err());
    connect().await.unwrap();
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Asks `count` times for `/fast` on one connection of HTTP/2 with a window of `window` bytes, then only
/// answers pings. Returns when the server closes the connection, with the number of answers that began.
async fn take_nothing(address: std::net::SocketAddr, count: u32, window: u32) -> usize {
    const [DATA, HEADERS, SETTINGS, PING]: [u8; 4] = [0, 1, 4, 6];
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut octets = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    octets.extend(frame(SETTINGS, 0, 0, &[&[0, 4][..], &window.to_be_bytes()].concat()));
    // GET, http, and two headers with their text: the path and the host.
    let head = [&[0x82, 0x86, 0x04, 5][..], b"/fast", &[0x01, 1], b"x"].concat();
    (0..count).for_each(|number| octets.extend(frame(HEADERS, 5, 2 * number + 1, &head)));
    stream.write_all(&octets).await.unwrap();
    let mut answers = 0;
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).await.is_err() {
            return answers;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        if stream.read_exact(&mut payload).await.is_err() {
            return answers;
        }
        let answer = match (head[3], head[4]) {
            (SETTINGS, 0) => frame(SETTINGS, 1, 0, &[]),
            (PING, 0) => frame(PING, 1, 0, &payload),
            (HEADERS, _) => {
                answers += 1;
                continue;
            }
            (DATA, _) => {
                assert!(length <= window, "{length}");
                continue;
            }
            _ => continue,
        };
        // The server may have closed the connection.
        let _ = stream.write_all(&answer).await;
    }
}

#[tokio::test]
async fn clients_that_do_not_take_their_answers_are_cut_off() {
    let limit = Duration::from_secs(2);
    let limits = HttpLimits { write_timeout: limit, streams: 256, connections_per_address: 100, ..LIMITS };
    let server = server(limits, None).await;
    let address = server.address;
    let start = Instant::now();
    let mut hostile = tokio::task::JoinSet::new();
    for number in 0..20 {
        // A window of one byte is as good as none.
        hostile.spawn(take_nothing(address, 256, number % 2));
    }
    let mut honest = 0;
    while !hostile.is_empty() {
        // Others are answered meanwhile.
        assert!(exchange(address, &request("GET /fast", "", "")).await.ends_with("fast"));
        honest += 1;
        while let Some(answers) = hostile.try_join_next() {
            assert!((1..=32).contains(&answers.unwrap()), "few requests of a stranger are served at a time");
            assert!(start.elapsed() >= limit);
        }
        assert!(start.elapsed() < LONG, "{} connections are still open", hostile.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(honest > 10, "{honest}");
}

#[tokio::test]
async fn answers_of_all_lengths_are_whole() {
    // Parts of an answer have 64 KiB at most, and the last part on HTTP/2 has one byte.
    let sizes = get(async |axum::extract::Path(size): axum::extract::Path<usize>| vec![b'a'; size]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, (_stop, stopped)) = (listener.local_addr().unwrap(), watch::channel(false));
    let router = Router::new().route("/{size}", sizes);
    tokio::spawn(listen(listener, None, router, LIMITS, Arc::default(), stopped));
    let stream = TcpStream::connect(address).await.unwrap();
    let (executor, io) = (hyper_util::rt::TokioExecutor::new(), hyper_util::rt::TokioIo::new(stream));
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    tokio::spawn(connection);
    for size in [0, 1, 2, 1000, (64 << 10) + 1, (128 << 10) + 1, 1 << 20] {
        let request = http::Request::get(format!("http://x/{size}")).body(String::new()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.headers()["content-length"], size.to_string());
        let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
        assert_eq!(body.len(), size);
        let answer = exchange(address, &format!("GET /{size} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"));
        assert_eq!(answer.await.matches('a').count() - "date: ".matches('a').count(), size, "{size}");
    }
}
