//! Accepting connections and serving requests on them.

use super::activity::{Activity, UnderWay};
use super::addresses::Addresses;
use super::answer::Answer;
use super::answering::Answering;
use super::limits::HttpLimits;
use super::peer::Peer;
use super::tls::Tls;
use super::trouble::Trouble;
use crate::metrics::Metrics;
use crate::shares::Shares;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a connection that was told to end has to do so.
const CLOSING: Duration = Duration::from_secs(2);

/// The window of a stream of HTTP/2 and of a connection: bytes that a client may send before they are read.
const STREAM_WINDOW: u32 = 1 << 18;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// The memory for heads of requests that connections send side by side before one of their requests was
/// authenticated. Each address has a share of it.
const HEADS: usize = 64 << 20;

/// Serves `doors` on connections to `listener` until `stop` says true. Then no more connections are
/// accepted, requests under way are answered, and connections are closed. Returns whether all of them ended
/// in time.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    doors: impl Answering,
    limits: HttpLimits,
    metrics: Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) -> bool {
    let (addresses, heads) = (Arc::new(Addresses::default()), Shares::new(HEADS));
    let mut trouble = Trouble::default();
    let (builder, doors) = (Arc::new(builder(&limits)), Arc::new(doors));
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
                        trouble.wait(&error).await;
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
                let (builder, doors, limits) = (Arc::clone(&builder), Arc::clone(&doors), Arc::clone(&limits));
                let (metrics, stop) = (Arc::clone(&metrics), for_connections.clone());
                let asking = Arc::new(Asking { doors, peer: Peer::new(peer.ip()), heads: Arc::clone(&heads) });
                connections.spawn(async move {
                    let _counted = counted;
                    match acceptor {
                        None => serve(stream, &builder, asking, &limits, &metrics, stop).await,
                        Some(acceptor) => match timeout(limits.header_timeout, acceptor.accept(stream)).await {
                            Ok(Ok(stream)) => serve(stream, &builder, asking, &limits, &metrics, stop).await,
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
    // Heads of HTTP/1.1 that do not come are seen by the connection's activity.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
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

/// The values that the requests of one connection share.
struct Asking<A> {
    doors: Arc<A>,
    peer: Peer,
    heads: Arc<Shares<IpAddr>>,
}

impl<A: Answering> Asking<A> {
    /// Answers a request. `most` is the most lines of its head.
    async fn answer(&self, mut request: Request<Incoming>, under_way: &UnderWay, most: usize) -> Response {
        // HTTP/1.1 counts lines while it reads them.
        if request.headers().len() > most {
            return (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too many headers\n").into_response();
        }
        // A lone request takes the memory that every connection may have.
        let head = match under_way.is_alone() || self.peer.is_proven() {
            true => None,
            false => match self.heads.take(self.peer.address(), size(&request)) {
                None => return (StatusCode::SERVICE_UNAVAILABLE, "too many requests\n").into_response(),
                head => head,
            },
        };
        under_way.admit(&self.peer).await;
        request.extensions_mut().insert(self.peer.clone());
        let answer = self.doors.answer(request.map(axum::body::Body::new)).await;
        drop(head);
        answer
    }
}

/// The memory of a request's head.
fn size(request: &Request<Incoming>) -> usize {
    // Memory of a line in addition to its text.
    const LINE: usize = 128;
    let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + LINE);
    lines.sum::<usize>() + request.uri().path().len() + LINE
}

/// Serves one connection.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    builder: &Builder<TokioExecutor>,
    asking: Arc<Asking<impl Answering>>,
    limits: &HttpLimits,
    metrics: &Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) {
    let _open = metrics.connection();
    let activity = Activity::new();
    let service = hyper::service::service_fn({
        let (activity, headers) = (Arc::clone(&activity), limits.headers);
        move |request: Request<Incoming>| {
            let (asking, under_way) = (Arc::clone(&asking), UnderWay::new(&activity));
            async move {
                let version = request.version();
                let answer = asking.answer(request, &under_way, headers).await;
                Ok::<_, Infallible>(answer.map(|body| Answer::new(body, version, under_way)))
            }
        }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // Looked at when something happened to it, and not each time that the connection goes on.
    let mut end: FuturesUnordered<_> = std::iter::once(async {
        tokio::select! {
            () = told(&mut stop) => {}
            () = activity.overdue(limits) => {}
        }
    })
    .collect();
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => Some(ended),
        _ = end.next() => None,
    };
    drop(end);
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        // A drain waits for requests under way; other connections have none, or a client that does not read.
        let patience = if *stop.borrow() { limits.drain } else { CLOSING };
        let _ = timeout(patience, connection).await;
    }
}
