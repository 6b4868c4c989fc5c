//! Accepting connections and serving requests on them.

use super::addresses::Addresses;
use super::tls::Tls;
use crate::metrics::Metrics;
use axum::Router;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

/// Limits of connections. They hold before anybody is authenticated.
#[derive(Debug, Clone)]
pub struct HttpLimits {
    /// Connections that are open at the same time.
    pub connections: usize,
    /// Connections from one address, or from one IPv6 network of 64 bits.
    pub connections_per_address: usize,
    /// The time within which the first request of a connection arrives.
    pub header_timeout: Duration,
    /// The time after which a connection without requests is closed.
    pub idle_timeout: Duration,
    /// The most octets of a request's headers.
    pub header_bytes: usize,
    /// The most lines of a request's headers.
    pub headers: usize,
    /// Requests under way on one connection of HTTP/2.
    pub streams: u32,
    /// The time that requests under way have to end.
    pub drain: Duration,
}

/// How long a connection that was told to end has to do so.
const CLOSING: Duration = Duration::from_secs(2);

/// The window of a stream of HTTP/2 and of a connection: octets that a client may send before they are read.
const STREAM_WINDOW: u32 = 1 << 18;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Serves `router` on connections to `listener` until `stop` says true. Then no more connections are accepted, requests under
/// way are answered, and connections are closed. Returns whether all of them ended in time.
pub async fn listen(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    router: Router,
    limits: HttpLimits,
    metrics: Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) -> bool {
    let addresses = Arc::new(Addresses::default());
    let builder = Arc::new(builder(&limits));
    let limits = Arc::new(limits);
    let mut connections = JoinSet::new();
    let for_connections = stop.clone();
    loop {
        tokio::select! {
            biased;
            () = told(&mut stop) => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let (stream, peer) = match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        // Files may have run out: connections that end give some back.
                        sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                };
                let most = (limits.connections, limits.connections_per_address);
                let counted = match addresses.enter(peer.ip(), most.0, most.1) {
                    Ok(counted) => counted,
                    Err(reason) => {
                        metrics.refused_connection(reason);
                        continue;
                    }
                };
                let _ = stream.set_nodelay(true);
                let acceptor = tls.as_ref().map(|tls| tls.acceptor());
                let (builder, router, limits) = (Arc::clone(&builder), router.clone(), Arc::clone(&limits));
                let (metrics, stop) = (Arc::clone(&metrics), for_connections.clone());
                connections.spawn(async move {
                    let _counted = counted;
                    match acceptor {
                        None => serve(stream, &builder, router, &limits, &metrics, stop).await,
                        Some(acceptor) => match timeout(limits.header_timeout, acceptor.accept(stream)).await {
                            Ok(Ok(stream)) => serve(stream, &builder, router, &limits, &metrics, stop).await,
                            _ => metrics.refused_connection("tls"),
                        },
                    }
                });
            }
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    timeout(limits.drain, all).await.is_ok()
}

/// Returns when the service is told to stop, or whoever could tell is gone.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn builder(limits: &HttpLimits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // The timeout of HTTP/1.1 counts from the answer before, so that it is the one of connections without requests.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_timeout)
        .max_headers(limits.headers)
        .max_buf_size(limits.header_bytes.max(8192))
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(1 << 18)
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(100)
        .keep_alive_interval(limits.idle_timeout / 2)
        .keep_alive_timeout(limits.header_timeout);
    builder
}

/// What goes on on a connection.
struct Activity {
    under_way: AtomicUsize,
    has_asked: AtomicBool,
    last: Mutex<Instant>,
}

/// A request under way.
struct UnderWay(Arc<Activity>);

impl UnderWay {
    fn new(activity: &Arc<Activity>) -> Self {
        activity.under_way.fetch_add(1, Ordering::AcqRel);
        activity.has_asked.store(true, Ordering::Release);
        Self(Arc::clone(activity))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Activity {
    fn new() -> Arc<Self> {
        let last = Mutex::new(Instant::now());
        Arc::new(Self { under_way: AtomicUsize::new(0), has_asked: AtomicBool::new(false), last })
    }

    /// Returns when nothing was asked in time.
    async fn idle(&self, limits: &HttpLimits) {
        sleep(limits.header_timeout).await;
        while self.has_asked.load(Ordering::Acquire) {
            let since = self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
            let left = match self.under_way.load(Ordering::Acquire) {
                0 => limits.idle_timeout.saturating_sub(since),
                _ => limits.idle_timeout,
            };
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}

/// Serves one connection.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    builder: &Builder<TokioExecutor>,
    router: Router,
    limits: &HttpLimits,
    metrics: &Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) {
    let _open = metrics.connection();
    let activity = Activity::new();
    let service = hyper::service::service_fn({
        let activity = Arc::clone(&activity);
        move |request: hyper::Request<Incoming>| {
            let (mut router, under_way) = (router.clone(), UnderWay::new(&activity));
            async move {
                let answer = router.call(request.map(axum::body::Body::new)).await;
                let answer = answer.unwrap_or_else(|never: Infallible| match never {});
                Ok::<_, Infallible>(answer.map(|body| Held { body, _under_way: under_way }))
            }
        }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = told(&mut stop) => None,
        () = activity.idle(limits) => None,
    };
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        // A drain waits for requests under way; an idle connection has none.
        let patience = if *stop.borrow() { limits.drain } else { CLOSING };
        let _ = timeout(patience, connection).await;
    }
}

/// The body of an answer. Until it has been sent, its request is under way.
struct Held {
    body: axum::body::Body,
    _under_way: UnderWay,
}

impl Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
