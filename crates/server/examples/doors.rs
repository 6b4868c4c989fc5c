//! Serves the doors with tokens from memory, for tries with real clients: `doors ADDRESS`. With `doors bench SECONDS` it
//! measures the bulk endpoint and transit batches over loopback.

use axum::Router;
use bytes::Bytes;
use modmill::Engine;
use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
use modmill_server::batch::Batcher;
use modmill_server::client::{BulkClient, Trust};
use modmill_server::credential::Right;
use modmill_server::privacy_pass::{IssuerSettings, issuer};
use modmill_server::records::{Kinds, Records, Sealer};
use modmill_server::secret::SecretBytes;
use modmill_server::service::Service;
use modmill_server::settings::Settings;
use modmill_server::store::MemoryStore;
use modmill_server::transit::TransitRing;
use modmill_server::{bulk, credentials, privacy_pass, transit};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn start() -> Result<(Arc<Service>, Router, String), Failure> {
    let kinds = privacy_pass::kinds(transit::kinds(credentials::kinds(Kinds::default())));
    let sealer = Sealer::new(&SecretBytes::random(32)?)?;
    let records = Records::open(Arc::new(MemoryStore::default()), sealer, kinds).await?;
    let rights = [Right::Transit, Right::Bulk, Right::Issue].into();
    let new = credentials::create(&records, "try", rights, 0).await?;
    let service = Arc::new(Service::new(Settings::default(), records, Batcher::new(Engine::new()?)));
    issuer::create(&service.records, service.batcher.engine(), &service.clock, None).await?;
    let ring = Arc::new(TransitRing::new(Arc::clone(&service)));
    let router = Router::new()
        .merge(transit::router(Arc::clone(&service)))
        .merge(bulk::router(Arc::clone(&service), vec![ring]))
        .merge(privacy_pass::router(Arc::clone(&service), IssuerSettings::default()));
    Ok((service, router, new.token.to_string()))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (_service, router, token) = start().await?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["bench", seconds] => bench(router, &token, Duration::from_secs(seconds.parse()?)).await,
        [address] => {
            println!("{token}");
            axum::serve(TcpListener::bind(address).await?, router).await?;
            Ok(())
        }
        _ => Err("doors ADDRESS, or doors bench SECONDS".into()),
    }
}

/// Sends a request of the transit interface over HTTP/1.1 and reads the answer.
async fn transit_call(
    sender: &mut hyper::client::conn::http1::SendRequest<http_body_util::Full<Bytes>>,
    token: &str,
    path: &str,
    body: Bytes,
) -> Result<Bytes, Failure> {
    use http_body_util::BodyExt;
    let request = http::Request::post(path)
        .header("host", "localhost")
        .header("x-vault-token", token)
        .body(http_body_util::Full::new(body))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    if status.is_success() { Ok(body) } else { Err(format!("{status}: {body:?}").into()) }
}

async fn bench(router: Router, token: &str, time: Duration) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { serve(listener, router).await });
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

    let engine = Engine::new()?;
    let key = PrivateKey::generate(&engine, 2048, Sizes::Standard)?;
    let count = if engine.cuda().is_some() { 131_072 } else { 1000 };
    let digests: Vec<[u8; 32]> = (0..count).map(|item: usize| [item.to_le_bytes()[0]; 32]).collect();
    let (mut rounds, start) = (0, Instant::now());
    while start.elapsed() < time || rounds < 2 {
        Rsa::new(&engine).sign_digests_rows(&key, scheme, &digests)?;
        rounds += 1;
    }
    println!(
        "library, {count} a call: {:.0} signatures/s",
        (rounds * count) as f64 / start.elapsed().as_secs_f64()
    );
    drop(engine);

    let tcp = tokio::net::TcpStream::connect(address).await?;
    tcp.set_nodelay(true)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(tcp)).await?;
    tokio::spawn(connection);
    transit_call(&mut sender, token, "/v1/transit/keys/k", r#"{"type":"rsa-2048"}"#.into()).await?;
    let items = vec![r#"{"input":"aGVsbG8gd29ybGQgdGhpcyBpcyBhIG1lc3NhZ2U="}"#; 1000].join(",");
    let body = Bytes::from(format!(r#"{{"signature_algorithm":"pkcs1v15","batch_input":[{items}]}}"#));
    let (mut rounds, start) = (0, Instant::now());
    while start.elapsed() < time {
        transit_call(&mut sender, token, "/v1/transit/sign/k", body.clone()).await?;
        rounds += 1;
    }
    println!(
        "transit, batches of 1000: {:.0} signatures/s",
        f64::from(rounds * 1000) / start.elapsed().as_secs_f64()
    );

    for streams in [1, 4, 8] {
        let (start, mut tasks) = (Instant::now(), tokio::task::JoinSet::new());
        for _ in 0..streams {
            let client = BulkClient::connect(&format!("http://{address}"), token, &Trust::System).await?;
            tasks.spawn(async move {
                use futures_util::StreamExt;
                let piece = Bytes::from(vec![7; 32 * 8192]);
                let pieces = futures_util::stream::repeat(piece);
                let mut answers = client.sign_stream("transit/k", scheme, pieces).await?;
                let mut count = 0;
                while let Some(answer) = answers.next().await {
                    count += answer?.len();
                    // What is still on its way is not waited for.
                    if start.elapsed() > time {
                        break;
                    }
                }
                Ok::<_, Failure>(count)
            });
        }
        let mut count = 0;
        while let Some(done) = tasks.join_next().await {
            count += done??;
        }
        println!("bulk, {streams} streams: {:.0} signatures/s", count as f64 / start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Serves HTTP/1.1 and HTTP/2 with windows that fit the bulk endpoint.
async fn serve(listener: TcpListener, router: Router) {
    let mut builder = hyper_util::server::conn::auto::Builder::new(hyper_util::rt::TokioExecutor::new());
    builder
        .http2()
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(16 << 20)
        .max_frame_size(1 << 20)
        .max_send_buf_size(8 << 20);
    let builder = Arc::new(builder);
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (builder, router) = (Arc::clone(&builder), router.clone());
        tokio::spawn(async move {
            let service = hyper_util::service::TowerToHyperService::new(router);
            let _ = builder.serve_connection(hyper_util::rt::TokioIo::new(stream), service).await;
        });
    }
}
